//! How models do on the test set.

use std::collections::BTreeMap;

use fedround_metrics::clients::ClientSummary;
use serde::{Deserialize, Serialize};

use super::client_scores::ClientScores;

/// How models do on the test set.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Scores {
    /// Whether clients use models of their own: the algorithm's hook `personalize` gives others than
    /// the server's. LG-FedAvg has none of them in its first phase.
    pub personal: bool,
    /// Whether the server's model is a result of the training. Where clients keep parts of it, the
    /// server's values of these are what they began as, and the numbers of its model say nothing.
    pub server_trained: bool,
    /// The mean cross-entropy of the server's model for an example, or a word, in nats.
    pub loss: f64,
    /// The fraction of examples, or words, that the server's model gets right.
    pub accuracy: f64,
    /// The same of each class; NaN for a class without test examples.
    pub class_accuracy: Vec<f64>,
    /// The accuracy of clients on their own test examples, with their own models where they have
    /// some, without the late client; `None` where no client has test examples.
    pub local: Option<ClientSummary>,
    /// As `local`, of the algorithm's evaluations with a name, by that name.
    #[serde(default)]
    pub evaluations: BTreeMap<String, ClientSummary>,
    /// The scores of each client and each domain, if they were asked for.
    #[serde(default)]
    pub each: Option<ClientScores>,
    /// If there are two classes: the area under the ROC curve of the second one for the server's model on the test
    /// set. `None` where the test set has one class, or where outputs are not finite.
    #[serde(default)]
    pub auc: Option<f64>,
    /// The same of clients on their own test examples, as `local` is of accuracies; without clients that have tests of
    /// one class.
    #[serde(default)]
    pub local_auc: Option<ClientSummary>,
    /// The late client's, once it has joined.
    pub late_client: Option<f64>,
    /// BLEU-1 to BLEU-4, of models that describe images.
    pub bleu: Option<[f64; 4]>,
    /// For models that answer questions: the accuracy over all test questions, as VQA counts it.
    /// Questions that no class answers are wrong.
    pub vqa_accuracy: Option<f64>,
    /// For models of next characters: `e` to the power of their mean cross-entropy in nats.
    #[serde(default)]
    pub perplexity: Option<f64>,
    /// Clients whose own models could not be evaluated, because their party was away or failed.
    #[serde(default)]
    pub missing: Vec<usize>,
    /// Which of the model's tensors only clients train, in the model's order: the server's values of them
    /// are no result of the training. Empty if all clients use the server's model.
    #[serde(default)]
    pub by_clients: Vec<bool>,
}

impl Scores {
    /// The accuracy of what the algorithm trains: the mean over clients of their own models on their own
    /// test examples, or that of the server's model on the test set where all use it, or where no client has
    /// test examples. `None` where neither is known: nobody trained all of the server's model, or there are
    /// no test examples.
    pub fn headline(&self) -> Option<f64> {
        match &self.local {
            Some(local) if self.personal => Some(local.mean),
            _ => Some(self.accuracy).filter(|own| self.server_trained && !own.is_nan()),
        }
    }

    /// Whether the headline is the clients', or would be if one of them had test examples: there is no
    /// trained model of the server then.
    pub fn is_of_clients(&self) -> bool {
        self.personal && (self.local.is_some() || !self.server_trained)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of the server's model, which has 0.25, and of clients' own models, which have 0.75 where clients
    /// have test examples.
    fn scores(personal: bool, server_trained: bool, tested: bool) -> Scores {
        let local = ClientSummary::of(&[0.75]).ok().filter(|_| tested);
        Scores {
            personal,
            server_trained,
            loss: 1.0,
            accuracy: 0.25,
            class_accuracy: vec![],
            local,
            evaluations: BTreeMap::new(),
            each: None,
            auc: None,
            local_auc: None,
            late_client: None,
            bleu: None,
            vqa_accuracy: None,
            perplexity: None,
            missing: vec![],
            by_clients: vec![],
        }
    }

    #[test]
    fn the_headline_is_of_a_model_that_was_trained() {
        let of = |scores: Scores| (scores.headline(), scores.is_of_clients());
        assert_eq!(of(scores(false, true, true)), (Some(0.25), false));
        assert_eq!(of(scores(true, true, true)), (Some(0.75), true));
        assert_eq!(of(scores(true, false, true)), (Some(0.75), true));
        // Nothing tests the clients' models.
        assert_eq!(of(scores(true, true, false)), (Some(0.25), false));
        assert_eq!(of(scores(true, false, false)), (None, true));
        // Nothing tests the server's.
        let untested = Scores {
            accuracy: f64::NAN,
            ..scores(false, true, false)
        };
        assert_eq!(of(untested), (None, false));
    }
}
