//! Sums and means over clients.
//!
//! Each client's value is added when it arrives, and then dropped. A reduction therefore takes the memory of one value,
//! however large the cohort is.

use burn_backend::TensorMetadata;
use fedround_ir::fed::{Op, Reduce, Value};
use fedround_passes::lowering::Frontend;

use super::weighted_sum::{Weight, WeightedSum};
use crate::context::missing;
use crate::error::RunError;
use crate::value::RuntimeValue;
use fedround_exec::Program;

/// `fed.sum`, `fed.mean` or `fed.weighted_mean` in progress.
pub(crate) struct Reduction {
    kind: Reduce,
    /// The sum of parameters or features.
    sum: WeightedSum,
    /// The weight of each client, in the order in which they were added. Weights on a GPU are read at the end.
    weights: Vec<Weight>,
    /// The clients' values, if they are numbers; empty otherwise.
    numbers: Vec<Weight>,
    /// Whether the values are features or labels.
    has_rows: bool,
    /// The shape of the first client's features; `None` before it is known.
    shape: Option<Vec<usize>>,
    /// The shape of a client's features that differs from the first client's; `None` if all are the same.
    other_shape: Option<Vec<usize>>,
}

impl Reduction {
    pub fn new(kind: Reduce, has_rows: bool) -> Self {
        Self {
            kind,
            sum: WeightedSum::default(),
            weights: vec![],
            numbers: vec![],
            has_rows,
            shape: None,
            other_shape: None,
        }
    }

    /// Adds one client's value. The result depends on the order of the clients, which callers keep fixed.
    pub fn add(
        &mut self,
        value: &RuntimeValue,
        weight: Option<&RuntimeValue>,
    ) -> Result<(), RunError> {
        let weight = weight.map_or(Weight::Known(1.0), Weight::of_scalar);
        match value {
            // The party's host sends a sum that includes this client.
            RuntimeValue::AtParty => {}
            RuntimeValue::Params(leaves) => self.sum.add(&weight, leaves)?,
            RuntimeValue::Tensor(t) if self.has_rows => {
                let shape = t.shape().as_slice().to_vec();
                if *self.shape.get_or_insert_with(|| shape.clone()) == shape {
                    self.sum.add(&weight, std::slice::from_ref(t))?;
                } else {
                    self.other_shape = Some(shape);
                }
            }
            value => self.numbers.push(Weight::of_scalar(value)),
        }
        self.weights.push(weight);
        Ok(())
    }

    /// Adds the sum over a host's clients. Each of them is also added, with a value that stays at its party, for its
    /// weight.
    pub fn add_sums(&mut self, leaves: &[Vec<f64>]) {
        self.sum.add_sums(leaves);
    }

    /// Ends the reduction, and returns its value on the server.
    pub fn finish(self, program: &Program, op: &Op) -> Result<RuntimeValue, RunError> {
        let empty = |why| RunError::Empty { why, loc: op.loc };
        if self.weights.is_empty() {
            return Err(RunError::nobody());
        }
        // Numbers and weights are read together, so that the host waits for the device once.
        let all = [&self.weights[..], &self.numbers[..]].concat();
        let mut weights = Weight::numbers(&all)?;
        let numbers = weights.split_off(self.weights.len());
        let total = match self.kind {
            Reduce::Sum | Reduce::WeightedSum => 1.0,
            Reduce::Mean | Reduce::WeightedMean => weights.iter().sum(),
            Reduce::Median | Reduce::TrimmedMean => {
                return Err(missing(op, "values of all clients"));
            }
        };
        if total == 0.0 {
            return Err(empty("the weights sum to zero"));
        }
        if !numbers.is_empty() {
            let weighted = weights.iter().zip(numbers).map(|(weight, x)| weight * x);
            return Ok(RuntimeValue::Number(weighted.sum::<f64>() / total));
        }
        if let Some(found) = self.other_shape {
            let (expected, loc) = (self.shape.unwrap_or_default(), op.loc);
            return Err(RunError::Rows {
                expected,
                found,
                loc,
            });
        }
        if let Some(shape) = self.shape {
            let shapes = std::iter::once(shape.as_slice());
            let sums = self.sum.finish(1.0 / total, shapes, program.device())?;
            let features = sums.into_iter().next().map(RuntimeValue::Tensor);
            return features.ok_or_else(|| empty("the features are empty"));
        }
        let leaves = program.model().parameters().iter();
        let shapes = leaves.map(|(_, ty)| ty.shape.as_slice());
        let sums = self.sum.finish(1.0 / total, shapes, program.device())?;
        Ok(RuntimeValue::Params(sums))
    }
}

/// The bytes that a value takes on the wire, as 32-bit floats and integers.
pub(crate) fn bytes(program: &Program, of: Value, value: &RuntimeValue) -> u64 {
    match value {
        RuntimeValue::Params(_) => program.transferred_bytes(of) as u64,
        RuntimeValue::Tensor(t) => 4 * t.shape().num_elements() as u64,
        // It is not sent.
        RuntimeValue::AtParty => 0,
        _ => 4,
    }
}
