//! What a captured step is made of: where its inputs come from, and what its loop starts from.

use burn::tensor::DispatchTensor;

/// Where a step's input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputRole {
    /// A leaf of what the loop carries.
    State(usize),
    /// A column of a batch, or another value that is read before each step.
    Column,
    /// A column of the loop's batch, which the step gathers from examples on the device.
    Example(usize),
    /// A tensor from around the loop.
    Outer,
}

/// How a loop's body is made of its segment.
#[derive(Clone, Debug, PartialEq)]
pub struct StepLayout {
    /// The segment's inputs but for what the program supplies.
    pub inputs: Vec<InputRole>,
    /// For each leaf that is carried, the output that is its next value; `None` where it stays.
    pub next: Vec<Option<usize>>,
}

/// What a loop starts from.
pub struct LoopStart {
    /// The leaves that it carries.
    pub state: Vec<DispatchTensor>,
    /// The tensors from around it.
    pub outer: Vec<DispatchTensor>,
    /// The columns from which the step gathers its batch, if the examples are on the device.
    pub examples: Vec<ExampleColumn>,
    /// The number of a batch's rows there.
    pub rows: usize,
    /// How many steps may be one recording.
    pub together: usize,
}

/// A column of examples on the device.
#[derive(Clone)]
pub struct ExampleColumn {
    /// A row for each example. Nobody writes it.
    pub all: DispatchTensor,
    /// The shape of a batch.
    pub shape: Vec<usize>,
}

/// What a step reads that is not in its buffers.
pub struct StepInputs {
    /// The rows of its batch, if it gathers that from examples on the device.
    pub rows: Option<DispatchTensor>,
    /// What was read before it.
    pub columns: Vec<DispatchTensor>,
    /// The random numbers of one run.
    pub draws: Vec<DispatchTensor>,
}
