//! A simulation whose clients are at parties, and the queries of a party's host to it.

use burn::tensor::DispatchTensor;
use fedround_exec::Program;
use fedround_ir::fed::{FedOp, Op, OpKind};

use super::Simulation;
use super::fingerprint::graph;
use super::parameters::bits;
use crate::error::RunError;
use crate::faults::Attendance;
use crate::parties::{
    Committed, EvaluateAtParties, Parties, PartyError, PartyScores, Remote, ServerModel,
};
use crate::regions::RunRegion;
use crate::round::run_round;
use crate::state::{ByClient, ClientState};
use crate::workers::Workers;

impl Simulation {
    /// Runs the code of clients at parties: the simulation becomes the coordinator of a federation. Its dataset
    /// has a list of examples for each client, which may be empty, and the examples of no client are read.
    ///
    /// `session` tells this coordinator from earlier ones of the federation, and is larger than theirs; the
    /// seconds of a clock will do. Results do not depend on it.
    ///
    /// # Errors
    ///
    /// The program cannot run between a server and parties; nothing is sent then.
    pub fn with_parties(
        mut self,
        parties: Box<dyn Parties>,
        session: u64,
    ) -> Result<Self, RunError> {
        self.evaluates_at_parties()?;
        let known = (self.graph_hash()?, self.seed, session);
        let programs = (self.program(), self.personal_program());
        self.parties = Some(Remote::new(parties, programs, known)?);
        Ok(self)
    }

    /// Fails for evaluations that parties cannot make: they have the server's model and their clients' states.
    fn evaluates_at_parties(&self) -> Result<(), RunError> {
        for own in &self.home.evaluations {
            if let Some(name) = &own.name {
                let name = name.clone();
                return Err(RunError::EvaluationAtParties { name });
            }
            let reads = |op: &&Op| {
                matches!(
                    op.kind,
                    OpKind::Fed(FedOp::ServerState(..) | FedOp::ServerStateOr(_))
                )
            };
            if let Some(op) = own.program.linked().all_ops().find(reads) {
                return Err(RunError::ServerStateAtParties { loc: op.loc });
            }
        }
        Ok(())
    }

    /// Has each host of several clients send sums over them, where the server needs nothing else, instead of
    /// each client's values: `fedround graph SPEC --at parties` lists which ones. What a host sends then no
    /// longer grows with the number of its clients. Sums are made in 64 bits, in another order than in a
    /// simulation, so that the results may differ from a simulation's in the last place of single numbers.
    /// Observers of the server are not shown the values that are summed. Does nothing without parties.
    #[must_use]
    pub fn with_partial_sums(mut self, sums: bool) -> Self {
        if let Some(parties) = &mut self.parties {
            parties.set_sums(sums);
        }
        self
    }

    /// The hash of the program: the algorithm with its settings, the model and its local steps. A party takes
    /// part in a round of its own program only.
    ///
    /// # Errors
    ///
    /// A step cannot be compiled.
    pub fn graph_hash(&self) -> Result<String, RunError> {
        graph(self)
    }

    /// Tells the parties that the last round was kept, so that they keep the states that it set. The next
    /// round tells them too, so this is for the end of a run. Does nothing without parties.
    ///
    /// # Errors
    ///
    /// No party can be reached.
    pub fn settle_parties(&mut self) -> Result<(), RunError> {
        self.parties.as_mut().map_or(Ok(()), Remote::settle)
    }

    /// Why clients of parties failed in the last round, in the order in which they were lost.
    pub fn party_failures(&self) -> &[(Vec<usize>, PartyError)] {
        self.parties.as_ref().map_or(&[], Remote::failures)
    }

    /// Whether clients have models of their own: the algorithm has the hook `evaluate` or `personalize`.
    pub fn has_personal_models(&self) -> bool {
        !self.home.evaluations.is_empty()
    }

    /// Whether clients have models of their own, which are made and evaluated at the parties.
    pub fn personal_models_are_at_parties(&self) -> bool {
        self.parties.is_some() && self.has_personal_models()
    }

    /// Has the parties evaluate their clients' own models, as they are after the last complete round; `None`
    /// without parties, or if all clients use the global model. No state changes anywhere.
    ///
    /// # Errors
    ///
    /// No party can be reached.
    pub fn evaluate_at_parties(&mut self) -> Result<Option<PartyScores>, RunError> {
        let Some(mut parties) = self.parties.take() else {
            return Ok(None);
        };
        let scores = self.ask_for_scores(&mut parties);
        self.parties = Some(parties);
        scores
    }

    /// As a round of the program that makes the models, whose clients are at the parties.
    fn ask_for_scores(&self, parties: &mut Remote) -> Result<Option<PartyScores>, RunError> {
        let Some((cx, _)) = self.personal_contexts(None, self.round, usize::MAX) else {
            return Ok(None);
        };
        let phase = (self.program().phase_of(cx.scheduled).0, cx.scheduled);
        let clients = cx.clients();
        let server = ServerModel::new(&self.params, &self.initial)?;
        let (mut state, params) = (self.state.clone(), self.params.clone());
        let mut all = Attendance::default();
        let scores = self.guarded(|| {
            parties.begin(self.round, phase, (clients, self.cohort_batch()))?;
            let mut asked = EvaluateAtParties::new(parties, &server);
            let remote: &mut dyn RunRegion = &mut asked;
            let (who, state) = ((&self.workers, Some(remote)), &mut state);
            match run_round(cx, &[], who, state, params, None, (None, &mut all)) {
                // Nobody is there.
                Ok(_) | Err(RunError::TooFew { .. }) => Ok(asked.finish(clients)),
                Err(error) => Err(error),
            }
        })?;
        Ok(Some(scores))
    }

    /// Which parameters are what they began as, in the model's order.
    ///
    /// # Errors
    ///
    /// The device that holds them has failed.
    pub fn unchanged_parameters(&self) -> Result<Vec<bool>, RunError> {
        let leaves = self.initial.iter().zip(&self.params);
        leaves
            .map(|(before, now)| Ok(bits(before)? == bits(now)?))
            .collect()
    }

    /// What the parties are to be told, for a checkpoint.
    pub(super) fn committed(&self) -> Vec<(u64, Committed)> {
        let parties = self.parties.as_ref();
        parties.map_or_else(Vec::new, Remote::committed)
    }

    /// Goes on from a checkpoint.
    pub(super) fn restore_committed(&mut self, committed: Vec<(u64, Committed)>) {
        if let Some(parties) = &mut self.parties {
            parties.restore(committed);
        }
    }

    /// The program that makes the clients' own models, where they have any.
    pub(crate) fn personal_program(&self) -> Option<&Program> {
        self.home.evaluation(None)
    }

    /// The initial parameters.
    pub(crate) fn initial(&self) -> &[DispatchTensor] {
        &self.initial
    }

    pub(crate) fn workers(&self) -> &Workers {
        &self.workers
    }

    pub(crate) fn client_states(&self) -> &ByClient {
        &self.state.clients
    }

    /// Sets states in the round in progress.
    pub(crate) fn set_client_states(&mut self, states: Vec<ClientState>) {
        self.state.clients.extend(states);
    }

    /// Ends a round that a coordinator kept, without the states that some clients set in it.
    pub(crate) fn keep_round(&mut self, round: usize, without: &[usize]) {
        self.state.clients.forget(without);
        self.state.commit();
        self.round = round;
    }

    /// Forgets the states of a round that a coordinator gave up.
    pub(crate) fn forget_round(&mut self) {
        let server = std::mem::take(&mut self.state.server);
        let in_flight = std::mem::take(&mut self.state.in_flight);
        self.state.undo((server, in_flight));
    }

    /// Sets how many rounds of phases ended early, which a coordinator knows.
    pub(crate) fn leave_out(&mut self, rounds: usize) {
        self.left_out = rounds;
    }
}
