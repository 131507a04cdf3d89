//! A simulation as the coordinator of a federation, whose clients are at parties; and what a party's host reads and
//! changes of its own simulation.

use burn::tensor::DispatchTensor;
use fedround_exec::Program;
use fedround_exec::tensor::read;
use fedround_ir::fed::{Op, Place};

use super::Simulation;
use super::fingerprint::graph;
use super::parameters::hash;
use crate::error::RunError;
use crate::faults::Attendance;
use crate::parties::{
    Committed, Coordinator, EvaluateAtParties, Parties, PartyError, PartyScores, ServerModel,
};
use crate::round::{RoundInput, run_round};
use crate::state::{ClientState, PerClientStates};
use crate::workers::Workers;

impl Simulation {
    /// Runs client code at parties: the simulation becomes the coordinator of a federation. Its dataset has a list of
    /// examples for each client, which may be empty; the coordinator reads no client's examples.
    ///
    /// `session` distinguishes this coordinator from earlier ones of the federation. It must be larger than theirs; the
    /// time in seconds will do. Results do not depend on it.
    ///
    /// # Errors
    ///
    /// The program cannot run between a server and parties; nothing is sent then.
    pub fn with_parties(
        mut self,
        parties: Box<dyn Parties>,
        session: u64,
    ) -> Result<Self, RunError> {
        self.check_evaluations()?;
        let identity = (self.graph_hash()?, self.seed, session);
        let programs = (self.program(), self.personal_program());
        self.parties = Some(Coordinator::new(parties, programs, identity)?);
        Ok(self)
    }

    /// Whether client code runs at parties.
    pub fn has_parties(&self) -> bool {
        self.parties.is_some()
    }

    /// Fails if there is an evaluation that parties cannot make, because they have only the server's model and their
    /// clients' states.
    fn check_evaluations(&self) -> Result<(), RunError> {
        for evaluation in &self.main_device.evaluations {
            if let Some(name) = &evaluation.name {
                let name = name.clone();
                return Err(RunError::EvaluationAtParties { name });
            }
            let reads = |op: &&Op| {
                let state = op.kind.state();
                state.is_some_and(|state| state.place == Place::Server && !state.sets())
            };
            if let Some(op) = evaluation.program.linked().all_ops().find(reads) {
                return Err(RunError::ServerStateAtParties { loc: op.loc });
            }
        }
        Ok(())
    }

    /// Lets each host of several clients send sums over its clients in place of their values, where the server needs
    /// only the sums: `fedround graph SPEC --at parties` lists them. A host's upload then no longer grows with the
    /// number of its clients. Sums are computed in 64 bits and in another order than in a simulation, so that results
    /// may differ from a simulation's in the last digit. Observers of the server are not shown the values that are
    /// summed. Does nothing without parties.
    #[must_use]
    pub fn with_partial_sums(mut self, sums: bool) -> Self {
        if let Some(parties) = &mut self.parties {
            parties.set_sums(sums);
        }
        self
    }

    /// The hash of the program: the algorithm with its settings, the model and its local steps. A party only takes part
    /// in rounds of the same program as its own.
    ///
    /// # Errors
    ///
    /// A step cannot be compiled.
    pub fn graph_hash(&self) -> Result<String, RunError> {
        graph(self)
    }

    /// Tells the parties that the last round was committed, so that they commit the states that it set. The next round
    /// would tell them too, so this is needed only at the end of a run. Does nothing without parties.
    ///
    /// # Errors
    ///
    /// No party can be reached.
    pub fn settle_parties(&mut self) -> Result<(), RunError> {
        self.parties.as_mut().map_or(Ok(()), Coordinator::settle)
    }

    /// The clients of parties that failed in the last round, and why, in the order in which they were lost.
    pub fn party_failures(&self) -> &[(Vec<usize>, PartyError)] {
        self.parties.as_ref().map_or(&[], Coordinator::failures)
    }

    /// Whether clients have personal models: the algorithm has the hook `evaluate` or `personalize`.
    pub fn has_personal_models(&self) -> bool {
        !self.main_device.evaluations.is_empty()
    }

    /// Whether clients have personal models that are made and evaluated at parties.
    pub fn personal_models_are_at_parties(&self) -> bool {
        self.parties.is_some() && self.has_personal_models()
    }

    /// Lets the parties evaluate their clients' personal models as of the last complete round. `None` without
    /// parties, or if all clients use the global model. No state changes, here or at the parties.
    ///
    /// # Errors
    ///
    /// No party can be reached.
    pub fn evaluate_at_parties(&mut self) -> Result<Option<PartyScores>, RunError> {
        let Some(mut parties) = self.parties.take() else {
            return Ok(None);
        };
        let scores = self.request_scores(&mut parties);
        self.parties = Some(parties);
        scores
    }

    /// Runs a round of the program that makes the personal models, with the clients at the parties.
    fn request_scores(&self, parties: &mut Coordinator) -> Result<Option<PartyScores>, RunError> {
        let Some(devices) = self.personal_contexts(None, self.round, usize::MAX) else {
            return Ok(None);
        };
        let cx = devices[0];
        let phase = (self.program().phase_of(cx.scheduled).0, cx.scheduled);
        let clients = cx.clients();
        let server = ServerModel::new(&self.params, &self.unchanged_parameters()?)?;
        let (mut state, params) = (self.state.clone(), self.params.clone());
        let mut attendance = Attendance::default();
        let scores = self.guarded(|| {
            parties.begin(self.round, phase, (clients, self.cohort_batch()))?;
            let mut evaluation = EvaluateAtParties::new(parties, &server);
            let ran = run_round(RoundInput {
                devices: &[cx],
                workers: &self.workers,
                parties: Some(&mut evaluation),
                state: &mut state,
                params,
                observer: None,
                non_finite: None,
                attendance: &mut attendance,
            });
            match ran {
                // With too few clients, those without scores are listed as missing.
                Ok(_) | Err(RunError::TooFew { .. }) => Ok(evaluation.finish(clients)),
                Err(error) => Err(error),
            }
        })?;
        Ok(Some(scores))
    }

    /// For each parameter, in the model's order, whether it still has its initial value.
    ///
    /// # Errors
    ///
    /// The device that holds them has failed.
    pub fn unchanged_parameters(&self) -> Result<Vec<bool>, RunError> {
        let leaves = self.initial_hashes.iter().zip(&self.params);
        let unchanged = |(initial, now): (&u64, &DispatchTensor)| -> Result<bool, RunError> {
            Ok(*initial == hash(&read(now.clone())?))
        };
        leaves.map(unchanged).collect()
    }

    /// For each host, the last attempt of a round that was committed. A checkpoint needs it.
    pub(super) fn committed_attempts(&self) -> Vec<(u64, Committed)> {
        let parties = self.parties.as_ref();
        parties.map_or_else(Vec::new, Coordinator::committed)
    }

    /// Restores the committed attempts of a checkpoint.
    pub(super) fn restore_committed_attempts(&mut self, committed: Vec<(u64, Committed)>) {
        if let Some(parties) = &mut self.parties {
            parties.restore(committed);
        }
    }

    /// The program that makes the clients' personal models; `None` if all clients use the global model.
    pub(crate) fn personal_program(&self) -> Option<&Program> {
        self.main_device.evaluation(None)
    }

    /// The present parameters. At a host they are the initial ones, because only a server changes them.
    pub(crate) fn params(&self) -> &[DispatchTensor] {
        &self.params
    }

    pub(crate) fn workers(&self) -> &Workers {
        &self.workers
    }

    pub(crate) fn client_states(&self) -> &PerClientStates {
        &self.state.clients
    }

    /// Sets states of clients in the round in progress.
    pub(crate) fn set_client_states(&mut self, states: Vec<ClientState>) {
        self.state.clients.extend(states);
    }

    /// Commits a round that the coordinator committed, except for the states of the clients in `without`.
    pub(crate) fn commit_round(&mut self, round: usize, without: &[usize]) {
        self.state.clients.discard_pending(without);
        self.state.commit();
        self.round = round;
    }

    /// Discards the states of a round that the coordinator gave up.
    pub(crate) fn discard_round(&mut self) {
        let server = std::mem::take(&mut self.state.server);
        let in_flight = std::mem::take(&mut self.state.in_flight);
        self.state.roll_back((server, in_flight));
    }

    /// Sets how many rounds were left out because phases ended early. The coordinator decides it.
    pub(crate) fn set_left_out_rounds(&mut self, rounds: usize) {
        self.left_out_rounds = rounds;
    }
}
