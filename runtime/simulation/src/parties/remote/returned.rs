//! Values that clients return as they were sent to them: the coordinator has them already.

use burn::tensor::DispatchTensor;

use super::super::table::returned;
use super::Asked;
use crate::value::RtVal;

/// A leaf of the `k`-th output that the client at a place of the cohort returned as it was.
pub(super) fn returned_leaf(
    asked: &Asked<'_>,
    i: usize,
    k: usize,
    leaf: usize,
) -> Option<DispatchTensor> {
    let job = asked.job;
    let value = job.body.yields.get(k)?;
    let input = returned(job.cx.program, job.body, *value, leaf)?;
    received(asked, i, input)?.tensors().get(leaf).cloned()
}

/// What the client at a place of the cohort was sent as an input.
pub(super) fn received<'a>(asked: &Asked<'a>, i: usize, input: usize) -> Option<&'a RtVal> {
    match asked.job.operands.get(input)? {
        RtVal::Broadcast(_, value) => Some(value.as_ref()),
        RtVal::Clients(_, values) => values.get(i),
        _ => None,
    }
}
