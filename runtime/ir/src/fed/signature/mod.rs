//! The typing rules of the ops, shared by the builder and the verifier.

mod ops;
mod regions;

pub use ops::signature;

use super::{Place, Type};

/// The types of an op's operands and results, and those of its regions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// Types of the operands.
    pub operands: Vec<Type>,
    /// Types of the results.
    pub results: Vec<Type>,
    /// Its regions, in order.
    pub regions: Vec<RegionSignature>,
}

/// The types of a region, and the place where it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionSignature {
    /// Types of the arguments.
    pub args: Vec<Type>,
    /// Types of the yields.
    pub yields: Vec<Type>,
    /// Where the code runs.
    pub place: Place,
}
