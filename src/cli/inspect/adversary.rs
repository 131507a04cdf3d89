//! What a new adversary finds in representations: LG-FedAvg, section 3.4.

use fedround_data::DatasetInfo;
use fedround_metrics::classification::roc_auc;
use serde::Serialize;

use super::Subject;
use super::models::{Leaves, failed, outputs, with_leaves};
use super::specs::{Expose, Outputs};
use crate::cli::error::CliError;

/// Clients whose own representations are looked into.
const CLIENTS: usize = 10;
/// Rounds of the adversary's training.
const ROUNDS: usize = 4;
/// The data's column, and the network that reads it.
const PROTECTED: &str = "protected";
const ADVERSARY: &str = "adversary.";

/// What an adversary finds of a protected attribute.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Exposed {
    pub attribute: String,
    /// The ROC AUC on the test set.
    pub auc: f64,
}

impl Subject<'_> {
    /// The ROC AUC on the test set of each protected attribute, the mean over clients with models of
    /// their own: an adversary is fitted to the client's representations of its own examples, which
    /// no longer change. Nothing for data without protected attributes.
    pub fn adversary(&self) -> Result<Vec<Exposed>, CliError> {
        let test = &self.data.test;
        let Some(column) = test.column(PROTECTED) else {
            return Ok(vec![]);
        };
        let attributes = column.features();
        let all: Vec<usize> = (0..test.len()).collect();
        let mut truth = vec![0.0; test.len() * attributes];
        column.gather_into(&all, &mut truth)?;
        let clients = self.models()?;
        let mut mean = vec![0.0; attributes];
        for (part, leaves) in &clients {
            let found = self.exposed(part, leaves)?;
            for (a, mean) in mean.iter_mut().enumerate() {
                let of = |values: &[f32]| -> Vec<f64> {
                    let own = values.iter().skip(a).step_by(attributes);
                    own.map(|v| f64::from(*v)).collect()
                };
                let positive: Vec<bool> = of(&truth).iter().map(|v| *v > 0.5).collect();
                *mean += roc_auc(&of(&found), &positive)? / clients.len() as f64;
            }
        }
        let names = DatasetInfo::find(&self.settings.data)?.protected();
        let exposed = |(i, auc): (usize, f64)| Exposed {
            attribute: names
                .get(i)
                .map_or_else(|| i.to_string(), ToString::to_string),
            auc,
        };
        Ok(mean.into_iter().enumerate().map(exposed).collect())
    }

    /// Models with the examples of those whose they are: the clients' own, or the global one of all.
    fn models(&self) -> Result<Vec<(Vec<usize>, Leaves)>, CliError> {
        let parts = &self.simulation.federation().parts;
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

    /// The logits of the attributes of the test set, by an adversary that is fitted to a model's
    /// representations of some examples.
    fn exposed(&self, part: &[usize], leaves: &Leaves) -> Result<Vec<f32>, CliError> {
        let own = leaves
            .iter()
            .filter(|(name, ..)| !name.starts_with(ADVERSARY));
        let own: Leaves = own.cloned().collect();
        let examples = self.examples(&self.simulation.federation().examples)?;
        let mut fitted = self.simulate(&Expose::default(), examples, vec![part.to_vec()], None)?;
        with_leaves(&mut fitted, &own);
        for _ in 0..ROUNDS {
            fitted.step().map_err(failed)?;
        }
        let function = Outputs {
            function: "expose".to_owned(),
        };
        let test = self.examples(&self.data.test)?;
        let all = vec![(0..test.len()).collect()];
        let mut looks = self.simulate(&function, test, all, None)?;
        with_leaves(&mut looks, &fitted.parameters());
        Ok(outputs(&mut looks)?.pop().unwrap_or_default())
    }
}
