//! Evaluates the personal models of a host's clients. Only scores leave the host.

use std::collections::BTreeMap;
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
use super::super::table::is_round_argument;
use super::super::value_type::ValueType;
use super::super::values::PayloadReader;
use super::run::{is_shared, repeated};
use super::{HostError, PartyHost};
use crate::client::ClientOutcome;
use crate::error::RunError;
use crate::state::PerClientStates;
use crate::value::RuntimeValue;

/// Examples of a client on which it does not train.
#[derive(Clone, Default)]
pub struct HeldOut {
    /// Test examples; `None` without any.
    pub test: Option<Examples>,
    /// Validation examples, by which choices are made, such as of the best round; `None` without any.
    pub validation: Option<Examples>,
}

impl PartyHost {
    /// Adds examples on which clients do not train. With them the coordinator can let the clients' personal models be
    /// evaluated.
    #[must_use]
    pub fn with_held_out(mut self, examples: BTreeMap<usize, HeldOut>) -> Self {
        self.held_out = examples;
        self
    }

    /// Makes the personal models of a request's clients, and evaluates them. No state changes.
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
        if server.len() != self.simulation.params().len() {
            return Err(none());
        }
        let region = self.region(run, self.personal_table.as_ref().ok_or_else(none)?)?;
        self.simulation.set_left_out_rounds(run.left_out());
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

    /// The states that clients have once an attempt is committed.
    fn states_with(&self, committed: Option<&Committed>) -> PerClientStates {
        let mut states = self.simulation.client_states().clone();
        match committed.filter(|committed| self.attempt == Some(committed.attempt)) {
            Some(committed) => states.discard_pending(&committed.without),
            // The states of any other attempt are discarded.
            None => states.discard_pending(&self.clients),
        }
        states
    }

    /// The input of the code that makes the models: the server's model.
    fn server_model(
        &self,
        (run, server): (&Run, &[u64]),
        region: &Region,
        payload: &Payload,
    ) -> Result<Vec<RuntimeValue>, HostError> {
        let ids: Arc<[usize]> = run.entries.iter().map(|entry| entry.client).collect();
        let program = self.simulation.personal_program();
        let program = program.unwrap_or(self.simulation.program());
        let program = program.at(run.scheduled);
        let initial = self.simulation.params();
        let initial_checksums = checksums(initial)?;
        let changed = initial_checksums.iter().zip(server);
        let changed = changed.map(|(initial, now)| initial != now);
        let changed: Vec<bool> = changed.collect();
        let all = vec![true; changed.len()];
        let mut reader = PayloadReader::new(payload, program);
        let mut operands: Vec<RuntimeValue> = vec![];
        for (i, input) in region.inputs.iter().enumerate() {
            if let Some(first) = repeated(region, i, &operands) {
                operands.push(first);
                continue;
            }
            if !is_shared(input) {
                let name = input.name.clone();
                return Err(ContentError::Missing { name }.into());
            }
            let sent_leaves = match is_round_argument(program, input.value) {
                true => changed.as_slice(),
                false => all.as_slice(),
            };
            let what = (input.kind, sent_leaves, &ValueType::default());
            let value = reader.value(&input.name, what, |leaf| initial.get(leaf).cloned())?;
            operands.push(RuntimeValue::Broadcast(Arc::clone(&ids), Box::new(value)));
        }
        reader.finish()?;
        Ok(operands)
    }

    /// The scores of a client's model.
    fn score(
        &self,
        entry: Entry,
        outcome: &ClientOutcome,
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
        let parameters = checksums(model)?;
        let parameters = parameters.iter().zip(server);
        scores.own = Some(parameters.map(|(own, server)| own != server).collect());
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
