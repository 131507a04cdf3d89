//! Leaves that clients return unchanged. They are not sent, because the coordinator has them already.

use burn::tensor::DispatchTensor;

use super::super::table::unchanged_input;
use super::RegionCall;
use crate::value::RuntimeValue;

/// A leaf of the `k`-th output that the `i`-th client of the cohort returns unchanged; `None` if the client changes it.
pub(super) fn unchanged_leaf(
    call: &RegionCall<'_>,
    i: usize,
    k: usize,
    leaf: usize,
) -> Option<DispatchTensor> {
    let job = call.job;
    let value = job.body.yields.get(k)?;
    let input = unchanged_input(job.cx.program, job.body, *value, leaf)?;
    received(call, i, input)?.tensors().get(leaf).cloned()
}

/// The value that the `i`-th client of the cohort received as an input.
pub(super) fn received<'a>(
    call: &RegionCall<'a>,
    i: usize,
    input: usize,
) -> Option<&'a RuntimeValue> {
    match call.job.operands.get(input)? {
        RuntimeValue::Broadcast(_, value) => Some(value.as_ref()),
        RuntimeValue::Clients(_, values) => values.get(i),
        _ => None,
    }
}
