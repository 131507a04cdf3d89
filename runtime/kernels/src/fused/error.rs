//! Errors of programs and of their operands.

use burn_backend::DType;

/// An error of [`FusedProgram::new`](super::FusedProgram::new) or [`FusedProgram::run`](super::FusedProgram::run).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FusedError {
    /// A step uses a value that has not been computed yet.
    #[error("step {step} uses value {value}: expected a step before it; reorder the steps")]
    Order {
        /// The number of the step.
        step: usize,
        /// The number of the value.
        value: usize,
    },
    /// An output or a sum is not the number of a step.
    #[error("expected an output or sum below {steps}, the number of steps, found {value}")]
    NoStep {
        /// Number of the value.
        value: usize,
        /// Number of steps.
        steps: usize,
    },
    /// The number of operands is not that of the program.
    #[error("expected {expected} operands, the number the program loads, found {found}")]
    Operands {
        /// The number of operands of the program.
        expected: usize,
        /// The number of tensors that were given.
        found: usize,
    },
    /// The elements of an operand are not 32-bit floats.
    #[error("operand {operand}: expected f32, found {found:?}; cast it first")]
    Type {
        /// Number of the operand.
        operand: usize,
        /// Its type.
        found: DType,
    },
    /// An operand cannot be broadcast to the shape of the result, or its repeated dimensions lie between others.
    #[error(
        "operand {operand}: expected a shape that repeats to {expected:?} along its leading or \
         trailing dimensions, found {found:?}; expand it first"
    )]
    Shape {
        /// Number of the operand.
        operand: usize,
        /// Shape of the result.
        expected: Vec<usize>,
        /// Shape of the operand.
        found: Vec<usize>,
    },
    /// A product is to be added to a program that has no output.
    #[error("expected a program with an output, to which the product is added")]
    NoOutput,
    /// The product that is added has another shape.
    #[error("expected a product of shape {expected:?}, that of the result, found {found:?}")]
    Product {
        /// Shape of the result.
        expected: Vec<usize>,
        /// Shape of the product.
        found: [usize; 2],
    },
}
