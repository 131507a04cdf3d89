//! A program with what it reads, which is the same for all of its parts.

use super::broadcast::Broadcast;
use super::dims::Dims;
use super::extent::Extent;
use super::program::FusedProgram;

/// The place from which a block of a value is read, and to which a step writes it.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// One number for all elements of the block.
    Number,
    /// A register.
    Register(usize),
    /// An operand of all elements.
    Operand(&'a [f32]),
    /// The elements of an operand that this block uses.
    Part(&'a [f32]),
    /// An output. It may have the buffer of an operand, whose elements are there until the output is computed.
    Output(usize),
}

/// A program with its operands.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub program: &'a FusedProgram,
    pub operands: &'a [Source<'a>],
    pub broadcasts: &'a [Broadcast],
    pub dims: Dims,
    pub extent: Extent,
}
