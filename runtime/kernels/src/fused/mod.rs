//! Straight-line element-wise programs in one pass over memory.
//!
//! burn-flex runs every element-wise operation as a pass of its own. This module computes a whole chain of operations for
//! one block of about a thousand elements at a time. Intermediate values are in *registers*, buffers of one block each, which
//! stay in the first-level cache. Operands are read once, and outputs are written once.
//!
//! A [`FusedProgram`] is a list of steps with registers assigned. [`FusedProgram::run`] checks the operands (`run`), binds
//! them to the program (`bound_program`), divides the elements into parts for threads (`parts`) and parts into blocks
//! (`block_layout`), and computes a block step by step (`block_runner`).
//!
//! ```
//! use burn_flex::FlexTensor;
//! use burn_backend::TensorData;
//! use fedround_kernels::fused::{Binary, FusedProgram, Step};
//!
//! // FedProx's pull towards the round's parameters: w - 0.1 (w - w0), and |w - w0|².
//! let steps = vec![
//!     Step::Operand(0),
//!     Step::Operand(1),
//!     Step::Binary(Binary::Sub, 0, 1),
//!     Step::Constant(0.1),
//!     Step::Binary(Binary::Mul, 2, 3),
//!     Step::Binary(Binary::Sub, 0, 4),
//!     Step::Binary(Binary::Mul, 2, 2),
//! ];
//! let program = FusedProgram::new(steps, vec![5], vec![6])?;
//! let tensor = |values: [f32; 2]| FlexTensor::from_data(TensorData::new(values.to_vec(), [2]));
//! let results = program.run(vec![tensor([1.0, 2.0]), tensor([1.0, 0.0])], &[2])?;
//! assert_eq!(results.outputs[0].storage::<f32>(), [1.0, 1.8]);
//! assert_eq!(results.sums, [4.0]);
//! # Ok::<(), fedround_kernels::fused::FusedError>(())
//! ```

mod block_layout;
mod block_runner;
mod bound_program;
mod broadcast;
mod dims;
mod error;
mod operand_prefetch;
mod parts;
mod program;
mod run;
mod step;
mod sums;
mod update;

pub(crate) use block_layout::BLOCK;

pub use error::FusedError;
pub use program::{FusedProgram, Reductions};
pub use run::Results;
pub use step::{Binary, Step, Unary};
