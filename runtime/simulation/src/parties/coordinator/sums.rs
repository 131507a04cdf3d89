//! Reads the sums that a host sends in place of its clients' values.

use fedround_passes::lowering::Frontend;
use fedround_passes::parties::Sum;

use super::super::error::ContentError;
use super::super::message::sum_tensor;
use super::super::table::sent_leaves;
use super::super::transport::PartyError;
use super::super::values::PayloadReader;
use super::RegionCall;
use super::unchanged_leaves::unchanged_leaf;
use crate::aggregate::weighted_sum::{Weight, WeightedSum};
use crate::client::ClientOutcome;
use crate::error::RunError;

/// Adds a host's sums to the outcome of its first client. The clients are at these positions of the cohort.
pub(super) fn add_sums(
    call: &RegionCall<'_>,
    positions: &[usize],
    outcomes: &mut [ClientOutcome],
    reader: &mut PayloadReader<'_>,
) -> Result<(), PartyError> {
    let finite = outcomes.iter().all(|outcome| outcome.finite);
    let mut all = vec![];
    for (j, sum) in call.region.sums.iter().enumerate() {
        let leaves = leaves(call, (j, sum), (positions, outcomes), reader);
        let leaves = leaves.map_err(|error| PartyError::Failed(error.to_string()))?;
        // If a client reports non-finite values, that client is left out. A non-finite sum without such a report does
        // not say which client caused it, so the host fails.
        if finite && !leaves.iter().flatten().all(|x| x.is_finite()) {
            let what = "a sum over its clients is not finite, and it reports none of them";
            return Err(PartyError::Failed(what.to_owned()));
        }
        all.push((sum.reduction, leaves));
    }
    if let Some(first) = outcomes.first_mut() {
        first.sums = all;
    }
    Ok(())
}

/// The leaves of a sum. Leaves that clients return unchanged are not sent, and are summed here.
fn leaves(
    call: &RegionCall<'_>,
    (j, sum): (usize, &Sum),
    (positions, outcomes): (&[usize], &[ClientOutcome]),
    reader: &mut PayloadReader<'_>,
) -> Result<Vec<Vec<f64>>, RunError> {
    let program = call.job.cx.program;
    let Some(output) = call.region.outputs.get(sum.output) else {
        return Ok(vec![]);
    };
    let parameters = program.model().parameters().iter();
    let sent_leaves = sent_leaves(program, &output.without);
    let mut all = vec![];
    for (leaf, ((name, ty), sent)) in parameters.zip(sent_leaves).enumerate() {
        let name = format!("{}.{name}", sum_tensor(j, &output.name));
        if sent {
            all.push(reader.sum(&name, &ty.shape)?);
            continue;
        }
        let mut running = WeightedSum::default();
        for (&i, outcome) in positions.iter().zip(outcomes) {
            let weight = sum.weight.and_then(|k| outcome.yields.get(k));
            let weight = weight.map_or(Weight::Known(1.0), Weight::of_scalar);
            let own = unchanged_leaf(call, i, sum.output, leaf);
            let own = own.ok_or_else(|| ContentError::Missing { name: name.clone() })?;
            running.add(&weight, &[own])?;
        }
        all.push(running.into_sums()?.into_iter().next().unwrap_or_default());
    }
    Ok(all)
}
