//! A sum or mean over clients in progress.
//!
//! Each client's value is added when it arrives and then dropped, so a reduction takes the memory
//! of one value, however large the cohort is.

use burn_backend::TensorMetadata;
use fedround_ir::fed::{Op, Reduce, Value};
use fedround_passes::lowering::Frontend;

use super::weighted_sum::{Weight, WeightedSum};
use crate::context::missing;
use crate::error::RunError;
use crate::value::RtVal;
use fedround_exec::Program;

/// `fed.sum`, `fed.mean` or `fed.weighted_mean`, as far as it has come.
pub(crate) struct Reduction {
    kind: Reduce,
    sum: WeightedSum,
    /// Of each client, as they were added; numbers of a GPU are read at the end.
    weights: Vec<Weight>,
    /// The values themselves, where they are numbers.
    numbers: Vec<Weight>,
    /// Whether the values are features; and their shape, once it is known.
    rows: bool,
    shape: Option<Vec<usize>>,
    /// A client's features of another shape.
    other: Option<Vec<usize>>,
}

impl Reduction {
    pub fn new(kind: Reduce, rows: bool) -> Self {
        Self {
            kind,
            sum: WeightedSum::default(),
            weights: vec![],
            numbers: vec![],
            rows,
            shape: None,
            other: None,
        }
    }

    /// Adds one client's value. Clients are added in the order of the cohort.
    pub fn add(&mut self, value: &RtVal, weight: Option<&RtVal>) -> Result<(), RunError> {
        let weight = weight.map_or(Weight::Known(1.0), Weight::of_scalar);
        match value {
            // Of the sum that its host sends.
            RtVal::Held => {}
            RtVal::Params(leaves) => self.sum.add(&weight, leaves)?,
            RtVal::Tensor(t) if self.rows => {
                let shape = t.shape().as_slice().to_vec();
                if *self.shape.get_or_insert_with(|| shape.clone()) == shape {
                    self.sum.add(&weight, std::slice::from_ref(t))?;
                } else {
                    self.other = Some(shape);
                }
            }
            value => self.numbers.push(Weight::of_scalar(value)),
        }
        self.weights.push(weight);
        Ok(())
    }

    /// Adds a host's sum over clients, each of which is added with a value that is held.
    pub fn add_sums(&mut self, leaves: &[Vec<f64>]) {
        self.sum.add_sums(leaves);
    }

    /// The value on the server.
    pub fn finish(self, program: &Program, op: &Op) -> Result<RtVal, RunError> {
        let empty = |why| RunError::Empty { why, loc: op.loc };
        if self.weights.is_empty() {
            return Err(empty("the cohort is empty"));
        }
        // Read together.
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
            return Ok(RtVal::Host(weighted.sum::<f64>() / total));
        }
        if let Some(found) = self.other {
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
            let features = sums.into_iter().next().map(RtVal::Tensor);
            return features.ok_or_else(|| empty("the features are empty"));
        }
        let leaves = program.model().parameters().iter();
        let shapes = leaves.map(|(_, ty)| ty.shape.as_slice());
        let sums = self.sum.finish(1.0 / total, shapes, program.device())?;
        Ok(RtVal::Params(sums))
    }
}

/// Bytes on the wire of what a value of the program is at run time, as `f32` and `i32`.
pub(crate) fn bytes(program: &Program, of: Value, value: &RtVal) -> u64 {
    match value {
        RtVal::Params(_) => program.transferred_bytes(of) as u64,
        RtVal::Tensor(t) => 4 * t.shape().num_elements() as u64,
        // It stays where it is.
        RtVal::Held => 0,
        _ => 4,
    }
}
