//! Clients that are apps of Flower, such as those of PyTorch: a coordinator's requests to train in Flower's
//! convention, and their replies as those of a party.

use std::collections::{BTreeSet, HashMap};

use fedround_flower::{self as flower, NodeId};
use fedround_simulation::Simulation;
use fedround_simulation::parties::{
    ExchangeError, ModelExchange, NoExchange, Payload, Ticket, TrainedModel,
};

use super::convention;
use super::error::MessageError;
use super::local_sgd::{LocalSgd, NotLocalSgd};
use super::state_dict::{StateDict, StateDictError};

/// More local steps than this are taken for a mistake.
const MOST_STEPS: u64 = 1 << 24;

/// Why apps of Flower cannot take part in a program. Nothing was sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientAppsError {
    /// Clients do something that the convention has no words for.
    #[error("apps of Flower cannot take part: {0}")]
    Work(#[from] NotLocalSgd),
    /// Rounds have other messages.
    #[error("apps of Flower cannot take part: {0}")]
    Exchange(#[from] NoExchange),
    /// Clients have models of their own, which apps do not make.
    #[error("apps of Flower cannot take part: clients of {algorithm} have models of their own")]
    Personal {
        /// The algorithm.
        algorithm: String,
    },
}

/// Why a request to an app, or its reply, is none.
#[derive(Debug, thiserror::Error)]
pub(super) enum TranslationError {
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    #[error(transparent)]
    StateDict(#[from] StateDictError),
    #[error(transparent)]
    Message(#[from] MessageError),
    #[error("a request to an app of Flower is for one client, found one for {found}")]
    Clients { found: usize },
    #[error("{examples} examples give {steps} local steps; at most {MOST_STEPS} are allowed")]
    Steps { examples: u64, steps: u64 },
    #[error("the reply is to a request that was not sent")]
    Unasked,
}

/// Speaks with clients that are apps of Flower, for a program whose clients train as such apps do.
///
/// An app is sent the records `arrays`, with names and layouts of a `state_dict`, and `config`, with
/// `server-round`, `lr`, `local-epochs`, `batch-size` and, in FedProx, `proximal-mu`. It replies `arrays` of
/// the same names and shapes, and `metrics` with `num-examples` and `train-loss`, the mean of its steps'
/// losses.
pub struct ClientApps {
    exchange: ModelExchange,
    layout: StateDict,
    work: LocalSgd,
    /// How many clients the federation has, which are numbered from 0.
    pub(super) clients: usize,
    /// The parties that are apps and online.
    pub(super) online: BTreeSet<NodeId>,
    /// The heads of requests to apps without replies.
    pub(super) open: HashMap<Ticket, Payload>,
}

impl ClientApps {
    /// For the program of a coordinator.
    ///
    /// # Errors
    ///
    /// Its clients do something else than plain SGD, or its rounds have other messages.
    pub fn of(simulation: &Simulation) -> Result<Self, ClientAppsError> {
        let program = simulation.program();
        if simulation.has_personal_models() {
            let algorithm = program.linked().name().to_owned();
            return Err(ClientAppsError::Personal { algorithm });
        }
        Ok(Self {
            work: LocalSgd::of(program)?,
            exchange: ModelExchange::of(program)?,
            layout: StateDict::of(program),
            clients: simulation.dataset().client_indices.len(),
            online: BTreeSet::new(),
            open: HashMap::new(),
        })
    }

    /// Whether a party is an app.
    pub(super) fn is_app(&self, id: NodeId) -> bool {
        self.online.contains(&id)
    }

    /// A request in Flower's convention.
    pub(super) fn request(&self, request: &Payload) -> Result<Translated, TranslationError> {
        let Some(asked) = self.exchange.asked(request)? else {
            return Ok(Translated::Reply(self.exchange.reply(request, &[])?));
        };
        if asked.clients.len() != 1 {
            let found = asked.clients.len();
            return Err(TranslationError::Clients { found });
        }
        let arrays = self.layout.arrays(&asked.model)?;
        let content = convention::request(arrays, asked.round, &self.work);
        Ok(Translated::Request(content))
    }

    /// Notes that a request was sent.
    pub(super) fn sent(&mut self, ticket: Ticket, request: &Payload) {
        let head = Payload {
            head: request.head.clone(),
            ..Payload::default()
        };
        self.open.insert(ticket, head);
    }

    /// An app's reply as that of a party.
    pub(super) fn reply(
        &mut self,
        ticket: Ticket,
        content: &flower::Payload,
    ) -> Result<Payload, TranslationError> {
        let request = self.open.remove(&ticket).ok_or(TranslationError::Unasked)?;
        let model = self.layout.model(convention::arrays(content)?)?;
        let examples = convention::examples(content)?;
        let loss = convention::metric(content, convention::TRAIN_LOSS)?;
        let batches = examples.div_ceil(self.work.batch as u64);
        let steps = batches.saturating_mul(self.work.epochs as u64);
        if steps > MOST_STEPS {
            return Err(TranslationError::Steps { examples, steps });
        }
        #[allow(clippy::cast_possible_truncation, reason = "a loss needs no more bits")]
        let loss = loss as f32;
        let steps = usize::try_from(steps).unwrap_or_default();
        let trained = TrainedModel {
            model,
            examples: examples as f64,
            // The mean of a round's losses counts every step.
            losses: vec![loss; steps],
        };
        Ok(self.exchange.reply(&request, &[trained])?)
    }
}

/// What becomes of a request to an app.
pub(super) enum Translated {
    /// It is sent.
    Request(flower::Payload),
    /// Nothing is sent: apps keep nothing that they would have to be told of.
    Reply(Payload),
}
