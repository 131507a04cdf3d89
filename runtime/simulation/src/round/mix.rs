//! `fed.mix`: clients exchange values, and each computes a weighted mean of those that it receives.

use std::sync::Arc;

use burn_backend::TensorMetadata;
use fedround_exec::tensor::{read, read_all};
use fedround_ir::fed::{Op, Reduce, Topology};
use fedround_random::Purpose;

use super::mixing_weights::{Weights, weights_of, weights_of_matrix};
use super::server::Server;
use crate::aggregate::reduction::{Reduction, bytes};
use crate::context::missing;
use crate::error::RunError;
use crate::value::{Env, RuntimeValue};

impl Server<'_> {
    /// `fed.mix`: all operands are exchanged along the same edges.
    pub(super) fn mix(
        &mut self,
        op: &Op,
        topology: Topology,
        env: &mut Env,
    ) -> Result<(), RunError> {
        let missing_value = || missing(op, "value of each client");
        let first = op.operands.first().and_then(|of| env.peek(*of));
        let ids = first.and_then(RuntimeValue::clients);
        let ids = ids.ok_or_else(missing_value)?;
        let weights = match topology {
            Topology::Matrix => self.matrix_weights(op, ids, env)?,
            _ => {
                let key = self.cx.key(Purpose::Topology).with(self.counters.mixes);
                weights_of(topology, ids.len(), self.cx.round.saturating_sub(1), key)
            }
        };
        for (operand, result) in op.operands.iter().zip(&op.results) {
            let by_client = env.peek(*operand).and_then(RuntimeValue::by_client);
            let (ids, values) = by_client.ok_or_else(missing_value)?;
            let mut mixed = Vec::with_capacity(ids.len());
            for (i, from) in weights.iter().enumerate() {
                let mut sum = Reduction::new(Reduce::Sum, false);
                for (&j, &weight) in from {
                    let value = *values.get(j).ok_or_else(missing_value)?;
                    // A client does not send its own value to itself.
                    if i != j {
                        self.stats.bytes_across += bytes(self.cx.program, *operand, value);
                    }
                    sum.add(value, Some(&RuntimeValue::Number(weight)))?;
                }
                mixed.push(sum.finish(self.cx.program, op)?);
            }
            let ids = Arc::clone(ids);
            env.set(*result, RuntimeValue::Clients(ids, mixed));
        }
        self.counters.mixes += 1;
        Ok(())
    }

    /// The weights of the clients of a cohort by a matrix of the algorithm.
    fn matrix_weights(&self, op: &Op, ids: &[usize], env: &Env) -> Result<Weights, RunError> {
        let Some(Some(RuntimeValue::Tensor(matrix))) = op.operands.last().map(|of| env.peek(*of))
        else {
            return Err(missing(op, "matrix"));
        };
        let shape = matrix.shape().as_slice().to_vec();
        let square = |n: usize| shape == [n, n];
        let positions: Vec<usize> = match () {
            () if square(ids.len()) => (0..ids.len()).collect(),
            // The matrix is over all clients, of which some are absent.
            () if square(self.cx.clients()) && ids.is_sorted() => ids.to_vec(),
            () => {
                return Err(RunError::Mixing {
                    clients: ids.len(),
                    found: shape,
                    loc: op.loc,
                });
            }
        };
        let (all, loc) = (shape[0], op.loc);
        let weights = weights_of_matrix(&read(matrix.clone())?, all, &positions);
        weights.map_err(|(row, found)| RunError::MixingRow { row, found, loc })
    }

    /// `fed.consensus`: the mean of the clients' models. Also records their mean squared distance from it.
    pub(super) fn consensus(&mut self, op: &Op, env: &Env) -> Result<RuntimeValue, RunError> {
        let Some(RuntimeValue::Clients(_, values)) = env.peek(op.operands[0]) else {
            return Err(missing(op, "parameters of each client"));
        };
        let mut mean = Reduction::new(Reduce::Mean, false);
        values.iter().try_for_each(|value| mean.add(value, None))?;
        let mean = mean.finish(self.cx.program, op)?;
        let center = read_all(mean.tensors().to_vec())?.concat();
        let mut square = 0.0;
        for value in values {
            let own = read_all(value.tensors().to_vec())?.concat();
            let differences = own
                .iter()
                .zip(&center)
                .map(|(x, y)| f64::from(*x) - f64::from(*y));
            square += differences.map(|d| d * d).sum::<f64>();
        }
        self.stats.consensus = Some(square / values.len().max(1) as f64);
        Ok(mean)
    }
}
