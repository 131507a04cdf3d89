//! The clients' own models, which are evaluated where they are.

use std::collections::{BTreeSet, HashMap};

use burn::tensor::DispatchTensor;
use fedround_ir::fed::Value;

use super::super::checksum::checksums;
use super::super::message::{ClientScores, Reply};
use super::super::payload::Payload;
use super::super::transport::PartyError;
use super::{Asked, Remote};
use crate::client::Outcome;
use crate::context::missing;
use crate::error::RunError;
use crate::regions::{Job, Lost, RunRegion, Take};
use crate::value::RtVal;

/// How clients' own models do, as their parties told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartyScores {
    /// The clients that were evaluated, in ascending order.
    pub clients: Vec<PartyScore>,
    /// The others, in ascending order: those of parties that are offline, late or failed, and those whose
    /// models diverged.
    pub missing: Vec<usize>,
    /// Which parameters of the model any client has of its own, in the model's order.
    pub own: Vec<bool>,
}

/// How a client's own model does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartyScore {
    /// The client.
    pub client: usize,
    /// Its accuracy on the client's own test examples; `None` without any.
    pub test: Option<f64>,
    /// The same of the examples that it holds back from training.
    pub validation: Option<f64>,
}

/// What hosts are told of the server's model beside its values.
pub(crate) struct ServerModel {
    /// Of its parameters.
    pub checksums: Vec<u64>,
    /// Which of them are not those of the initial model, which hosts have. Only these are sent.
    pub changed: Vec<bool>,
}

impl ServerModel {
    pub fn new(now: &[DispatchTensor], initial: &[DispatchTensor]) -> Result<Self, RunError> {
        let (checksums, initial) = (checksums(now)?, checksums(initial)?);
        let changed = checksums.iter().zip(&initial);
        Ok(Self {
            changed: changed.map(|(now, initial)| now != initial).collect(),
            checksums,
        })
    }
}

/// Evaluates clients' own models at parties, in place of the code that makes the models here.
pub(crate) struct EvaluateAtParties<'a> {
    remote: &'a mut Remote,
    server: &'a ServerModel,
    scores: PartyScores,
}

impl<'a> EvaluateAtParties<'a> {
    pub fn new(remote: &'a mut Remote, server: &'a ServerModel) -> Self {
        let scores = PartyScores {
            own: vec![false; server.checksums.len()],
            ..PartyScores::default()
        };
        Self {
            remote,
            server,
            scores,
        }
    }

    /// The scores of so many clients.
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
    fn take(&mut self, told: &ClientScores) -> Result<(), PartyError> {
        let Some(own) = &told.own else {
            return Ok(());
        };
        if own.len() != self.own.len() {
            let (expected, found) = (self.own.len(), own.len());
            let what = format!("expected {expected} parameters of a client, found {found}");
            return Err(PartyError::Failed(what));
        }
        let score = PartyScore {
            client: told.entry.client,
            test: accuracy(told.test)?,
            validation: accuracy(told.validation)?,
        };
        self.clients.push(score);
        let all = self.own.iter_mut().zip(own);
        all.for_each(|(any, own)| *any |= own);
        Ok(())
    }
}

/// One party's number must not spoil the mean of all.
fn accuracy(bits: Option<u64>) -> Result<Option<f64>, PartyError> {
    match bits.map(f64::from_bits) {
        Some(found) if !(0.0..=1.0).contains(&found) => {
            let what = format!("expected an accuracy from 0 to 1, found {found}");
            Err(PartyError::Failed(what))
        }
        accuracy => Ok(accuracy),
    }
}

impl RunRegion for EvaluateAtParties<'_> {
    fn run(&mut self, job: &Job<'_>, take: Take<'_>) -> Result<Lost, RunError> {
        let remote = &mut *self.remote;
        let table = remote.personal.as_ref();
        let table = table.ok_or_else(|| missing(job.op, "model of each client"))?;
        let (index, region) = table.of_job(remote.phase, job)?;
        let asked = Asked {
            index,
            region: &region.clone(),
            job,
            server: Some(self.server),
        };
        let scores = &mut self.scores;
        remote.ask(&asked, |remote, places, reply| {
            // All of a host's clients, or none.
            let mut with = scores.clone();
            let told = remote.told(&asked, places, reply)?;
            told.iter().try_for_each(|told| with.take(told))?;
            *scores = with;
            Ok(())
        })?;
        // Nothing of a client is read here.
        for i in 0..job.ids.len() {
            let nothing = Outcome {
                yields: vec![RtVal::Held; job.body.yields.len()],
                encoded: HashMap::new(),
                sums: vec![],
                losses: vec![],
                steps: 0,
                state: HashMap::new(),
                finite: true,
            };
            take(i, nothing)?;
        }
        Ok(Lost::default())
    }

    fn is_there(&self, client: usize) -> bool {
        self.remote.is_there(client)
    }

    fn renew(&mut self, values: &[Value]) {
        self.remote.renew(values);
    }
}

impl Remote {
    /// What a reply tells of the clients at some places of the cohort.
    fn told(
        &self,
        asked: &Asked<'_>,
        places: &[usize],
        payload: &Payload,
    ) -> Result<Vec<ClientScores>, PartyError> {
        let failed = |message: String| PartyError::Failed(message);
        let reply: Reply = payload.read().map_err(|error| failed(error.to_string()))?;
        let evaluated = match reply {
            Reply::Evaluated(evaluated) => evaluated,
            Reply::Failed(message) => return Err(failed(message)),
            Reply::Done(_) => return Err(failed("the reply has no scores".to_owned())),
        };
        let told = evaluated.clients.iter().map(|told| told.entry);
        let expected = places.iter().map(|&i| asked.entry(i));
        if evaluated.attempt != self.attempt || !told.eq(expected) {
            return Err(failed("the reply is to another request".to_owned()));
        }
        Ok(evaluated.clients)
    }
}
