//! Sums over a host's clients.

use fedround_passes::lowering::Frontend;
use fedround_passes::parties::Region;
use fedround_store::TensorBytes;

use super::super::message::{Run, sum_tensor};
use super::super::payload::Payload;
use super::super::table::sent_leaves;
use super::PartyHost;
use super::run::Outcomes;
use crate::aggregate::weighted_sum::{Weight, WeightedSum};
use crate::error::RunError;
use crate::value::RuntimeValue;

impl PartyHost {
    /// Adds a region's sums over the host's clients to a reply. Clients are summed in the order of the request.
    pub(super) fn add_sums(
        &self,
        reply: &mut Payload,
        (run, region): (&Run, &Region),
        outcomes: &Outcomes,
    ) -> Result<(), RunError> {
        let program = self.simulation.program().at(run.scheduled);
        for (j, sum) in region.sums.iter().enumerate() {
            let Some(output) = region.outputs.get(sum.output) else {
                continue;
            };
            let mut running = WeightedSum::default();
            for (_, outcome) in outcomes {
                let weight = sum.weight.and_then(|i| outcome.yields.get(i));
                let weight = weight.map_or(Weight::Known(1.0), Weight::of_scalar);
                if let Some(RuntimeValue::Params(leaves)) = outcome.yields.get(sum.output) {
                    running.add(&weight, leaves)?;
                }
            }
            let parameters = program.model().parameters().iter();
            let leaves = parameters.zip(running.into_sums()?);
            let sent_leaves = sent_leaves(program, &output.without);
            for (((leaf, ty), values), _) in leaves.zip(sent_leaves).filter(|(_, sent)| *sent) {
                let name = format!("{}.{leaf}", sum_tensor(j, &output.name));
                reply.add(name, TensorBytes::of_doubles(&values, &ty.shape));
            }
        }
        Ok(())
    }
}
