//! The tensor dialect: straight-line SSA graphs over float and integer tensors.
//!
//! A [`Graph`] has typed inputs, nodes in execution order and outputs. Each node applies one
//! [`Op`] to earlier values and defines one result, or two for ops that also return indices. There is
//! no control flow: a graph computes one compute region of a fed program for one batch shape, for
//! example from parameters and a batch to updated parameters.
//!
//! Elementwise binary ops broadcast dimensions of size 1 between operands of equal rank; scalars
//! are tensors of one element whose rank is that of the other operand. Reductions keep the reduced
//! dimension with size 1.

mod attrs;
mod codecs;
mod equal;
mod family;
mod fused;
mod graph;
mod infer;
mod infer_layers;
mod op;
mod operands;
mod parse;
mod print;
mod shapes;
mod syntax;
mod ty;
mod verify;

pub use attrs::{Cmp, Constant, Conv2d, Distribution, Pool2d};
pub use equal::{difference, equal};
pub use family::Family;
pub use graph::{Graph, Node, Val};
pub use infer::TypeError;
pub use op::{Fused, Op};
pub use parse::parse;
pub use ty::{DType, TensorType};
pub use verify::GraphError;
