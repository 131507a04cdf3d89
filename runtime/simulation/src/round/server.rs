//! The server's part of a round: it interprets the round's operations, from sampling a cohort to
//! aggregating what the clients return.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use burn::tensor::DispatchTensor;
use fedround_ir::fed::{FedOp, Op, OpKind, OptOp, PrivacyOp, Reduce, Value};
use fedround_passes::schedule::Control;
use fedround_random::{Drawer, Purpose, StreamKey};

use super::RoundStats;
use super::initial::initial_params;
use super::mixing_weights::matrix;
use super::non_finite_clients::NonFiniteClients;
use super::observer::{Observer, show_all};
use crate::aggregate::reduction::Reduction;
use crate::context::{RoundContext, missing};
use crate::error::RunError;
use crate::faults::Attendance;
use crate::interpreter::loops::repeat;
use crate::interpreter::named::permutation;
use crate::interpreter::public::public;
use crate::interpreter::rows::{draw, every_class, for_rows, least};
use crate::interpreter::{Walker, has_rows, walk};
use crate::loop_form::Runner;
use crate::regions::RunRegion;
use crate::state::{Flight, State};
use crate::value::{Env, RtVal};
use crate::workers::Workers;
use fedround_exec::executor::Slots;

pub(crate) struct Server<'a> {
    /// Where the server's own work is done.
    pub cx: RoundContext<'a>,
    /// Runs code of clients.
    pub clients: &'a mut dyn RunRegion,
    pub workers: &'a Workers,
    pub state: &'a mut State,
    /// Who looks on.
    pub observer: Option<Observer<'a>>,
    /// Who looks for clients whose updates are not finite.
    pub suspects: Option<&'a mut NonFiniteClients>,
    /// Who of the called clients came.
    pub attendance: &'a mut Attendance,
    /// What was shown when it was gathered.
    pub gathered: Vec<Value>,
    pub slots: Slots,
    pub losses: Vec<DispatchTensor>,
    /// Losses of the gradients that the server takes itself, which are no local steps'.
    pub own_losses: Vec<DispatchTensor>,
    pub stats: RoundStats,
    /// Cohorts drawn in this round, and maps run: each has its own stream.
    pub draws: usize,
    /// Exchanges between clients in this round.
    pub mixes: usize,
    pub maps: usize,
    /// The clients whose updates arrive in this round, and values that were dispatched in it.
    pub arrived: Vec<Flight>,
    pub dispatches: usize,
    /// The values that are on a visit.
    pub visiting: Vec<Value>,
    /// Whether the server has taken values of clients in this round, or counted their steps.
    pub has_taken: bool,
    /// Segments run in this round that draw random numbers.
    pub random_runs: u64,
    /// The numbers that the server has set among its states.
    pub set_numbers: BTreeMap<String, DispatchTensor>,
    /// Values that clients have sent.
    pub sent: HashSet<Value>,
    /// How often each named stream was drawn from.
    pub named: HashMap<String, u64>,
}

impl Server<'_> {
    /// Runs the round's block.
    pub fn round(&mut self, w: Vec<DispatchTensor>) -> Result<Vec<DispatchTensor>, RunError> {
        let schedule = &self.cx.program.schedule();
        let mut env = Env::new(schedule.module.types.len());
        let block = &schedule.round;
        if let Some(arg) = block.args.first() {
            env.set(*arg, RtVal::Params(w));
        }
        walk(self, self.cx, block, &mut env)?;
        match block.yields.first().and_then(|v| env.peek(*v)) {
            Some(RtVal::Params(leaves)) => Ok(leaves.clone()),
            _ => Err(RunError::Compile(fedround_exec::CompileError::NoRound)),
        }
    }

    fn reduce(&mut self, kind: Reduce, op: &Op, env: &Env) -> Result<RtVal, RunError> {
        if !kind.is_sum() {
            return self.order_statistic(kind, op, env);
        }
        if self.cx.program.schedule().module.uploads(op) {
            let value = op.operands[0];
            show_all(&mut self.observer, self.cx, (value, true), env.peek(value))?;
        } else if let Some(&weight) = op.operands.get(1) {
            show_all(
                &mut self.observer,
                self.cx,
                (weight, false),
                env.peek(weight),
            )?;
        }
        let clients = |i: usize| match op.operands.get(i).and_then(|v| env.peek(*v)) {
            Some(RtVal::Clients(_, values)) => Ok(Cow::Borrowed(values)),
            Some(RtVal::Broadcast(ids, value)) => {
                Ok(Cow::Owned(vec![value.as_ref().clone(); ids.len()]))
            }
            _ => Err(missing(op, "value of each client")),
        };
        let values = clients(0)?;
        let weights = match kind {
            Reduce::WeightedMean | Reduce::WeightedSum => Some(clients(1)?),
            Reduce::Sum | Reduce::Mean | Reduce::Median | Reduce::TrimmedMean => None,
        };
        let mut running = Reduction::new(kind, has_rows(self.cx, op.operands[0]));
        for (i, value) in values.iter().enumerate() {
            running.add(value, weights.as_ref().map(|w| &w[i]))?;
        }
        if self.cx.program.schedule().module.uploads(op) {
            self.has_taken = true;
            for v in &op.operands {
                self.upload(*v, env.peek(*v));
            }
        }
        running.finish(self.cx.program, op)
    }
}

impl Walker for Server<'_> {
    fn control(
        &mut self,
        control: &Control,
        env: &mut Env,
        last: &[Value],
    ) -> Result<(), RunError> {
        let op = &control.op;
        let result = match (&op.kind, &control.body) {
            (OpKind::Opt(OptOp::Repeat), Some(body)) => {
                let times = self.cx.program.index(op.operands[0]);
                let times = times.unwrap_or_default();
                self.cx.plain((control, body), Runner::Server, times);
                return repeat(self, self.cx, control, body, env);
            }
            (OpKind::Fed(FedOp::InTurn), Some(body)) => return self.in_turn(control, body, env),
            (OpKind::Fed(FedOp::Map), Some(body)) => {
                self.map(control, body, env)?;
                for v in last {
                    env.read(*v, last);
                }
                return Ok(());
            }
            (OpKind::Opt(OptOp::ForRows(n)), Some(body)) => {
                return for_rows(self, self.cx, (control, *n), body, env);
            }
            (OpKind::Opt(OptOp::SampleRows), _) => return draw(self, self.cx, op, env),
            (OpKind::Opt(OptOp::SmallestRows), _) => return least(self.cx, op, env),
            (OpKind::Fed(FedOp::EveryClass), _) => every_class(self.cx),
            (OpKind::Fed(FedOp::Public(name, kind)), _) => public(self.cx, op, (name, *kind))?,
            (OpKind::Fed(FedOp::Sample), _) => self.sample(op, env)?,
            (OpKind::Fed(FedOp::Choose(choice)), _) => self.choose(*choice, op, env)?,
            (OpKind::Fed(FedOp::Members), _) => self.members(op, env)?,
            (OpKind::Fed(FedOp::CohortSize), _) => self.cohort_size(op, env)?,
            (OpKind::Fed(FedOp::Restrict), _) => self.only(op, env)?,
            (OpKind::Fed(FedOp::NthLargest), _) => self.nth_largest(op, env)?,
            (OpKind::Fed(FedOp::InitialParams(stream)), _) => initial_params(self.cx, *stream)?,
            (OpKind::Fed(FedOp::Uniform(name)), _) => RtVal::Host(self.named(name).unit()),
            (OpKind::Fed(FedOp::Normal(name)), _) => RtVal::Host(self.named(name).normal()),
            (OpKind::Fed(FedOp::Permutation(name)), _) => {
                let key = self.named_key(name);
                permutation(self.cx, op, key)?
            }
            (OpKind::Fed(FedOp::Within | FedOp::Outside), _) => self.numbered(op)?,
            (OpKind::Fed(FedOp::Rotating), _) => self.rotating(op)?,
            (OpKind::Fed(FedOp::Reshuffled), _) => self.reshuffled(op)?,
            (OpKind::Privacy(PrivacyOp::TreeNoise), _) => self.tree_noise(op, env)?,
            (OpKind::Fed(FedOp::AllClients), _) => RtVal::Cohort(match self.cx.everyone {
                Some(ids) => ids.into(),
                None => (0..self.cx.clients()).collect(),
            }),
            (OpKind::Fed(FedOp::Arrivals), _) => self.arrivals(op)?,
            (OpKind::Fed(FedOp::Dispatch), _) => self.dispatch(op, env, last)?,
            (OpKind::Fed(FedOp::Staleness), _) => self.staleness(),
            (OpKind::Fed(FedOp::Broadcast), _) => self.broadcast(op, env, last)?,
            (OpKind::Fed(FedOp::Gather | FedOp::Scatter), _) => self.cross(op, env, last)?,
            (OpKind::Fed(FedOp::Matrix(columns, entries)), _) => matrix(self.cx, *columns, entries),
            (OpKind::Fed(FedOp::Mix(topology)), _) => return self.mix(op, *topology, env),
            (OpKind::Fed(FedOp::Consensus), _) => self.consensus(op, env)?,
            (OpKind::Fed(FedOp::Concat), _) => self.concat(op, env)?,
            (OpKind::Fed(FedOp::Positions), _) => self.places(op, env)?,
            (OpKind::Fed(FedOp::Pairwise(of)), _) => self.pairwise(*of, op, env)?,
            (OpKind::Fed(FedOp::Split(kind)), _) => self.split(*kind, op, env)?,
            (OpKind::Fed(FedOp::Reduce(kind)), _) => self.reduce(*kind, op, env)?,
            (OpKind::Fed(FedOp::RoundIndex), _) => RtVal::Host(self.cx.round_index()),
            (OpKind::Fed(FedOp::NumClients), _) => RtVal::Host(self.cx.clients() as f64),
            (OpKind::Fed(FedOp::ServerState(name, _)), _) => self.server_state(name, op)?,
            (OpKind::Fed(FedOp::ServerStateOr(name)), _) => {
                self.server_state_or(name, op, env, last)?
            }
            (OpKind::Fed(FedOp::SetServerState(name)), _) => {
                return self.set_state(name, op, env, last);
            }
            // Work of clients, what linking resolves, and loops without a body.
            (
                OpKind::Fed(
                    FedOp::Hyper(_)
                    | FedOp::CurrentCohort
                    | FedOp::Map
                    | FedOp::InTurn
                    | FedOp::Seconds
                    | FedOp::ClientLabels
                    | FedOp::LocalClasses
                    | FedOp::LabelCounts
                    | FedOp::ZeroInputs
                    | FedOp::NumExamples
                    | FedOp::ClientNumber
                    | FedOp::StartParams
                    | FedOp::GlobalParams
                    | FedOp::ClientState(..)
                    | FedOp::SetClientState(_)
                    | FedOp::Personal(..)
                    | FedOp::Encode(_)
                    | FedOp::Call(_)
                    | FedOp::Super(_),
                )
                | OpKind::Opt(
                    OptOp::ForBatches
                    | OptOp::OneBatch
                    | OptOp::Collect
                    | OptOp::ForRows(_)
                    | OptOp::Repeat
                    | OptOp::Grad,
                )
                | OpKind::Arith(_)
                | OpKind::External(_)
                | OpKind::Tree(_)
                | OpKind::Privacy(_),
                _,
            ) => return Err(missing(op, "form in server code")),
        };
        env.set(op.results[0], result);
        Ok(())
    }

    fn losses(&mut self, losses: &[DispatchTensor], _: bool) {
        self.own_losses.extend_from_slice(losses);
    }

    fn clients(&self) -> usize {
        1
    }

    fn slots(&mut self) -> &mut Slots {
        &mut self.slots
    }

    fn live(&self) -> Option<&[bool]> {
        None
    }

    fn draw_keys(&mut self, purpose: Purpose) -> Vec<StreamKey> {
        let key = self.cx.key(purpose);
        let key = key.with_drawer(Drawer::Server, self.random_runs);
        self.random_runs += 1;
        vec![key]
    }

    fn draws(&mut self) -> &mut [u64] {
        std::slice::from_mut(&mut self.random_runs)
    }
}
