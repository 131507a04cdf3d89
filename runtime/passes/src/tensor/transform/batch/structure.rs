//! Ops with dimensions: theirs move one to the right.

use std::iter::once;

use fedround_ir::tensor::{Op, TensorType, TypeError, Val};

use super::{Batch, Results, Value};

pub(super) fn batch(b: &mut Batch, op: &Op, ins: &[Value], result: &TensorType) -> Results {
    let clients = b.clients;
    let with_clients = |shape: &[usize]| [&[clients], shape].concat();
    let shifted = |dims: &[usize]| dims.iter().map(|d| d + 1).collect::<Vec<_>>();
    let ranges = |ranges: &[(usize, usize)]| {
        let own = ranges.iter().copied();
        once((0, clients)).chain(own).collect::<Vec<_>>()
    };
    let op = match op {
        Op::Random(distribution, stream, _) => {
            Op::Random(*distribution, *stream, with_clients(&result.shape))
        }
        Op::Reshape(_) => Op::Reshape(with_clients(&result.shape)),
        Op::Expand(_) => Op::Expand(with_clients(&result.shape)),
        Op::Permute(axes) => Op::Permute(once(0).chain(shifted(axes)).collect()),
        Op::Flip(axes) => Op::Flip(shifted(axes)),
        Op::Slice(r) => Op::Slice(ranges(r)),
        Op::SliceAssign(r) => Op::SliceAssign(ranges(r)),
        Op::Cat(d) => Op::Cat(d + 1),
        Op::SumDim(d) => Op::SumDim(d + 1),
        Op::MeanDim(d) => Op::MeanDim(d + 1),
        Op::MaxDim(d) => Op::MaxDim(d + 1),
        Op::LogSoftmax(d) => Op::LogSoftmax(d + 1),
        Op::CumSum { dim, reverse } => Op::CumSum {
            dim: dim + 1,
            reverse: *reverse,
        },
        Op::Gather(d) => Op::Gather(d + 1),
        Op::ScatterAdd(d) => Op::ScatterAdd(d + 1),
        Op::Sum | Op::Mean => {
            let n = b.shape(ins[0]).iter().product();
            let rows = b.reshape(ins[0].new, vec![clients, n])?;
            let along = if matches!(op, Op::Sum) {
                Op::SumDim(1)
            } else {
                Op::MeanDim(1)
            };
            return b.op(along, &[rows]);
        }
        Op::Select(d) if !ins[1].each => return b.op(Op::Select(d + 1), &[ins[0].new, ins[1].new]),
        Op::SelectAdd(d) if !ins[1].each => {
            let (a, v) = (b.full_one(ins[0])?, b.full_one(ins[2])?);
            return b.op(Op::SelectAdd(d + 1), &[a, ins[1].new, v]);
        }
        // Rows of its own for each client: the same rows for every entry, as `gather` wants them.
        Op::Select(d) => {
            let a = b.full_one(ins[0])?;
            let at = spread(b, ins[1].new, *d, &result.shape)?;
            return b.op(Op::Gather(d + 1), &[a, at]);
        }
        Op::SelectAdd(d) => {
            let (a, v) = (b.full_one(ins[0])?, b.full_one(ins[2])?);
            let entries = b.shape(ins[2]);
            let at = spread(b, ins[1].new, *d, &entries)?;
            return b.op(Op::ScatterAdd(d + 1), &[a, at, v]);
        }
        other => other.clone(),
    };
    let ins = b.full(ins)?;
    b.op(op, &ins)
}

/// Indices `[K, n]` of dimension `d`, repeated in the shape `[K, …, n, …]`.
fn spread(b: &mut Batch, at: Val, d: usize, shape: &[usize]) -> Result<Val, TypeError> {
    let mut thin = vec![1; shape.len() + 1];
    (thin[0], thin[d + 1]) = (b.clients, shape[d]);
    let wide = [&[b.clients], shape].concat();
    let at = b.reshape(at, thin)?;
    b.push(Op::Expand(wide), &[at])
}
