//! Evaluates the clients' own models, which are here or at parties.

use fedround_models::{BASE, Leaf};
use fedround_simulation::parties::{PartyScore, PartyScores};
use fedround_simulation::{PersonalDifference, RunError, Simulation};

/// The clients' own models in an evaluation.
pub(super) struct OwnModels {
    /// Whether a client's model is another than the server's.
    pub differ: bool,
    /// Whether the server's model is a result of the training.
    pub server_trained: bool,
    /// Which of the model's tensors only clients train, in the model's order.
    pub by_clients: Vec<bool>,
    /// The accuracy of clients on their own test examples, by the client's number.
    pub tested: Vec<(usize, f64)>,
    /// For models of two classes: the area under the ROC curve of clients on their own test examples, where these have
    /// both classes. Parties do not tell it.
    pub aucs: Vec<(usize, f64)>,
    /// The accuracy on examples that they hold back from training, where parties told it.
    pub validation: Vec<(usize, f64)>,
    /// Clients whose models could not be evaluated.
    pub missing: Vec<usize>,
    pub at_parties: bool,
}

impl OwnModels {
    /// All clients use the server's model, which has these accuracies and areas on their examples.
    pub fn none(tested: Vec<(usize, f64)>, aucs: Vec<(usize, f64)>) -> Self {
        Self {
            differ: false,
            server_trained: true,
            by_clients: vec![],
            tested,
            aucs,
            validation: vec![],
            missing: vec![],
            at_parties: false,
        }
    }

    /// The models are here, differ so from the server's, and have these accuracies and areas.
    pub fn here(
        simulation: &Simulation,
        difference: &PersonalDifference,
        tested: Vec<(usize, f64)>,
        aucs: Vec<(usize, f64)>,
    ) -> Self {
        Self {
            differ: difference.any(),
            server_trained: server_trained(simulation, difference.by_clients()),
            by_clients: difference.by_clients().to_vec(),
            ..Self::none(tested, aucs)
        }
    }

    /// The models are at parties, which evaluated them.
    pub fn at_parties(simulation: &Simulation, scores: PartyScores) -> Result<Self, RunError> {
        let unchanged = simulation.unchanged_parameters()?;
        let by_clients = unchanged.iter().zip(&scores.own);
        let by_clients: Vec<bool> = by_clients.map(|(same, own)| *same && *own).collect();
        let of = |accuracy: fn(&PartyScore) -> Option<f64>| {
            let clients = scores.clients.iter();
            clients.filter_map(move |score| Some((score.client, accuracy(score)?)))
        };
        Ok(Self {
            differ: scores.own.contains(&true),
            server_trained: server_trained(simulation, &by_clients),
            by_clients,
            tested: of(|score| score.test).collect(),
            aucs: vec![],
            validation: of(|score| score.validation).collect(),
            missing: scores.missing,
            at_parties: true,
        })
    }
}

/// Whether the server has a trained model: no tensor of the model itself, auxiliary networks aside, is
/// trained by clients alone.
fn server_trained(simulation: &Simulation, by_clients: &[bool]) -> bool {
    let leaves = simulation.program().model().model().leaves();
    let is_base = |leaf: &Leaf| leaf.modules.iter().any(|module| module == BASE);
    // Without auxiliary networks there is nothing to tell the model from.
    let assembled = leaves.iter().any(is_base);
    let mut own = leaves.iter().zip(by_clients);
    !own.any(|(leaf, by_clients)| *by_clients && (!assembled || is_base(leaf)))
}

/// Whether a client is there after the last complete round: it is not the late one before its round. Of a
/// centralized algorithm, whose only client trains on the examples of all, each has its tests.
pub(super) fn has_joined(simulation: &Simulation, client: usize) -> bool {
    simulation.late_client() != Some(client) || client < simulation.clients()
}
