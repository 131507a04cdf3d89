//! `fed.map`: runs the same code for every client of a cohort, and takes what each of them gives.
//!
//! A map over gathered values runs in the same way on the server; its code may also read values of
//! the server.

use std::sync::Arc;

use burn::tensor::DispatchTensor;
use fedround_ir::fed::{FedOp, Op, OpKind, Place, Value};
use fedround_passes::schedule::{Block, Control};

use super::observer::{Observer, show};
use super::server::Server;
use crate::aggregate::reduction::{Reduction, bytes};
use crate::client::Outcome;
use crate::context::{RoundContext, missing};
use crate::error::RunError;
use crate::interpreter::has_rows;
use crate::non_finite::Diverged;
use crate::regions::client_groups::turns;
use crate::regions::{InProcess, Job, Lost, RunRegion};
use crate::value::{Env, RtVal};

impl Server<'_> {
    /// Runs a map and the reductions that its results stream into.
    pub fn map(&mut self, control: &Control, body: &Block, env: &mut Env) -> Result<(), RunError> {
        let (ids, operands) = operands(&control.op, env)?;
        let around = self.around(body, env);
        if let Some(suspects) = &mut self.suspects {
            let around = around.iter().map(|(_, value)| value);
            suspects.given(operands.iter().copied().chain(around))?;
        }
        let (results, lost) = self.stream(control, body, (&ids, &operands), &around)?;
        let ids = match lost.is_empty() {
            true => ids,
            false => self.lose(&ids, &lost, env)?,
        };
        self.settle(control, ids, results, env)
    }

    /// Runs the clients' code, and takes their outcomes in a fixed order. Also gives the clients that were
    /// lost.
    fn stream(
        &mut self,
        control: &Control,
        body: &Block,
        (ids, operands): (&[usize], &[&RtVal]),
        around: &[(Value, RtVal)],
    ) -> Result<(Results, Lost), RunError> {
        let op = &control.op;
        let (cx, map, on_server) = (self.cx, self.maps, self.on_server(op));
        self.maps += 1;
        let job = Job {
            cx,
            map,
            op,
            body,
            ids,
            turns: &turns(ids),
            operands,
            around,
            kept: match on_server {
                true => &self.state.for_clients,
                false => &self.state.clients,
            },
        };
        let mut results = Results::new(cx, control, ids.len());
        let mut suspects = self.suspects.as_deref_mut();
        // What the server makes for clients is not sent.
        let mut unseen = None;
        let look = if on_server {
            &mut unseen
        } else {
            &mut self.observer
        };
        let mut take = |i: usize, outcome: Outcome| {
            let looked = match &mut suspects {
                Some(suspects) => suspects.look(map, ids[i], &outcome),
                None => Ok(()),
            };
            let taken = results.take(cx, i, ids[i], outcome, look);
            looked.and(taken)
        };
        let lost = match on_server {
            // The server's work is done at home.
            true => InProcess {
                devices: &[cx],
                workers: self.workers,
            }
            .run(&job, &mut take)?,
            false => self.clients.run(&job, &mut take)?,
        };
        Ok((results, lost))
    }

    /// Keeps what a map leaves behind: states, losses and counts, and its results as values.
    fn settle(
        &mut self,
        control: &Control,
        ids: Arc<[usize]>,
        mut results: Results,
        env: &mut Env,
    ) -> Result<(), RunError> {
        let op = &control.op;
        if self.on_server(op) {
            self.own_losses.append(&mut results.losses);
            self.state.for_clients.extend(results.state);
        } else {
            self.losses.append(&mut results.losses);
            // A client that is visited keeps nothing, a state's first value neither.
            if !op.operands.iter().any(|v| self.visiting.contains(v)) {
                self.state.clients.extend(results.state);
            }
            self.stats.bytes_up += results.bytes;
            // Losses and steps are of those who took part, too.
            self.has_taken |= !control.reductions.is_empty() || results.steps > 0;
            if !results.finite {
                let (round, what) = (self.cx.round, Diverged::Round);
                return Err(RunError::Diverged { round, what });
            }
        }
        self.stats.client_steps += results.steps;
        for (reduction, running) in control.reductions.iter().zip(results.running) {
            let value = running.finish(self.cx.program, reduction)?;
            env.set(reduction.results[0], value);
        }
        // In a loop of the server, each repetition makes values of its own.
        for result in &op.results {
            self.sent.remove(result);
        }
        for (result, column) in op.results.iter().zip(results.columns) {
            let values = column.into_iter().flatten().collect();
            env.set(*result, RtVal::Clients(Arc::clone(&ids), values));
        }
        Ok(())
    }

    /// Whether a map is of gathered values.
    fn on_server(&self, op: &Op) -> bool {
        let first = op.operands.first();
        first.map(|v| self.cx.program.schedule().module.type_of(*v).place) == Some(Place::Gathered)
    }

    /// The values of the server that a map's code reads.
    fn around(&self, body: &Block, env: &Env) -> Vec<(Value, RtVal)> {
        let mut around: Vec<(Value, RtVal)> = vec![];
        for v in body.reads(&self.cx.program.schedule().segments) {
            if let Some(value) = env.peek(v)
                && !around.iter().any(|(known, _)| *known == v)
            {
                around.push((v, value.clone()));
            }
        }
        around
    }
}

/// What a map reads of each client, and whose it is.
fn operands<'e>(op: &Op, env: &'e Env) -> Result<(Arc<[usize]>, Vec<&'e RtVal>), RunError> {
    let mut cohort = None;
    let mut operands = Vec::with_capacity(op.operands.len());
    for v in &op.operands {
        match env.peek(*v) {
            Some(value @ (RtVal::Clients(ids, _) | RtVal::Broadcast(ids, _))) => {
                cohort = Some(Arc::clone(ids));
                operands.push(value);
            }
            _ => return Err(missing(op, "value of each client")),
        }
    }
    Ok((cohort.ok_or_else(|| missing(op, "cohort"))?, operands))
}

/// What a map leaves behind.
#[derive(Default)]
struct Results {
    losses: Vec<DispatchTensor>,
    steps: u64,
    state: Vec<((usize, String), Vec<DispatchTensor>)>,
    /// The clients' values, result by result: none where they stream into reductions.
    columns: Vec<Vec<Option<RtVal>>>,
    /// For each reduction, what it reads: a value and a weight, and which of a client's they are.
    sources: Vec<Vec<(Value, usize)>>,
    running: Vec<Reduction>,
    /// What the reductions' operands weigh on the wire.
    bytes: u64,
    /// Whether the states that parties keep are finite.
    finite: bool,
}

impl Results {
    fn new(cx: RoundContext<'_>, control: &Control, clients: usize) -> Self {
        let mut this = Self {
            finite: true,
            ..Self::default()
        };
        let position = |v: &Value| control.op.results.iter().position(|r| r == v);
        for reduction in &control.reductions {
            if let (OpKind::Fed(FedOp::Reduce(kind)), Some(value)) = (
                &reduction.kind,
                reduction.operands.first().and_then(position),
            ) {
                let weight = reduction.operands.get(1);
                let weight = weight.and_then(|v| Some((*v, position(v)?)));
                let value = (reduction.operands[0], value);
                this.sources
                    .push([value].into_iter().chain(weight).collect());
                let rows = has_rows(cx, reduction.operands[0]);
                this.running.push(Reduction::new(*kind, rows));
            }
        }
        if control.reductions.is_empty() {
            this.columns = vec![vec![None; clients]; control.op.results.len()];
        }
        this
    }

    fn take(
        &mut self,
        cx: RoundContext<'_>,
        i: usize,
        id: usize,
        outcome: Outcome,
        look: &mut Option<Observer<'_>>,
    ) -> Result<(), RunError> {
        self.losses.extend(outcome.losses);
        self.steps += outcome.steps;
        self.finite &= outcome.finite;
        let state = outcome.state.into_iter();
        self.state
            .extend(state.map(|(name, value)| ((id, name), value)));
        for (r, sums) in &outcome.sums {
            if let (Some(running), Some(sources)) = (self.running.get_mut(*r), self.sources.get(*r))
            {
                running.add_sums(sums);
                // Elements of 64 bits.
                let of = sources.first().map(|(of, _)| *of);
                self.bytes += of.map_or(0, |of| 2 * cx.program.transferred_bytes(of) as u64);
            }
        }
        let yields = outcome.yields;
        let values = self.sources.iter().map(|sources| sources.first());
        let values: Vec<_> = values.collect();
        for (r, (running, sources)) in self.running.iter_mut().zip(&self.sources).enumerate() {
            let read = |i: usize| sources.get(i).and_then(|(_, at)| yields.get(*at));
            if let Some(value) = read(0) {
                running.add(value, read(1))?;
                // Several reductions may read one value.
                if let Some((of, _)) = values[r].filter(|of| !values[..r].contains(&Some(of))) {
                    show(look, cx, (*of, true), id, value)?;
                }
            }
        }
        // A value is sent once, however many reductions read it.
        let mut sent: Vec<(Value, usize)> = self.sources.concat();
        sent.sort_unstable();
        sent.dedup();
        let sent = sent.into_iter();
        let sent = sent.filter_map(|(of, at)| Some(bytes(cx.program, of, yields.get(at)?)));
        self.bytes += sent.sum::<u64>();
        for (column, value) in self.columns.iter_mut().zip(yields) {
            column[i] = Some(value);
        }
        Ok(())
    }
}
