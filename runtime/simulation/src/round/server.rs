//! The server's part of a round: it interprets the round's operations, from sampling a cohort to
//! aggregating what the clients return.

use burn::tensor::DispatchTensor;
use fedround_ir::fed::{FedOp, Op, OpKind, OptOp, PrivacyOp, Reduce, Value};
use fedround_passes::schedule::Control;
use fedround_random::{Drawer, Purpose, StreamKey};

use super::RoundStats;
use super::initial_params::initial_params;
use super::mixing_weights::matrix;
use super::non_finite_clients::NonFiniteClients;
use super::observer::{Observer, show_all};
use super::operands::operands;
use super::progress::{Readback, RoundCounters, Uploads};
use crate::aggregate::reduction::Reduction;
use crate::context::{RoundContext, missing};
use crate::error::RunError;
use crate::faults::Attendance;
use crate::interpreter::loops::repeat;
use crate::interpreter::named_streams::permutation;
use crate::interpreter::public_examples::public_column;
use crate::interpreter::rows::{every_class, for_rows, sample_rows, smallest_rows};
use crate::interpreter::{Interpreter, has_rows, run_block};
use crate::regions::ClientRunner;
use crate::state::{Flight, State};
use crate::value::{Env, RuntimeValue};
use crate::workers::Workers;
use fedround_exec::executor::Slots;

/// Interprets the server's operations of one round.
pub(super) struct Server<'a> {
    /// The context of the device that does the server's own work.
    pub cx: RoundContext<'a>,
    /// Runs client code, in this process or at parties.
    pub clients: &'a mut dyn ClientRunner,
    /// The worker threads of this process.
    pub workers: &'a Workers,
    /// The states of the server and of clients.
    pub state: &'a mut State,
    /// Is shown the values of single clients that the server sees. `None` if nobody observes the round.
    pub observer: Option<Observer<'a>>,
    /// Collects the clients whose updates are not finite, when a diverged round is repeated to find them.
    pub non_finite: Option<&'a mut NonFiniteClients>,
    /// Which of the called clients took part.
    pub attendance: &'a mut Attendance,
    /// The clients whose updates arrive in this round, if clients train over several rounds.
    pub arrived: Vec<Flight>,
    /// What clients have uploaded so far.
    pub uploads: Uploads,
    /// Numbers on devices that the host reads when the round ends.
    pub readback: Readback,
    /// What the round has drawn and run so far.
    pub counters: RoundCounters,
    /// The statistics that the round returns.
    pub stats: RoundStats,
    /// Buffers of compute plans, reused from one segment to the next.
    pub slots: Slots,
}

impl Server<'_> {
    /// Runs the round from the parameters `w`, and returns the next parameters.
    pub fn round(&mut self, w: Vec<DispatchTensor>) -> Result<Vec<DispatchTensor>, RunError> {
        let schedule = &self.cx.program.schedule();
        let mut env = Env::new(schedule.module.types.len());
        let block = &schedule.round;
        if let Some(arg) = block.args.first() {
            env.set(*arg, RuntimeValue::Params(w));
        }
        run_block(self, self.cx, block, &mut env)?;
        match block.yields.first().and_then(|v| env.peek(*v)) {
            Some(RuntimeValue::Params(leaves)) => Ok(leaves.clone()),
            _ => Err(RunError::Compile(fedround_exec::CompileError::NoRound)),
        }
    }

    /// `fed.reduce`: combines the values of a cohort into one value on the server.
    fn reduce(&mut self, kind: Reduce, op: &Op, env: &Env) -> Result<RuntimeValue, RunError> {
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
        let (ids, operands) = operands(op, env)?;
        let of_client = |operand: usize, i: usize| {
            let value = operands.get(operand).and_then(|value| value.of_client(i));
            value.ok_or_else(|| missing(op, "value of each client"))
        };
        let mut running = Reduction::new(kind, has_rows(self.cx, op.operands[0]));
        for i in 0..ids.len() {
            let weight = match kind {
                Reduce::WeightedMean | Reduce::WeightedSum => Some(of_client(1, i)?),
                Reduce::Sum | Reduce::Mean | Reduce::Median | Reduce::TrimmedMean => None,
            };
            running.add(of_client(0, i)?, weight)?;
        }
        if self.cx.program.schedule().module.uploads(op) {
            self.uploads.used = true;
            for v in &op.operands {
                self.upload(*v, env.peek(*v));
            }
        }
        running.finish(self.cx.program, op)
    }
}

impl Interpreter for Server<'_> {
    fn run_control(
        &mut self,
        control: &Control,
        env: &mut Env,
        last_uses: &[Value],
    ) -> Result<(), RunError> {
        let op = &control.op;
        let result = match (&op.kind, &control.body) {
            (OpKind::Opt(OptOp::Repeat), Some(body)) => {
                let times = self.cx.program.index(op.operands[0]);
                let times = times.unwrap_or_default();
                self.cx.count_plain_steps(control, body, times);
                return repeat(self, self.cx, control, body, env);
            }
            (OpKind::Fed(FedOp::InTurn), Some(body)) => {
                return self.run_sequentially(control, body, env);
            }
            (OpKind::Fed(FedOp::Map), Some(body)) => {
                self.map(control, body, env)?;
                for v in last_uses {
                    env.read(*v, last_uses);
                }
                return Ok(());
            }
            (OpKind::Opt(OptOp::ForRows(n)), Some(body)) => {
                return for_rows(self, self.cx, (control, *n), body, env);
            }
            (OpKind::Opt(OptOp::SampleRows), _) => return sample_rows(self, self.cx, op, env),
            (OpKind::Opt(OptOp::SmallestRows), _) => return smallest_rows(self.cx, op, env),
            (OpKind::Fed(FedOp::EveryClass), _) => every_class(self.cx),
            (OpKind::Fed(FedOp::Public(name, kind)), _) => {
                public_column(self.cx, op, (name, *kind))?
            }
            (OpKind::Fed(FedOp::Sample), _) => self.sample(op, env)?,
            (OpKind::Fed(FedOp::Choose(choice)), _) => self.choose(*choice, op, env)?,
            (OpKind::Fed(FedOp::Members), _) => self.members(op, env)?,
            (OpKind::Fed(FedOp::CohortSize), _) => self.cohort_size(op, env)?,
            (OpKind::Fed(FedOp::Restrict), _) => {
                // A reduction sends them, in each turn or iteration anew.
                self.uploads.counted.remove(&op.results[0]);
                self.restrict(op, env)?
            }
            (OpKind::Fed(FedOp::NthLargest), _) => self.nth_largest(op, env)?,
            (OpKind::Fed(FedOp::InitialParams(stream)), _) => initial_params(self.cx, *stream)?,
            (OpKind::Fed(FedOp::Uniform(name)), _) => {
                RuntimeValue::Number(self.named_key(name).stream().unit())
            }
            (OpKind::Fed(FedOp::Normal(name)), _) => {
                RuntimeValue::Number(self.named_key(name).stream().normal())
            }
            (OpKind::Fed(FedOp::Permutation(name)), _) => {
                let key = self.named_key(name);
                permutation(self.cx, op, key)?
            }
            (OpKind::Fed(FedOp::Within | FedOp::Outside), _) => self.cohort_by_number(op)?,
            (OpKind::Fed(FedOp::Rotating), _) => self.rotating(op)?,
            (OpKind::Fed(FedOp::Reshuffled), _) => self.reshuffled(op)?,
            (OpKind::Privacy(PrivacyOp::TreeNoise), _) => self.tree_noise(op, env)?,
            (OpKind::Fed(FedOp::AllClients), _) => RuntimeValue::Cohort(self.all_clients()),
            (OpKind::Fed(FedOp::Arrivals), _) => self.arrivals(op)?,
            (OpKind::Fed(FedOp::Dispatch), _) => self.dispatch(op, env, last_uses)?,
            (OpKind::Fed(FedOp::Staleness), _) => self.staleness(),
            (OpKind::Fed(FedOp::Broadcast), _) => self.broadcast(op, env, last_uses)?,
            (OpKind::Fed(FedOp::Gather | FedOp::Scatter), _) => {
                self.gather_or_scatter(op, env, last_uses)?
            }
            (OpKind::Fed(FedOp::Matrix(columns, entries)), _) => matrix(self.cx, *columns, entries),
            (OpKind::Fed(FedOp::Mix(topology)), _) => return self.mix(op, *topology, env),
            (OpKind::Fed(FedOp::Consensus), _) => self.consensus(op, env)?,
            (OpKind::Fed(FedOp::Concat), _) => self.concat(op, env)?,
            (OpKind::Fed(FedOp::Positions), _) => self.positions(op, env)?,
            (OpKind::Fed(FedOp::Pairwise(of)), _) => self.pairwise(*of, op, env)?,
            (OpKind::Fed(FedOp::Split(kind)), _) => self.split(*kind, op, env)?,
            (OpKind::Fed(FedOp::Reduce(kind)), _) => self.reduce(*kind, op, env)?,
            (OpKind::Fed(FedOp::RoundIndex), _) => RuntimeValue::Number(self.cx.round_index()),
            (OpKind::Fed(FedOp::NumClients), _) => RuntimeValue::Number(self.cx.clients() as f64),
            (OpKind::Fed(FedOp::ServerState(name, _)), _) => self.server_state(name, op)?,
            (OpKind::Fed(FedOp::ServerStateOr(name)), _) => {
                self.server_state_or(name, op, env, last_uses)?
            }
            (OpKind::Fed(FedOp::SetServerState(name)), _) => {
                return self.set_state(name, op, env, last_uses);
            }
            // Operations of clients, operations that linking replaces, and loops without a body.
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
        self.readback.server_losses.extend_from_slice(losses);
    }

    fn clients(&self) -> usize {
        1
    }

    fn slots(&mut self) -> &mut Slots {
        &mut self.slots
    }

    fn active(&self) -> Option<&[bool]> {
        None
    }

    fn draw_keys(&mut self, purpose: Purpose) -> Vec<StreamKey> {
        let key = self.cx.key(purpose);
        let key = key.with_drawer(Drawer::Server, self.counters.random_segments);
        self.counters.random_segments += 1;
        vec![key]
    }

    fn draw_counts(&mut self) -> &mut [u64] {
        std::slice::from_mut(&mut self.counters.random_segments)
    }
}
