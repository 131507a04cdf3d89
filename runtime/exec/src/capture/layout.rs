//! The layout of a captured step: where its inputs come from, and which values its loop starts from.

use burn::tensor::DispatchTensor;

/// The source of an input of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputRole {
    /// The leaf with this number of the loop-carried state.
    State(usize),
    /// A column of a batch, or another value that the host reads before each step.
    Column,
    /// A column of the loop's batch, by its number. The step gathers it from examples on the device.
    Example(usize),
    /// A tensor that is defined outside the loop and stays the same in all steps.
    Outer,
}

/// How the inputs and outputs of a segment are those of a loop's body.
#[derive(Clone, Debug, PartialEq)]
pub struct StepLayout {
    /// The role of each input of the segment, except for the inputs at the end that the program itself
    /// supplies (hyper-parameters, constants and random numbers).
    pub inputs: Vec<InputRole>,
    /// For each leaf of the loop-carried state, the output of the segment that is its next value; `None` for a
    /// leaf that does not change.
    pub next: Vec<Option<usize>>,
}

/// The values that a loop starts from.
pub struct LoopStart {
    /// The leaves of the loop-carried state.
    pub state: Vec<DispatchTensor>,
    /// The tensors of [`InputRole::Outer`] inputs.
    pub outer: Vec<DispatchTensor>,
    /// The columns from which the step gathers its batch; empty if the examples are not on the device.
    pub examples: Vec<ExampleColumn>,
    /// The number of rows of a batch that is gathered.
    pub rows: usize,
    /// The most steps that may be captured in one graph.
    pub steps_per_capture: usize,
}

/// A column of the examples of all clients, on the device. A step keeps it from client to client; only the row numbers
/// change.
#[derive(Clone)]
pub struct ExampleColumn {
    /// The column, with one row for each example. Nobody writes it.
    pub all: DispatchTensor,
    /// The shape of the column in a batch.
    pub shape: Vec<usize>,
}

/// The inputs of one step that are written to its buffers before it runs.
pub struct StepInputs {
    /// The row numbers of the batch, if the step gathers it from examples on the device.
    pub rows: Option<DispatchTensor>,
    /// The tensors of [`InputRole::Column`] inputs.
    pub columns: Vec<DispatchTensor>,
    /// The random numbers of the step.
    pub draws: Vec<DispatchTensor>,
}
