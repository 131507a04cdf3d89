//! Adversaries that look for protected attributes in representations (Liang, Liu et al. 2020,
//! section 3.4).

use std::collections::BTreeMap;

use fedround_data::DatasetInfo;
use fedround_metrics::MetricError;
use fedround_metrics::classification::roc_auc;
use fedround_simulation::RunError;

use super::error::ExperimentError;
use super::probe::copy_parameters;
use super::report::{AttributeAuc, Parameters};
use super::run::Run;
use super::specs::{Expose, PROTECTED};

/// Clients whose own representations are looked into.
const CLIENTS: usize = 10;
/// Rounds of the adversary's training.
const ROUNDS: usize = 4;
/// The parameters of the network that looks for them.
const ADVERSARY: &str = "adversary.";

impl Run {
    /// What is found of each protected attribute, by the client's adversary as it trained and by one
    /// that is fitted to the client's representations of its own examples, which no longer change.
    /// Nothing for data without protected attributes.
    pub fn adversary(&self) -> Result<Vec<AttributeAuc>, ExperimentError> {
        let test = &self.data.test;
        let Some(column) = test.column(PROTECTED) else {
            return Ok(vec![]);
        };
        let attributes = column.features();
        let all: Vec<usize> = (0..test.len()).collect();
        let mut truth = vec![0.0; test.len() * attributes];
        column.gather_into(&all, &mut truth)?;
        let (mut along, mut fitted) = (vec![], vec![]);
        for (part, leaves) in self.owners()? {
            if leaves.iter().any(|(name, ..)| name.starts_with(ADVERSARY)) {
                along.push(self.found(&leaves)?);
            }
            fitted.push(self.found(&self.fitted(&part, &leaves)?)?);
        }
        let info = DatasetInfo::find(&self.data.name);
        let names = info.map(|info| info.protected).unwrap_or_default();
        let exposed = |a: usize| {
            let of = |values: &[f32]| -> Vec<f64> {
                let own = values.iter().skip(a).step_by(attributes);
                own.map(|v| f64::from(*v)).collect()
            };
            let positive: Vec<bool> = of(&truth).iter().map(|v| *v > 0.5).collect();
            let auc = |logits: &[Vec<f32>]| mean_auc(logits.iter().map(|z| of(z)), &positive);
            let name = names.get(a).map(ToString::to_string);
            Ok(AttributeAuc {
                attribute: name.unwrap_or_else(|| a.to_string()),
                along: auc(&along)?,
                auc: auc(&fitted)?,
                floor: roc_auc(&by_label(test.labels(), &positive), &positive).ok(),
            })
        };
        (0..attributes).map(exposed).collect()
    }

    /// Models with the examples of those whose they are: the clients' own, or the global one of all.
    fn owners(&self) -> Result<Vec<(Vec<usize>, Parameters)>, ExperimentError> {
        let parts = &self.simulation.dataset().client_indices;
        if !self.simulation.has_personal_models() {
            let all = parts.iter().flatten().copied().collect();
            return Ok(vec![(all, self.simulation.parameters()?)]);
        }
        let mut own = BTreeMap::new();
        self.simulation
            .visit_personal_models::<RunError>(|models| {
                for k in models.clients().filter(|k| *k < CLIENTS) {
                    let leaves = self.simulation.personal_parameters(models, k)?;
                    own.extend(leaves.map(|leaves| (k, (parts[k].clone(), leaves))));
                }
                Ok(())
            })?;
        Ok(own.into_values().collect())
    }

    /// A model with an adversary that is fitted to its representations of some examples.
    fn fitted(&self, part: &[usize], leaves: &Parameters) -> Result<Parameters, ExperimentError> {
        let own = leaves
            .iter()
            .filter(|(name, ..)| !name.starts_with(ADVERSARY));
        let own: Parameters = own.cloned().collect();
        let examples = self.examples(&self.simulation.dataset().examples)?;
        let mut fitted = self.simulate(&Expose::default(), examples, vec![part.to_vec()], None)?;
        copy_parameters(&mut fitted, &own)?;
        for _ in 0..ROUNDS {
            fitted.run_round()?;
        }
        Ok(fitted.parameters()?)
    }

    /// The logits of the attributes of the test set, by a model's adversary.
    fn found(&self, leaves: &Parameters) -> Result<Vec<f32>, ExperimentError> {
        let test = self.examples(&self.data.test)?;
        let all = vec![(0..test.len()).collect()];
        let mut outputs = self.outputs("expose", leaves, test, all, None)?;
        Ok(outputs.pop().unwrap_or_default())
    }
}

/// For each label, how frequent an attribute is among those who have it: the best score that is a function of
/// the label alone.
fn by_label(labels: &[u16], positive: &[bool]) -> Vec<f64> {
    let mut counts: BTreeMap<u16, (f64, f64)> = BTreeMap::new();
    for (label, positive) in labels.iter().zip(positive) {
        let (with, all) = counts.entry(*label).or_default();
        *with += f64::from(u8::from(*positive));
        *all += 1.0;
    }
    let score = |label| counts.get(label).map_or(0.0, |(with, all)| with / all);
    labels.iter().map(score).collect()
}

/// The mean of the AUCs of several scores; `None` of none, or where one is not finite.
fn mean_auc(
    scores: impl Iterator<Item = Vec<f64>>,
    positive: &[bool],
) -> Result<Option<f64>, MetricError> {
    let mut each = vec![];
    for scores in scores {
        if scores.iter().any(|z| !z.is_finite()) {
            return Ok(None);
        }
        each.push(roc_auc(&scores, positive)?);
    }
    Ok((!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_what_the_label_tells() {
        // Three of four with label 1 have the attribute, and one of four with label 0.
        let labels = [1, 1, 1, 1, 0, 0, 0, 0];
        let positive = [true, true, true, false, true, false, false, false];
        let auc = roc_auc(&by_label(&labels, &positive), &positive).unwrap();
        // ½ + |P(y = 1 | a = 1) − P(y = 1 | a = 0)| / 2.
        assert!((auc - 0.75).abs() < 1e-12, "{auc}");
        let none = [true, false, true, false, true, false, true, false];
        let auc = roc_auc(&by_label(&labels, &none), &none).unwrap();
        assert!((auc - 0.5).abs() < 1e-12, "{auc}");
    }
}
