//! The sums that a host sends in place of its clients' values.

use fedround_passes::lowering::Frontend;
use fedround_passes::parties::Sum;

use super::super::error::ContentError;
use super::super::message::sum_tensor;
use super::super::table::crossing;
use super::super::transport::PartyError;
use super::super::values::Taking;
use super::Asked;
use super::returned::returned_leaf;
use crate::aggregate::weighted_sum::{Weight, WeightedSum};
use crate::client::Outcome;
use crate::error::RunError;

/// Adds a host's sums to the first of the outcomes of its clients, who are at these places of the cohort.
pub(super) fn add_sums(
    asked: &Asked<'_>,
    places: &[usize],
    outcomes: &mut [Outcome],
    taking: &mut Taking<'_>,
) -> Result<(), PartyError> {
    let finite = outcomes.iter().all(|outcome| outcome.finite);
    let mut all = vec![];
    for (j, sum) in asked.region.sums.iter().enumerate() {
        let leaves = leaves(asked, (j, sum), (places, outcomes), taking);
        let leaves = leaves.map_err(|error| PartyError::Failed(error.to_string()))?;
        // A client that is not finite is found by its report; a sum alone names nobody.
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

/// The leaves of a sum. Those that clients returned as they were are summed here.
fn leaves(
    asked: &Asked<'_>,
    (j, sum): (usize, &Sum),
    (places, outcomes): (&[usize], &[Outcome]),
    taking: &mut Taking<'_>,
) -> Result<Vec<Vec<f64>>, RunError> {
    let program = asked.job.cx.program;
    let Some(output) = asked.region.outputs.get(sum.output) else {
        return Ok(vec![]);
    };
    let parameters = program.model().parameters().iter();
    let crossing = crossing(program, &output.without);
    let mut all = vec![];
    for (leaf, ((name, ty), sent)) in parameters.zip(crossing).enumerate() {
        let name = format!("{}.{name}", sum_tensor(j, &output.name));
        if sent {
            all.push(taking.sum(&name, &ty.shape)?);
            continue;
        }
        let mut running = WeightedSum::default();
        for (&i, outcome) in places.iter().zip(outcomes) {
            let weight = sum.weight.and_then(|k| outcome.yields.get(k));
            let weight = weight.map_or(Weight::Known(1.0), Weight::of_scalar);
            let own = returned_leaf(asked, i, sum.output, leaf);
            let own = own.ok_or_else(|| ContentError::Missing { name: name.clone() })?;
            running.add(&weight, &[own])?;
        }
        all.push(running.into_sums()?.into_iter().next().unwrap_or_default());
    }
    Ok(all)
}
