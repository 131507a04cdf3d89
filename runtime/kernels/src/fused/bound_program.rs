//! A program with its operands, which all parts and threads of a run share.

use super::block_layout::BlockLayout;
use super::broadcast::Broadcast;
use super::dims::Dims;
use super::program::FusedProgram;

/// The storage of a value: steps that use the value read it there, and the step that computes it writes it there.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// The value is one number for all elements of the block.
    Scalar,
    /// The register with this number has the elements of the block.
    Register(usize),
    /// An operand with the full shape, which is read in place.
    Operand(&'a [f32]),
    /// A repeating operand, of which the block uses each of these elements once.
    Part(&'a [f32]),
    /// The output with this number. It may be in the buffer of an operand, whose elements it holds until the output is
    /// computed.
    Output(usize),
}

/// A program with its operands.
#[derive(Clone, Copy)]
pub(super) struct BoundProgram<'a> {
    pub program: &'a FusedProgram,
    /// The source of each operand: [`Source::Operand`], or [`Source::Output`] if an output takes its buffer.
    pub operands: &'a [Source<'a>],
    /// How each operand is broadcast.
    pub broadcasts: &'a [Broadcast],
    pub dims: Dims,
    pub layout: BlockLayout,
}
