//! A party that trains for a ServerApp of Flower, such as one with its strategy FedAvg.

use std::error::Error;
use std::time::Duration;

use fedround_data::Examples;
use fedround_flower::{self as flower, Delivery, FlowerError, Party, Request};
use fedround_simulation::parties::{
    ExchangeError, HostError, ModelExchange, NoExchange, PartyHost, TrainedModel,
};
use fedround_simulation::{RunError, Simulation};

use super::convention::{self, EVAL_ACCURACY, EVAL_LOSS, EVALUATE, TRAIN, TRAIN_LOSS};
use super::error::MessageError;
use super::local_sgd::{LocalSgd, NotLocalSgd};
use super::participant::Answer;
use super::state_dict::{StateDict, StateDictError};

/// Why a party cannot train for a ServerApp, or a request was not carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerAppError {
    /// Clients do something that Flower's convention has no words for.
    #[error("the program is none for a ServerApp of Flower: {0}")]
    Work(#[from] NotLocalSgd),
    /// Rounds have other messages.
    #[error("the program is none for a ServerApp of Flower: {0}")]
    Exchange(#[from] NoExchange),
    /// There are no such clients.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A program with the settings of a request cannot be compiled, or they are out of range.
    #[error("settings of the request: {0}")]
    Settings(Box<dyn Error>),
    /// A program was compiled with other settings.
    #[error("the settings {expected:?} cannot be set, found {found:?}")]
    OtherSettings {
        /// The settings of the request.
        expected: LocalSgd,
        /// The settings of the program.
        found: LocalSgd,
    },
    /// There is nothing to train or to evaluate on.
    #[error("expected at least one {kind} example at this party, found none")]
    NoExamples {
        /// Which.
        kind: &'static str,
    },
    /// Training ended in infinite or undefined numbers.
    #[error("the trained model is not finite; a smaller learning rate may help")]
    NotFinite,
    /// The arrays are not the model's.
    #[error(transparent)]
    StateDict(#[from] StateDictError),
    /// The message is none of a strategy.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// Clients could not train.
    #[error(transparent)]
    Train(#[from] ExchangeError),
    /// The model could not be evaluated.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A request is of another type.
    #[error("expected a message of type `train` or `evaluate`, found `{found}`")]
    Kind {
        /// Its type.
        found: String,
    },
}

/// Compiles the party's program: as its operator configured it, or with some settings changed.
pub type Compile<'a> =
    Box<dyn FnMut(Option<&LocalSgd>) -> Result<Simulation, Box<dyn Error>> + Send + 'a>;

/// Trains and evaluates models that a ServerApp sends, for the clients of a party. The party is one node of
/// Flower: it answers with the mean of its clients' models, weighted by their examples, and the number of
/// all their examples, so that FedAvg over nodes is FedAvg over clients.
pub struct AppTrainer<'a> {
    compile: Compile<'a>,
    clients: Vec<usize>,
    tests: Examples,
    /// As the operator configured it.
    configured: LocalSgd,
    /// As the clients of `host` train.
    work: LocalSgd,
    host: PartyHost,
    exchange: ModelExchange,
    layout: StateDict,
    /// Evaluates; compiled when it is first needed.
    evaluator: Option<Simulation>,
    requests: u64,
}

impl<'a> AppTrainer<'a> {
    /// For these clients, and test examples of the party.
    ///
    /// # Errors
    ///
    /// The program is none for a ServerApp, or there are no such clients or no examples.
    pub fn new(
        clients: Vec<usize>,
        tests: Examples,
        mut compile: Compile<'a>,
    ) -> Result<Self, ServerAppError> {
        let simulation = compile(None).map_err(ServerAppError::Settings)?;
        let program = simulation.program();
        let work = LocalSgd::of(program)?;
        let (exchange, layout) = (ModelExchange::of(program)?, StateDict::of(program));
        let examples = &simulation.dataset().client_indices;
        let of_client = |client: &usize| examples.get(*client).is_some_and(|own| !own.is_empty());
        if !clients.iter().all(of_client) {
            return Err(ServerAppError::NoExamples { kind: "training" });
        }
        let host = PartyHost::new(simulation, clients.clone())?;
        Ok(Self {
            compile,
            clients,
            tests,
            configured: work,
            work,
            host,
            exchange,
            layout,
            evaluator: None,
            requests: 0,
        })
    }

    /// The reply to a request of this type.
    ///
    /// # Errors
    ///
    /// See [`ServerAppError`].
    pub fn answer(
        &mut self,
        kind: &str,
        content: &flower::Payload,
    ) -> Result<flower::Payload, ServerAppError> {
        match kind {
            TRAIN => self.train(content),
            EVALUATE => self.evaluate(content),
            found => Err(ServerAppError::Kind {
                found: found.to_owned(),
            }),
        }
    }

    fn train(&mut self, content: &flower::Payload) -> Result<flower::Payload, ServerAppError> {
        let received = convention::arrays(content)?;
        let model = self.layout.model(received)?;
        self.set(convention::work(content, self.configured)?)?;
        self.requests += 1;
        let counted = usize::try_from(self.requests).unwrap_or(1);
        let round = convention::round(content).unwrap_or(counted);
        let at = (self.requests, round);
        let trained = self.exchange.train(&mut self.host, at, &model)?;
        let (mean, loss, examples) = mean(&trained);
        if !loss.is_finite() || !mean.iter().flatten().all(|x| x.is_finite()) {
            return Err(ServerAppError::NotFinite);
        }
        let mut arrays = self.layout.arrays(&mean)?;
        arrays.extend(StateDict::counters(received));
        let metrics = [(TRAIN_LOSS, loss)];
        Ok(convention::reply(Some(arrays), examples, metrics))
    }

    fn evaluate(&mut self, content: &flower::Payload) -> Result<flower::Payload, ServerAppError> {
        let model = self.layout.model(convention::arrays(content)?)?;
        if self.tests.is_empty() {
            return Err(ServerAppError::NoExamples { kind: "test" });
        }
        let evaluator = match self.evaluator.take() {
            Some(made) => made,
            None => (self.compile)(None).map_err(ServerAppError::Settings)?,
        };
        let evaluator = self.evaluator.insert(evaluator);
        // The model has the shapes of the layout.
        let _ = evaluator.set_parameters(model);
        let tested = evaluator.evaluate(&self.tests)?;
        let metrics = [(EVAL_LOSS, tested.loss), (EVAL_ACCURACY, tested.accuracy)];
        let examples = self.tests.len() as u64;
        Ok(convention::reply(None, examples, metrics))
    }

    /// Trains with these settings from now on.
    fn set(&mut self, work: LocalSgd) -> Result<(), ServerAppError> {
        if work == self.work {
            return Ok(());
        }
        let simulation = (self.compile)(Some(&work)).map_err(ServerAppError::Settings)?;
        let found = LocalSgd::of(simulation.program())?;
        if !found.is_nearly(&work) {
            let expected = work;
            return Err(ServerAppError::OtherSettings { expected, found });
        }
        self.host = PartyHost::new(simulation, self.clients.clone())?;
        self.work = work;
        Ok(())
    }
}

/// The mean of clients' models and losses, weighted by their examples, and the number of examples.
fn mean(trained: &[TrainedModel]) -> (Vec<Vec<f32>>, f64, u64) {
    let all: f64 = trained.iter().map(|client| client.examples).sum();
    let mut sums: Vec<Vec<f64>> = vec![];
    let mut loss = 0.0;
    for client in trained {
        let weight = client.examples / all;
        let losses = client.losses.iter().map(|x| f64::from(*x));
        loss += weight * losses.sum::<f64>() / client.losses.len() as f64;
        let zeros = || client.model.iter().map(|leaf| vec![0.0; leaf.len()]);
        if sums.is_empty() {
            sums = zeros().collect();
        }
        for (sum, leaf) in sums.iter_mut().zip(&client.model) {
            let values = sum.iter_mut().zip(leaf);
            values.for_each(|(sum, x)| *sum += weight * f64::from(*x));
        }
    }
    #[allow(clippy::cast_possible_truncation, reason = "models are of 32 bits")]
    let narrow = |leaf: Vec<f64>| leaf.into_iter().map(|x| x as f32).collect();
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a sum of counts"
    )]
    let examples = all as u64;
    (sums.into_iter().map(narrow).collect(), loss, examples)
}

/// A process that answers a ServerApp through a SuperLink.
pub struct AppParty<'a> {
    party: Party,
    trainer: AppTrainer<'a>,
}

impl<'a> AppParty<'a> {
    /// A party that is online, with what trains.
    pub fn new(party: Party, trainer: AppTrainer<'a>) -> Self {
        Self { party, trainer }
    }

    /// Answers the next request, if one comes in this time.
    ///
    /// # Errors
    ///
    /// The SuperLink cannot be reached, or does not accept this party any more. Bad messages are no errors.
    pub fn answer_next(&mut self, time: Duration) -> Result<Option<Answer>, FlowerError> {
        match self.party.wait(time) {
            Ok(Some(request)) => self.answer(&request).map(Some),
            Ok(None) => Ok(None),
            Err(FlowerError::Object(error)) => Ok(Some(Answer::Refused(error.to_string()))),
            Err(error) => Err(error),
        }
    }

    fn answer(&mut self, request: &Request) -> Result<Answer, FlowerError> {
        match self.trainer.answer(&request.kind, &request.payload) {
            Ok(reply) => Ok(match self.party.reply(request, &reply)? {
                Delivery::Sent => Answer::Replied,
                Delivery::TooLate => Answer::TooLate,
            }),
            Err(error) => {
                let why = error.to_string();
                self.party.fail(request, &why)?;
                Ok(Answer::Refused(why))
            }
        }
    }

    /// Waits until the ServerApp has the last replies, and goes offline. Gives how many it has not.
    ///
    /// # Errors
    ///
    /// The SuperLink cannot be reached.
    pub fn leave(self) -> Result<usize, FlowerError> {
        self.party.leave()
    }
}
