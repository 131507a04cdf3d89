//! `fed.map`: the same code for every client of a cohort, a group at a time on each worker. On the
//! server it runs like on the clients, with values of the server in reach.

use std::collections::HashMap;
use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use burn_dispatch::DispatchDevice;
use fedround_ir::fed::{OpKind, Place, Value};
use fedround_passes::tensor::{Block, Control, Item};

use super::client::{self, Group, Outcome};
use super::look::{Look, show};
use super::running::{Running, bytes};
use super::server::Server;
use super::stack::stack;
use super::walk::has_rows;
use super::{Cx, missing};
use crate::error::RunError;
use crate::value::{Env, RtVal};

impl Server<'_> {
    /// Runs a map and the reductions that its results stream into.
    pub fn map(&mut self, control: &Control, body: &Block, env: &mut Env) -> Result<(), RunError> {
        let op = &control.op;
        let (cx, map) = (self.cx, self.maps);
        self.maps += 1;
        let mut cohort: Option<&Arc<[usize]>> = None;
        let mut operands = Vec::with_capacity(op.operands.len());
        for v in &op.operands {
            let value = env.peek(*v);
            match value {
                Some(value @ (RtVal::Clients(ids, _) | RtVal::Broadcast(ids, _))) => {
                    cohort = Some(ids);
                    operands.push(value);
                }
                _ => return Err(missing(op, "value of each client")),
            }
        }
        let ids = Arc::clone(cohort.ok_or_else(|| missing(op, "cohort"))?);
        let on_server = op.operands.first().map(|v| place(cx, *v)) == Some(Place::Gathered);
        let size = if is_ragged(body) { 1 } else { self.group };
        let shapes = |i: usize| operands.iter().map(|v| shape(v, i)).collect();
        let groups = groups(&ids, &cx.federation.parts, size, shapes);
        let turns = turns(&ids);
        let around = self.around(body, env);
        let kept = match on_server {
            true => &self.state.for_clients,
            false => &self.state.clients,
        };
        let work = |g: usize| {
            let members: &Vec<usize> = &groups[g];
            let of = |all: &[usize]| members.iter().map(|&i| all[i]).collect::<Vec<_>>();
            let (own, own_turns) = (of(&ids), of(&turns));
            let args = operands
                .iter()
                .map(|v| argument(v, members, &cx.program.device));
            let args: Option<Vec<RtVal>> = args.collect();
            let args = args.ok_or_else(|| missing(op, "tensor of each client"))?;
            let group = Group {
                map,
                ids: &own,
                turns: &own_turns,
            };
            client::run(cx, kept, (op, body), group, args, &around)
        };
        let mut results = Results::new(cx, control, ids.len());
        let mut failed = None;
        let mut look = self.look.take();
        // What the server makes for clients is not sent.
        let mut none = None;
        let seen = if on_server { &mut none } else { &mut look };
        let ahead = 2 * self.workers.len();
        self.workers
            .stream(groups.len(), ahead, work, |g, outcomes| match outcomes {
                Ok(outcomes) => {
                    for (&i, outcome) in groups[g].iter().zip(outcomes) {
                        results.take(cx, i, ids[i], outcome, seen);
                    }
                }
                Err(error) => failed = failed.take().or(Some(error)),
            });
        self.look = look;
        if let Some(error) = failed {
            return Err(error);
        }
        if on_server {
            self.own_losses.append(&mut results.losses);
            self.state.for_clients.extend(results.state);
        } else {
            self.losses.append(&mut results.losses);
            // A client that is visited keeps nothing, a state's first value neither.
            if !op.operands.iter().any(|v| self.visiting.contains(v)) {
                self.state.clients.extend(results.state);
            }
            self.stats.bytes_up += results.bytes;
        }
        self.stats.client_steps += results.steps;
        for (reduction, running) in control.reductions.iter().zip(results.running) {
            let value = running.finish(cx.program, reduction)?;
            env.set(reduction.results[0], value);
        }
        for (result, column) in op.results.iter().zip(results.columns) {
            let values = column.into_iter().flatten().collect();
            env.set(*result, RtVal::Clients(Arc::clone(&ids), values));
        }
        Ok(())
    }

    /// The values of the server that a map's code reads.
    fn around(&self, body: &Block, env: &Env) -> Vec<(Value, RtVal)> {
        let mut around: Vec<(Value, RtVal)> = vec![];
        for v in body.reads(&self.cx.program.schedule.segments) {
            if let Some(value) = env.peek(v)
                && !around.iter().any(|(known, _)| *known == v)
            {
                around.push((v, value.clone()));
            }
        }
        around
    }
}

fn place(cx: Cx<'_>, v: Value) -> Place {
    cx.program.schedule.module.type_of(v).place
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
    running: Vec<Running>,
    /// What the reductions' operands weigh on the wire.
    bytes: u64,
}

impl Results {
    fn new(cx: Cx<'_>, control: &Control, clients: usize) -> Self {
        let mut this = Self::default();
        let position = |v: &Value| control.op.results.iter().position(|r| r == v);
        for reduction in &control.reductions {
            if let (OpKind::Reduce(kind), Some(value)) = (
                &reduction.kind,
                reduction.operands.first().and_then(position),
            ) {
                let weight = reduction.operands.get(1);
                let weight = weight.and_then(|v| Some((*v, position(v)?)));
                let value = (reduction.operands[0], value);
                this.sources
                    .push([value].into_iter().chain(weight).collect());
                let rows = has_rows(cx, reduction.operands[0]);
                this.running.push(Running::new(*kind, rows));
            }
        }
        if control.reductions.is_empty() {
            this.columns = vec![vec![None; clients]; control.op.results.len()];
        }
        this
    }

    fn take(
        &mut self,
        cx: Cx<'_>,
        i: usize,
        id: usize,
        outcome: Outcome,
        look: &mut Option<Look<'_>>,
    ) {
        self.losses.extend(outcome.losses);
        self.steps += outcome.steps;
        let state = outcome.state.into_iter();
        self.state
            .extend(state.map(|(name, value)| ((id, name), value)));
        let yields = outcome.yields;
        let values = self.sources.iter().map(|sources| sources.first());
        let values: Vec<_> = values.collect();
        for (r, (running, sources)) in self.running.iter_mut().zip(&self.sources).enumerate() {
            let read = |i: usize| sources.get(i).and_then(|(_, at)| yields.get(*at));
            if let Some(value) = read(0) {
                running.add(value, read(1));
                // Several reductions may read one value.
                if let Some((of, _)) = values[r].filter(|of| !values[..r].contains(&Some(of))) {
                    show(look, cx, (*of, true), id, value);
                }
            }
            let sent = sources
                .iter()
                .filter_map(|(of, at)| Some((*of, yields.get(*at)?)));
            self.bytes += sent.map(|(of, v)| bytes(cx.program, of, v)).sum::<u64>();
        }
        for (column, value) in self.columns.iter_mut().zip(yields) {
            column[i] = Some(value);
        }
    }
}

/// Whether code makes values that have not as many rows for every client: it runs for one at a time.
fn is_ragged(block: &Block) -> bool {
    let ragged = |kind: &OpKind| {
        matches!(
            kind,
            OpKind::OneBatch
                | OpKind::Collect
                | OpKind::LocalClasses
                | OpKind::DrawRows
                | OpKind::LeastRows
                | OpKind::ForRows(_)
        )
    };
    block.items.iter().any(|(item, _)| match item {
        Item::Control(control) => {
            ragged(&control.op.kind) || control.body.as_ref().is_some_and(is_ragged)
        }
        Item::Compute(_) => false,
    })
}

/// Positions in the cohort of the clients of each group: with features and labels of the same
/// shapes, and of like sizes, so that few sit out.
fn groups(
    ids: &[usize],
    parts: &[Vec<usize>],
    size: usize,
    shapes: impl Fn(usize) -> Vec<Vec<usize>>,
) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..ids.len()).collect();
    if size > 1 {
        order.sort_by_cached_key(|&i| (shapes(i), std::cmp::Reverse(parts[ids[i]].len())));
    }
    let alike = order.chunk_by(|&i, &j| size <= 1 || shapes(i) == shapes(j));
    let groups = alike.flat_map(|alike| alike.chunks(size.max(1)));
    groups.map(<[usize]>::to_vec).collect()
}

/// How often each client stands earlier in the list: not at all, but for visits.
fn turns(ids: &[usize]) -> Vec<usize> {
    let mut met: HashMap<usize, usize> = HashMap::new();
    let turn = |&id: &usize| {
        let met = met.entry(id).or_default();
        *met += 1;
        *met - 1
    };
    ids.iter().map(turn).collect()
}

/// The shape of the `i`-th client's features or labels; of anything else, which has one shape for
/// all clients, an empty one.
fn shape(value: &RtVal, i: usize) -> Vec<usize> {
    match value {
        RtVal::Clients(_, values) => match values.get(i) {
            Some(RtVal::Tensor(t)) => t.shape().as_slice().to_vec(),
            _ => vec![],
        },
        _ => vec![],
    }
}

/// What the clients of a group are given.
fn argument(value: &RtVal, members: &[usize], device: &DispatchDevice) -> Option<RtVal> {
    match (value, members) {
        (RtVal::Broadcast(_, value), _) => Some(value.as_ref().clone()),
        (RtVal::Clients(_, values), &[i]) => Some(values[i].clone()),
        (RtVal::Clients(_, values), _) => {
            let own: Vec<RtVal> = members.iter().map(|&i| values[i].clone()).collect();
            stack(&own, device)
        }
        _ => None,
    }
}
