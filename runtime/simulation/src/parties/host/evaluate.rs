//! Evaluates the own models of a host's clients. Nothing of them leaves but numbers.

use std::sync::Arc;

use burn::tensor::DispatchTensor;
use fedround_data::Examples;
use fedround_dsl::PERSONAL_MODEL;
use fedround_exec::tensor::all_finite;
use fedround_passes::parties::Region;

use super::super::checksum::checksums;
use super::super::error::ContentError;
use super::super::message::{ClientScores, Committed, Entry, Evaluated, Reply, Run};
use super::super::payload::Payload;
use super::super::value_type::ValueType;
use super::super::values::Taking;
use super::run::shared;
use super::{HostError, PartyHost};
use crate::client::Outcome;
use crate::error::RunError;
use crate::state::ByClient;
use crate::value::RtVal;

/// Examples of a client that it does not train on.
#[derive(Clone, Default)]
pub struct HeldOut {
    /// Those on which it is tested.
    pub test: Option<Examples>,
    /// Those on which choices are made, such as that of the best round.
    pub validation: Option<Examples>,
}

impl PartyHost {
    /// Makes the models of a request's clients, and evaluates them. No state changes.
    pub(super) fn evaluate(
        &mut self,
        (run, server): (&Run, &[u64]),
        committed: Option<&Committed>,
        payload: &Payload,
    ) -> Result<Payload, HostError> {
        let none = || HostError::NoRegion {
            region: run.region,
            round: run.attempt.round,
        };
        if server.len() != self.simulation.initial().len() {
            return Err(none());
        }
        let region = self.region(run, self.personal.as_ref().ok_or_else(none)?)?;
        self.simulation.leave_out(run.left_out());
        let contexts = self
            .simulation
            .personal_contexts(None, run.attempt.round, run.most);
        let contexts = contexts.ok_or_else(none)?;
        let operands = self.server_model((run, server), &region, payload)?;
        let states = self.states_with(committed);
        let outcomes = self.outcomes(contexts, &states, (run, &region), &operands)?;
        let mut clients = vec![];
        for (i, outcome) in outcomes {
            let entry = *run.entries.get(i).ok_or_else(none)?;
            clients.push(self.score(entry, &outcome, (run, server))?);
        }
        let attempt = run.attempt;
        let evaluated = Evaluated { attempt, clients };
        Ok(Payload::new(&Reply::Evaluated(evaluated))?)
    }

    /// The states of clients once an attempt is kept.
    fn states_with(&self, committed: Option<&Committed>) -> ByClient {
        let mut states = self.simulation.client_states().clone();
        match committed.filter(|committed| self.attempt == Some(committed.attempt)) {
            Some(committed) => states.forget(&committed.without),
            // What another attempt set is not kept.
            None => states.forget(&self.clients),
        }
        states
    }

    /// What the code that makes the models is given: the server's model.
    fn server_model(
        &self,
        (run, server): (&Run, &[u64]),
        region: &Region,
        payload: &Payload,
    ) -> Result<Vec<RtVal>, HostError> {
        let ids: Arc<[usize]> = run.entries.iter().map(|entry| entry.client).collect();
        let program = self.simulation.personal_program();
        let program = program.unwrap_or(self.simulation.program());
        let program = program.at(run.scheduled);
        let initial = self.simulation.initial();
        let own = checksums(initial)?;
        let changed = own.iter().zip(server).map(|(own, now)| own != now);
        let changed: Vec<bool> = changed.collect();
        let mut taking = Taking::new(payload, program);
        let mut operands = vec![];
        for input in &region.inputs {
            if !shared(input) {
                let name = input.name.clone();
                return Err(ContentError::Missing { name }.into());
            }
            let what = (input.kind, changed.as_slice(), &ValueType::default());
            let value = taking.value(&input.name, what, |leaf| initial.get(leaf).cloned())?;
            operands.push(RtVal::Broadcast(Arc::clone(&ids), Box::new(value)));
        }
        taking.finish()?;
        Ok(operands)
    }

    /// How a client's model does.
    fn score(
        &self,
        entry: Entry,
        outcome: &Outcome,
        (run, server): (&Run, &[u64]),
    ) -> Result<ClientScores, HostError> {
        let mut scores = ClientScores {
            entry,
            own: None,
            test: None,
            validation: None,
        };
        let model = outcome.state.get(PERSONAL_MODEL);
        let model = model.ok_or(HostError::NoRegion {
            region: run.region,
            round: run.attempt.round,
        })?;
        if !all_finite(&outcome.losses).map_err(RunError::from)? {
            return Ok(scores);
        }
        let own = checksums(model)?;
        scores.own = Some(
            own.iter()
                .zip(server)
                .map(|(own, all)| own != all)
                .collect(),
        );
        if let Some(held_out) = self.held_out.get(&entry.client) {
            let round = run.attempt.round;
            scores.test = self.accuracy(model, held_out.test.as_ref(), round)?;
            scores.validation = self.accuracy(model, held_out.validation.as_ref(), round)?;
        }
        Ok(scores)
    }

    /// The bits of a model's accuracy on examples; `None` without any.
    fn accuracy(
        &self,
        model: &[DispatchTensor],
        examples: Option<&Examples>,
        round: usize,
    ) -> Result<Option<u64>, RunError> {
        let Some(examples) = examples else {
            return Ok(None);
        };
        let evaluated = self.simulation.evaluate_after(round, &[model], examples)?;
        let accuracy = Some(evaluated.accuracy).filter(|accuracy| !accuracy.is_nan());
        Ok(accuracy.map(f64::to_bits))
    }
}
