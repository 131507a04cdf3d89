//! What adversaries find in representations: LG-FedAvg, section 3.4.

use std::path::Path;

use fedround_data::{Dataset, DatasetInfo};
use fedround_exec::Simulation;
use fedround_metrics::MetricError;
use fedround_metrics::classification::roc_auc;
use serde::{Deserialize, Serialize};

use super::Subject;
use super::models::{Leaves, failed, outputs, with_leaves};
use super::record::Record;
use super::specs::{Expose, Outputs};
use crate::Cli;
use crate::error::CliError;
use crate::settings::Settings;

/// Clients whose own representations are looked into.
const CLIENTS: usize = 10;
/// Rounds of the adversary's training.
const ROUNDS: usize = 4;
/// The data's column, and the network that reads it.
pub(crate) const PROTECTED: &str = "protected";
const ADVERSARY: &str = "adversary.";

/// What adversaries find of a protected attribute: ROC AUCs on the test set, the means over clients
/// with models of their own. `None` where one is not a number, as after steps that diverged.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Exposed {
    pub attribute: String,
    /// By the adversary that trained along with the model, where there is one.
    pub along: Option<f64>,
    /// By an adversary that was fitted afterwards.
    pub auc: Option<f64>,
}

/// The mean over attributes, where all have a number.
pub(crate) fn mean(exposed: &[Exposed], of: fn(&Exposed) -> Option<f64>) -> Option<f64> {
    let all: Option<Vec<f64>> = exposed.iter().map(of).collect();
    let all = all.filter(|all| !all.is_empty())?;
    Some(all.iter().sum::<f64>() / all.len() as f64)
}

/// What [`Subject::adversary`] finds in a run that nothing else was seen of.
pub(crate) fn exposed(
    cli: &Cli,
    settings: &Settings,
    data: &Dataset,
    simulation: &Simulation,
) -> Result<Vec<Exposed>, CliError> {
    let subject = Subject {
        cli,
        settings,
        data,
        simulation,
        record: &Record::default(),
        dir: Path::new(""),
    };
    subject.adversary()
}

impl Subject<'_> {
    /// What is found of each protected attribute, by the client's adversary as it trained and by one
    /// that is fitted to the client's representations of its own examples, which no longer change.
    /// Nothing for data without protected attributes.
    pub fn adversary(&self) -> Result<Vec<Exposed>, CliError> {
        let test = &self.data.test;
        let Some(column) = test.column(PROTECTED) else {
            return Ok(vec![]);
        };
        let attributes = column.features();
        let all: Vec<usize> = (0..test.len()).collect();
        let mut truth = vec![0.0; test.len() * attributes];
        column.gather_into(&all, &mut truth)?;
        let (mut along, mut fitted) = (vec![], vec![]);
        for (part, leaves) in self.models()? {
            if leaves.iter().any(|(name, ..)| name.starts_with(ADVERSARY)) {
                along.push(self.found(&leaves)?);
            }
            fitted.push(self.found(&self.fitted(&part, &leaves)?)?);
        }
        let names = DatasetInfo::find(&self.settings.data)?.protected;
        let exposed = |a: usize| {
            let of = |values: &[f32]| -> Vec<f64> {
                let own = values.iter().skip(a).step_by(attributes);
                own.map(|v| f64::from(*v)).collect()
            };
            let positive: Vec<bool> = of(&truth).iter().map(|v| *v > 0.5).collect();
            let auc = |logits: &[Vec<f32>]| mean_auc(logits.iter().map(|z| of(z)), &positive);
            let name = names.get(a).map(ToString::to_string);
            Ok(Exposed {
                attribute: name.unwrap_or_else(|| a.to_string()),
                along: auc(&along)?,
                auc: auc(&fitted)?,
            })
        };
        (0..attributes).map(exposed).collect()
    }

    /// Models with the examples of those whose they are: the clients' own, or the global one of all.
    fn models(&self) -> Result<Vec<(Vec<usize>, Leaves)>, CliError> {
        let parts = &self.simulation.dataset().client_indices;
        let Some(personal) = self.simulation.personal_models().map_err(failed)? else {
            let all = parts.iter().flatten().copied().collect();
            return Ok(vec![(all, self.simulation.parameters())]);
        };
        let of = parts.iter().enumerate().take(CLIENTS);
        let own = of.filter_map(|(k, part)| {
            let leaves = self.simulation.personal_parameters(&personal, k)?;
            Some((part.clone(), leaves))
        });
        Ok(own.collect())
    }

    /// A model with an adversary that is fitted to its representations of some examples.
    fn fitted(&self, part: &[usize], leaves: &Leaves) -> Result<Leaves, CliError> {
        let own = leaves
            .iter()
            .filter(|(name, ..)| !name.starts_with(ADVERSARY));
        let own: Leaves = own.cloned().collect();
        let examples = self.examples(&self.simulation.dataset().examples)?;
        let mut fitted = self.simulate(&Expose::default(), examples, vec![part.to_vec()], None)?;
        with_leaves(&mut fitted, &own);
        for _ in 0..ROUNDS {
            fitted.run_round().map_err(failed)?;
        }
        Ok(fitted.parameters())
    }

    /// The logits of the attributes of the test set, by a model's adversary.
    fn found(&self, leaves: &Leaves) -> Result<Vec<f32>, CliError> {
        let function = Outputs {
            function: "expose".to_owned(),
        };
        let test = self.examples(&self.data.test)?;
        let all = vec![(0..test.len()).collect()];
        let mut looks = self.simulate(&function, test, all, None)?;
        with_leaves(&mut looks, leaves);
        Ok(outputs(&mut looks)?.pop().unwrap_or_default())
    }
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
