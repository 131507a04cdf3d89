//! A reduction in progress: each client's value is added when it arrives, and let go.

use fedround_ir::fed::{Op, Reduce};
use fedround_passes::tensor::Frontend;

use crate::error::RunError;
use crate::ops;
use crate::program::Program;
use crate::reduce::WeightedSum;
use crate::value::RtVal;

/// `fed.sum`, `fed.mean` or `fed.weighted_mean`, as far as it has come.
pub(super) struct Running {
    kind: Reduce,
    sum: WeightedSum,
    clients: usize,
    numbers: bool,
}

impl Running {
    pub fn new(kind: Reduce) -> Self {
        Self {
            kind,
            sum: WeightedSum::default(),
            clients: 0,
            numbers: false,
        }
    }

    /// Adds one client's value. Clients are added in the order of the cohort.
    pub fn add(&mut self, value: &RtVal, weight: Option<&RtVal>) {
        self.clients += 1;
        let weight = weight.map_or(1.0, number);
        match value {
            RtVal::Params(leaves) => self.sum.add(weight, leaves),
            value => {
                self.numbers = true;
                self.sum.add_number(weight, number(value));
            }
        }
    }

    /// The value on the server.
    pub fn finish(self, program: &Program, op: &Op) -> Result<RtVal, RunError> {
        let empty = |why| RunError::Empty { why, loc: op.loc };
        if self.clients == 0 {
            return Err(empty("the cohort is empty"));
        }
        let total = match self.kind {
            Reduce::Sum => 1.0,
            Reduce::Mean | Reduce::WeightedMean => self.sum.weight,
        };
        if total == 0.0 {
            return Err(empty("the weights sum to zero"));
        }
        if self.numbers {
            return Ok(RtVal::Host(self.sum.number() / total));
        }
        let leaves = program.tracer.parameters().iter();
        let shapes = leaves.map(|(_, ty)| ty.shape.as_slice());
        let sums = self.sum.finish(1.0 / total, shapes, &program.device);
        Ok(RtVal::Params(sums))
    }
}

/// A scalar in host memory.
pub(super) fn number(value: &RtVal) -> f64 {
    match value {
        RtVal::Host(c) => *c,
        RtVal::Tensor(t) => ops::values(t.clone())
            .first()
            .copied()
            .map_or(f64::NAN, f64::from),
        _ => f64::NAN,
    }
}

/// Bytes of a value on the wire, as `f32`.
pub(super) fn bytes(program: &Program, value: &RtVal) -> u64 {
    match value {
        RtVal::Params(_) => 4 * program.parameter_count() as u64,
        _ => 4,
    }
}
