//! The interface to the tracer of models and losses.

use fedround_ir::fed::Kind;
use fedround_ir::tensor::{Graph, TensorType};

/// Traces models and losses into graphs.
pub trait Frontend {
    /// Name and type of each leaf of the model's parameters, in order.
    fn parameters(&self) -> &[(String, TensorType)];

    /// For each leaf, the types of the layers that it is in.
    fn layers(&self) -> &[Vec<String>];

    /// The indices of the leaves that are buffers, ascending. Gradients do not train buffers; forward
    /// passes in training update them.
    fn buffers(&self) -> &[usize];

    /// Type of a column of the data for a batch size: of floats, or of integers if its kind is
    /// labels.
    ///
    /// # Errors
    ///
    /// The data has no such column.
    fn column(&self, name: &str, kind: Kind, batch: usize) -> Result<TensorType, FrontendError>;

    /// A function of the model: inputs are the parameters and `inputs`, outputs its value and, in
    /// training, the next value of each buffer.
    ///
    /// # Errors
    ///
    /// The model has no such function, uses an op that the tensor dialect lacks, or panics while
    /// traced.
    fn apply(
        &self,
        function: &str,
        inputs: &[TensorType],
        training: bool,
    ) -> Result<Graph, FrontendError>;

    /// A registered loss of some tensors: the output is one scalar.
    ///
    /// # Errors
    ///
    /// No loss has that name, or it cannot be traced.
    fn loss(&self, name: &str, inputs: &[TensorType]) -> Result<Graph, FrontendError>;

    /// A registered function of some tensors: the output is one tensor.
    ///
    /// # Errors
    ///
    /// No function has that name, or it cannot be traced.
    fn function(&self, name: &str, inputs: &[TensorType]) -> Result<Graph, FrontendError>;

    /// The type of a batch of this many inputs of the model.
    fn input(&self, rows: usize) -> TensorType;
}

/// Why a frontend could not return a graph.
pub type FrontendError = Box<dyn std::error::Error + Send + Sync>;
