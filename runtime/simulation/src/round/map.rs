//! `fed.map`: runs client code for every client of a cohort, and collects the outcomes.
//!
//! A map over gathered values runs on the server, once for each client. Its code may also read values of the
//! server.

use std::collections::BTreeSet;
use std::sync::Arc;

use burn::tensor::DispatchTensor;
use fedround_ir::fed::{FedOp, Op, OpKind, Place, Value};
use fedround_passes::schedule::{Block, Control};

use super::observer::{Observer, show};
use super::operands::operands;
use super::server::Server;
use crate::aggregate::reduction::{Reduction, bytes};
use crate::client::ClientOutcome;
use crate::context::RoundContext;
use crate::error::RunError;
use crate::interpreter::has_rows;
use crate::non_finite::Diverged;
use crate::regions::client_groups::turns;
use crate::regions::{ClientRunner, InProcessRunner, LostClients, MapJob};
use crate::value::{Env, RuntimeValue};

impl Server<'_> {
    /// Runs a map, and the reductions that consume its results while it runs.
    pub fn map(&mut self, control: &Control, body: &Block, env: &mut Env) -> Result<(), RunError> {
        let (ids, operands) = operands(&control.op, env)?;
        let operands: Vec<&RuntimeValue> = operands.iter().map(AsRef::as_ref).collect();
        let server_values = self.server_values_read(body, env);
        if let Some(non_finite) = &mut self.non_finite {
            let server_values = server_values.iter().map(|(_, value)| value);
            non_finite.check_inputs(operands.iter().copied().chain(server_values))?;
        }
        let (results, lost) = self.run_clients(control, body, (&ids, &operands), &server_values)?;
        let ids = match lost.is_empty() {
            true => ids,
            false => self.remove_lost(&ids, &lost, env)?,
        };
        self.record_results(control, ids, results, env)
    }

    /// Runs the code for every client, and adds their outcomes in a fixed order. Also returns the clients that
    /// were lost.
    fn run_clients(
        &mut self,
        control: &Control,
        body: &Block,
        (ids, operands): (&[usize], &[&RuntimeValue]),
        server_values: &[(Value, RuntimeValue)],
    ) -> Result<(Results, LostClients), RunError> {
        let op = &control.op;
        let (cx, map, on_server) = (self.cx, self.counters.maps, self.on_server(op));
        self.counters.maps += 1;
        let job = MapJob {
            cx,
            map,
            op,
            body,
            ids,
            turns: &turns(ids),
            operands,
            server_values,
            states: match on_server {
                true => &self.state.for_clients,
                false => &self.state.clients,
            },
        };
        let mut results = Results::new(cx, control, ids.len());
        let mut non_finite = self.non_finite.as_deref_mut();
        // An observer is shown what clients send, and not what the server computes for them.
        let mut nobody = None;
        let observer = if on_server {
            &mut nobody
        } else {
            &mut self.observer
        };
        let mut add = |i: usize, outcome: ClientOutcome| {
            let checked = match &mut non_finite {
                Some(non_finite) => non_finite.check_outcome(map, ids[i], &outcome),
                None => Ok(()),
            };
            let added = results.add(cx, i, ids[i], outcome, observer);
            checked.and(added)
        };
        let lost = match on_server {
            // The server works on the main device alone.
            true => InProcessRunner {
                devices: &[cx],
                workers: self.workers,
            }
            .run(&job, &mut add)?,
            false => self.clients.run(&job, &mut add)?,
        };
        Ok((results, lost))
    }

    /// Records the results of a map: pending states, losses, counts, and the values that the map defines.
    fn record_results(
        &mut self,
        control: &Control,
        ids: Arc<[usize]>,
        mut results: Results,
        env: &mut Env,
    ) -> Result<(), RunError> {
        let op = &control.op;
        if self.on_server(op) {
            self.readback.server_losses.append(&mut results.losses);
            self.state.for_clients.extend(results.state);
        } else {
            self.readback.losses.append(&mut results.losses);
            // A visit changes no state of the visited client.
            if !op
                .operands
                .iter()
                .any(|v| self.uploads.visiting.contains(v))
            {
                self.state.clients.extend(results.state);
            }
            self.stats.bytes_up += results.bytes;
            self.stats.client_steps += results.steps;
            // Losses and step counts cannot be taken back from a client that is lost later.
            self.uploads.used |= !control.reductions.is_empty() || results.steps > 0;
            if !results.finite {
                let (round, what) = (self.cx.round, Diverged::Round);
                return Err(RunError::Diverged { round, what });
            }
        }
        for (reduction, own) in control.reductions.iter().zip(results.reductions) {
            let value = own.running.finish(self.cx.program, reduction)?;
            env.set(reduction.results[0], value);
        }
        // In a loop of the server, each iteration uploads new values.
        for result in &op.results {
            self.uploads.counted.remove(result);
        }
        for (result, column) in op.results.iter().zip(results.columns) {
            let values = column.into_iter().flatten().collect();
            env.set(*result, RuntimeValue::Clients(Arc::clone(&ids), values));
        }
        Ok(())
    }

    /// Whether a map is over gathered values, and so runs on the server.
    fn on_server(&self, op: &Op) -> bool {
        let first = op.operands.first();
        first.map(|v| self.cx.program.schedule().module.type_of(*v).place) == Some(Place::Gathered)
    }

    /// The values of the server that a map's code reads.
    fn server_values_read(&self, body: &Block, env: &Env) -> Vec<(Value, RuntimeValue)> {
        let mut server_values: Vec<(Value, RuntimeValue)> = vec![];
        for v in body.reads(&self.cx.program.schedule().segments) {
            if let Some(value) = env.peek(v)
                && !server_values.iter().any(|(known, _)| *known == v)
            {
                server_values.push((v, value.clone()));
            }
        }
        server_values
    }
}

/// The results of a map over all clients so far.
#[derive(Default)]
struct Results {
    /// Losses of local steps.
    losses: Vec<DispatchTensor>,
    /// The number of local steps.
    steps: u64,
    /// The client states that the map set, by client and name.
    state: Vec<((usize, String), Vec<DispatchTensor>)>,
    /// For each result of the map, the value of each client. Empty if reductions consume the results.
    columns: Vec<Vec<Option<RuntimeValue>>>,
    /// The reductions that consume the results while the map runs.
    reductions: Vec<MapReduction>,
    /// The bytes on the wire of the values that reductions consume.
    bytes: u64,
    /// Whether the states that parties keep are finite.
    finite: bool,
}

/// A reduction that consumes results of a map. Values come with their index among those that a client yields.
struct MapReduction {
    running: Reduction,
    value: (Value, usize),
    /// `None` of a reduction without weights.
    weight: Option<(Value, usize)>,
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
                let of = reduction.operands[0];
                this.reductions.push(MapReduction {
                    running: Reduction::new(*kind, has_rows(cx, of)),
                    value: (of, value),
                    weight,
                });
            }
        }
        if control.reductions.is_empty() {
            this.columns = vec![vec![None; clients]; control.op.results.len()];
        }
        this
    }

    /// Adds the outcome of client `id`, which is the `i`-th of the cohort.
    fn add(
        &mut self,
        cx: RoundContext<'_>,
        i: usize,
        id: usize,
        outcome: ClientOutcome,
        observer: &mut Option<Observer<'_>>,
    ) -> Result<(), RunError> {
        self.losses.extend(outcome.losses);
        self.steps += outcome.steps;
        self.finite &= outcome.finite;
        let state = outcome.state.into_iter();
        self.state
            .extend(state.map(|(name, value)| ((id, name), value)));
        for (r, sums) in &outcome.sums {
            if let Some(reduction) = self.reductions.get_mut(*r) {
                reduction.running.add_sums(sums);
                // Sums are sent as 64-bit elements, twice the size of a value's.
                let (of, _) = reduction.value;
                self.bytes += 2 * cx.program.transferred_bytes(of) as u64;
            }
        }
        let yields = outcome.yields;
        // Several reductions may read one value. It is shown once, and sent once.
        let (mut shown, mut sent) = (BTreeSet::new(), BTreeSet::new());
        for reduction in &mut self.reductions {
            let (of, at) = reduction.value;
            if let Some(value) = yields.get(at) {
                let weight = reduction.weight.and_then(|(_, at)| yields.get(at));
                reduction.running.add(value, weight)?;
                if shown.insert(of) {
                    show(observer, cx, (of, true), id, value)?;
                }
            }
            sent.extend([reduction.value].into_iter().chain(reduction.weight));
        }
        let sent = sent.into_iter();
        let sent = sent.filter_map(|(of, at)| Some(bytes(cx.program, of, yields.get(at)?)));
        self.bytes += sent.sum::<u64>();
        for (column, value) in self.columns.iter_mut().zip(yields) {
            column[i] = Some(value);
        }
        Ok(())
    }
}
