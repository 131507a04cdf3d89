//! Evaluates the clients' personal models at parties.

use std::collections::{BTreeSet, HashMap};

use burn::tensor::DispatchTensor;
use fedround_ir::fed::Value;

use super::super::checksum::checksums;
use super::super::message::{ClientScores, Reply};
use super::super::payload::Payload;
use super::super::transport::PartyError;
use super::{Coordinator, RegionCall};
use crate::client::ClientOutcome;
use crate::context::missing;
use crate::error::RunError;
use crate::regions::{ClientRunner, LostClients, MapJob, OutcomeSink};
use crate::value::RuntimeValue;

/// The scores of clients' personal models, as reported by their parties.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartyScores {
    /// The clients that were evaluated, in ascending order.
    pub clients: Vec<PartyScore>,
    /// The clients that were not evaluated, in ascending order: their parties are offline, late or failed, or their
    /// models diverged.
    pub missing: Vec<usize>,
    /// For each parameter, in the model's order, whether it differs from the server's in any client's model.
    pub own: Vec<bool>,
}

/// The score of a client's personal model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartyScore {
    /// The client's number.
    pub client: usize,
    /// The accuracy on the client's test examples; `None` without any.
    pub test: Option<f64>,
    /// The accuracy on the client's validation examples; `None` without any.
    pub validation: Option<f64>,
}

/// The server's model, as requests to evaluate describe it.
pub(crate) struct ServerModel {
    /// A checksum of each parameter.
    pub checksums: Vec<u64>,
    /// For each parameter, whether it differs from the initial model, which hosts have. Of the model, only such parameters
    /// are sent.
    pub changed: Vec<bool>,
}

impl ServerModel {
    /// Describes these parameters. `unchanged` says which of them have their initial values.
    pub fn new(now: &[DispatchTensor], unchanged: &[bool]) -> Result<Self, RunError> {
        Ok(Self {
            checksums: checksums(now)?,
            changed: unchanged.iter().map(|unchanged| !unchanged).collect(),
        })
    }
}

/// Evaluates clients' personal models at parties. It stands in for the runner of client code in a round of the
/// program that makes the models.
pub(crate) struct EvaluateAtParties<'a> {
    coordinator: &'a mut Coordinator,
    server: &'a ServerModel,
    scores: PartyScores,
}

impl<'a> EvaluateAtParties<'a> {
    pub fn new(coordinator: &'a mut Coordinator, server: &'a ServerModel) -> Self {
        let scores = PartyScores {
            own: vec![false; server.checksums.len()],
            ..PartyScores::default()
        };
        Self {
            coordinator,
            server,
            scores,
        }
    }

    /// Ends the evaluation, of `clients` clients in all.
    pub fn finish(self, clients: usize) -> PartyScores {
        let mut scores = self.scores;
        scores.clients.sort_by_key(|score| score.client);
        let evaluated = scores.clients.iter().map(|score| score.client);
        let evaluated: BTreeSet<usize> = evaluated.collect();
        scores.missing = (0..clients).filter(|k| !evaluated.contains(k)).collect();
        scores
    }
}

impl PartyScores {
    /// Adds the scores of a client.
    fn add(&mut self, scores: &ClientScores) -> Result<(), PartyError> {
        let Some(differs) = &scores.own else {
            return Ok(());
        };
        if differs.len() != self.own.len() {
            let (expected, found) = (self.own.len(), differs.len());
            let what = format!("expected {expected} parameters of a client, found {found}");
            return Err(PartyError::Failed(what));
        }
        let score = PartyScore {
            client: scores.entry.client,
            test: accuracy(scores.test)?,
            validation: accuracy(scores.validation)?,
        };
        self.clients.push(score);
        let parameters = self.own.iter_mut().zip(differs);
        parameters.for_each(|(any, differs)| *any |= differs);
        Ok(())
    }
}

/// Reads an accuracy. One outside its range would spoil the mean over all parties.
fn accuracy(bits: Option<u64>) -> Result<Option<f64>, PartyError> {
    match bits.map(f64::from_bits) {
        Some(found) if !(0.0..=1.0).contains(&found) => {
            let what = format!("expected an accuracy from 0 to 1, found {found}");
            Err(PartyError::Failed(what))
        }
        accuracy => Ok(accuracy),
    }
}

impl ClientRunner for EvaluateAtParties<'_> {
    fn run(&mut self, job: &MapJob<'_>, sink: OutcomeSink<'_>) -> Result<LostClients, RunError> {
        let coordinator = &mut *self.coordinator;
        let table = coordinator.personal_table.as_ref();
        let table = table.ok_or_else(|| missing(job.op, "model of each client"))?;
        let (index, region) = table.of_job(coordinator.phase, job)?;
        let call = RegionCall {
            index,
            region: &region.clone(),
            job,
            server: Some(self.server),
        };
        let scores = &mut self.scores;
        coordinator.send_requests(&call, |coordinator, positions, reply| {
            // A copy, so that a reply with an error adds the scores of none of its clients.
            let mut with_reply = scores.clone();
            let of_clients = coordinator.scores_of_reply(&call, positions, reply)?;
            of_clients
                .iter()
                .try_for_each(|of_client| with_reply.add(of_client))?;
            *scores = with_reply;
            Ok(())
        })?;
        // The round has no results besides the scores, so every client gets an empty outcome.
        for i in 0..job.ids.len() {
            let empty = ClientOutcome {
                yields: vec![RuntimeValue::AtParty; job.body.yields.len()],
                encoded: HashMap::new(),
                sums: vec![],
                losses: vec![],
                steps: 0,
                state: HashMap::new(),
                finite: true,
            };
            sink(i, empty)?;
        }
        Ok(LostClients::default())
    }

    fn is_available(&self, client: usize) -> bool {
        self.coordinator.is_available(client)
    }

    fn forget_delivered(&mut self, values: &[Value]) {
        self.coordinator.forget_delivered(values);
    }
}

impl Coordinator {
    /// Reads a host's reply: the scores of the clients at some positions of the cohort.
    fn scores_of_reply(
        &self,
        call: &RegionCall<'_>,
        positions: &[usize],
        payload: &Payload,
    ) -> Result<Vec<ClientScores>, PartyError> {
        let failed = |message: String| PartyError::Failed(message);
        let reply: Reply = payload.read().map_err(|error| failed(error.to_string()))?;
        let evaluated = match reply {
            Reply::Evaluated(evaluated) => evaluated,
            Reply::Failed(message) => return Err(failed(message)),
            Reply::Done(_) => return Err(failed("the reply has no scores".to_owned())),
        };
        let entries = evaluated.clients.iter().map(|scores| scores.entry);
        let expected = positions.iter().map(|&i| call.entry(i));
        if evaluated.attempt != self.attempt || !entries.eq(expected) {
            return Err(failed("the reply is to another request".to_owned()));
        }
        Ok(evaluated.clients)
    }
}
