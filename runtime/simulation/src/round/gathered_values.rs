//! Operations on gathered values that need the values of all clients at once: medians, trimmed means, pairwise
//! distances, and splitting a tensor into rows.

use std::borrow::Cow;
use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use fedround_exec::tensor::{floats, from_floats, read, read_all};
use fedround_ir::fed::{Kind, Op, Pairwise, Reduce};
use fedround_ir::tensor::Op as TensorOp;
use fedround_passes::lowering::Frontend;

use super::server::Server;
use crate::aggregate::order_statistics::{all_but_the_median, cut, trimmed_mean};
use crate::aggregate::pairwise::{Leaves, pairwise};
use crate::aggregate::weighted_sum::Weight;
use crate::context::missing;
use crate::error::RunError;
use crate::interpreter::has_rows;
use crate::value::batching::apply;
use crate::value::{Env, RuntimeValue};

/// The values of an operand, one for each client of its cohort, of whom there is at least one.
pub(super) fn values_of_clients<'e>(
    op: &Op,
    operand: usize,
    env: &'e Env,
) -> Result<(Arc<[usize]>, Vec<&'e RuntimeValue>), RunError> {
    let value = op.operands.get(operand).and_then(|v| env.peek(*v));
    let by_client = value.and_then(RuntimeValue::by_client);
    let (ids, values) = by_client.ok_or_else(|| missing(op, "value of each client"))?;
    if values.is_empty() {
        return Err(RunError::nobody());
    }
    Ok((Arc::clone(ids), values))
}

/// The shape of the clients' features.
///
/// # Errors
///
/// The shapes differ between clients.
fn common_shape(op: &Op, values: &[&RuntimeValue]) -> Result<Vec<usize>, RunError> {
    let mut shapes = values.iter().map(|value| match value.tensors() {
        [t] => t.shape().as_slice().to_vec(),
        _ => vec![],
    });
    let expected = shapes.next().unwrap_or_default();
    match shapes.find(|found| *found != expected) {
        Some(found) => Err(RunError::Rows {
            expected,
            found,
            loc: op.loc,
        }),
        None => Ok(expected),
    }
}

/// Scalars of clients, in host memory.
fn numbers(values: &[&RuntimeValue]) -> Result<Vec<f64>, RunError> {
    let numbers: Vec<Weight> = values
        .iter()
        .map(|value| Weight::of_scalar(value))
        .collect();
    Weight::numbers(&numbers)
}

/// The leaf at one index of every client's value, in host memory.
fn leaf_of_clients<'v>(values: &[&'v RuntimeValue], index: usize) -> Result<Leaves<'v>, RunError> {
    let tensors = values.iter().filter_map(|value| value.tensors().get(index));
    let tensors: Vec<&DispatchTensor> = tensors.collect();
    let in_host_memory: Option<Leaves<'_>> =
        tensors.iter().map(|t| Some(floats(t)?.into())).collect();
    match in_host_memory {
        Some(leaves) => Ok(leaves),
        None => {
            let read = read_all(tensors.into_iter().cloned().collect())?;
            Ok(read.into_iter().map(Cow::Owned).collect())
        }
    }
}

impl Server<'_> {
    /// `fed.median` and `fed.trimmed_mean`: of each entry over the clients.
    pub(super) fn order_statistic(
        &self,
        reduce: Reduce,
        op: &Op,
        env: &Env,
    ) -> Result<RuntimeValue, RunError> {
        let (program, of) = (self.cx.program, op.operands[0]);
        let (_, values) = values_of_clients(op, 0, env)?;
        let cut = self.cut(reduce, op, values.len(), env)?;
        let mean_of = |i: usize, shape: &[usize]| {
            let all = leaf_of_clients(&values, i)?;
            let all: Vec<&[f32]> = all.iter().map(AsRef::as_ref).collect();
            let mean = trimmed_mean(&all, cut);
            Ok(from_floats(mean, shape, program.device()))
        };
        match values.first() {
            Some(RuntimeValue::Params(_)) => {
                let leaves = program.model().parameters().iter().enumerate();
                let leaves = leaves.map(|(i, (_, ty))| mean_of(i, &ty.shape));
                leaves
                    .collect::<Result<_, RunError>>()
                    .map(RuntimeValue::Params)
            }
            _ if has_rows(self.cx, of) => {
                mean_of(0, &common_shape(op, &values)?).map(RuntimeValue::Tensor)
            }
            _ => {
                let numbers = numbers(&values)?;
                let numbers: Vec<[f32; 1]> = numbers.into_iter().map(|x| [x as f32]).collect();
                let all: Vec<&[f32]> = numbers.iter().map(<[f32; 1]>::as_slice).collect();
                let mean = trimmed_mean(&all, cut).first().copied();
                let mean = mean.ok_or_else(|| missing(op, "numbers"))?;
                Ok(RuntimeValue::Number(f64::from(mean)))
            }
        }
    }

    /// How many of `m` values a reduction leaves out at each end.
    fn cut(&self, reduce: Reduce, op: &Op, m: usize, env: &Env) -> Result<usize, RunError> {
        let Some(&share) = op.operands.get(1).filter(|_| reduce == Reduce::TrimmedMean) else {
            return Ok(all_but_the_median(m));
        };
        let share = self.number(op, share, env)?;
        cut(share, m).ok_or(RunError::Trim {
            found: share,
            loc: op.loc,
        })
    }

    /// `fed.pairwise`: squared distances or cosines of all pairs of clients' values, of shape `[m, m]`.
    pub(super) fn pairwise(
        &self,
        of: Pairwise,
        op: &Op,
        env: &Env,
    ) -> Result<RuntimeValue, RunError> {
        let (ids, values) = values_of_clients(op, 0, env)?;
        if has_rows(self.cx, op.operands[0]) {
            common_shape(op, &values)?;
        }
        let leaves = values.first().map_or(0, |value| value.tensors().len());
        let mut clients: Vec<Leaves<'_>> = vec![vec![]; values.len()];
        for i in 0..leaves {
            for (client, leaf) in clients.iter_mut().zip(leaf_of_clients(&values, i)?) {
                client.push(leaf);
            }
        }
        let (all, shape) = (pairwise(of, &clients), [ids.len(); 2]);
        let device = self.cx.program.device();
        Ok(RuntimeValue::Tensor(from_floats(all, &shape, device)))
    }

    /// `fed.split`: gives each client its row of a tensor, as a number or as a tensor.
    pub(super) fn split(&self, kind: Kind, op: &Op, env: &Env) -> Result<RuntimeValue, RunError> {
        let Some(RuntimeValue::Tensor(rows)) = env.peek(op.operands[0]) else {
            return Err(missing(op, "tensor"));
        };
        let (ids, _) = values_of_clients(op, 1, env)?;
        let shape = rows.shape().as_slice().to_vec();
        let row = shape.get(1..).unwrap_or_default();
        let is_number = row.iter().product::<usize>() == 1;
        if shape.first() != Some(&ids.len()) || (kind == Kind::Scalar && !is_number) {
            return Err(RunError::Split {
                clients: ids.len(),
                of: if kind == Kind::Scalar {
                    "number"
                } else {
                    "row"
                },
                found: shape,
                loc: op.loc,
            });
        }
        if kind == Kind::Scalar {
            let numbers = read(rows.clone())?.into_iter();
            let numbers = numbers
                .map(|x| RuntimeValue::Number(f64::from(x)))
                .collect();
            return Ok(RuntimeValue::Clients(ids, numbers));
        }
        let row = if row.is_empty() { &[1] } else { row };
        let rows_of_clients = (0..ids.len()).map(|i| {
            let whole = shape.iter().skip(1).map(|n| (0, *n));
            let ranges = std::iter::once((i, i + 1)).chain(whole).collect();
            let one = apply(&TensorOp::Slice(ranges), vec![rows.clone()])?;
            apply(&TensorOp::Reshape(row.to_vec()), vec![one]).map(RuntimeValue::Tensor)
        });
        let values: Option<Vec<RuntimeValue>> = rows_of_clients.collect();
        let values = values.ok_or_else(|| missing(op, "rows of floats"))?;
        Ok(RuntimeValue::Clients(ids, values))
    }

    /// The clients' numbers as a tensor of shape `[m]`.
    pub(super) fn concat_numbers(&self, op: &Op, env: &Env) -> Result<RuntimeValue, RunError> {
        let (ids, values) = values_of_clients(op, 0, env)?;
        let all = numbers(&values)?.into_iter().map(|x| x as f32).collect();
        let device = self.cx.program.device();
        Ok(RuntimeValue::Tensor(from_floats(all, &[ids.len()], device)))
    }
}
