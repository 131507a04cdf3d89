//! Runs a region for clients of a host.

use std::collections::BTreeSet;
use std::sync::Arc;

use burn::tensor::DispatchTensor;
use fedround_exec::Program;
use fedround_exec::tensor::{all_finite, from_floats, read_all};
use fedround_passes::lowering::Frontend;
use fedround_passes::parties::{Input, Region, Source};
use fedround_store::TensorBytes;

use super::super::error::ContentError;
use super::super::message::{ClientReport, Done, LOSSES, Reply, Run};
use super::super::payload::Payload;
use super::super::table::{Table, code_of, crossing};
use super::super::value_type::ValueType;
use super::super::values::{Taking, put, put_encoded};
use super::{HostError, PartyHost};
use crate::client::Outcome;
use crate::context::RoundContext;
use crate::error::RunError;
use crate::regions::{InProcess, Job, RunRegion};
use crate::state::ByClient;
use crate::value::RtVal;

/// What clients' code gave, by their places in the request.
pub(super) type Outcomes = Vec<(usize, Outcome)>;

impl PartyHost {
    pub(super) fn run(&mut self, run: &Run, payload: &Payload) -> Result<Payload, HostError> {
        let region = self.region(run, &self.table)?;
        self.begin(run.attempt)?;
        // States that it set would be read as those of the round before.
        if self.ran.contains(&run.map) {
            let round = run.attempt.round;
            return Err(HostError::Again { round });
        }
        self.simulation.leave_out(run.left_out());
        let operands = self.operands(run, &region, payload)?;
        let (simulation, nobody) = (&self.simulation, BTreeSet::new());
        let contexts = simulation.contexts(run.attempt.round, run.most, &nobody);
        let kept = simulation.client_states();
        let outcomes = self.outcomes(contexts, kept, (run, &region), &operands)?;
        let reply = self.report(run, &region, &outcomes)?;
        self.keep(run, &region, outcomes);
        self.ran.insert(run.map);
        Ok(reply)
    }

    /// The region of a request, which is for clients that are here.
    pub(super) fn region(&self, run: &Run, table: &Table) -> Result<Region, HostError> {
        let elsewhere = |client: &usize| self.clients.binary_search(client).is_err();
        let mut clients = run.entries.iter().map(|entry| entry.client);
        if let Some(client) = clients.find(elsewhere) {
            return Err(HostError::NotHere { client });
        }
        let (region, round) = (run.region, run.attempt.round);
        let phase = self.simulation.program().phase_of(run.scheduled).0;
        let found = table.region(phase, region).cloned();
        let found = found.filter(|region| region.inputs.len() == run.sent.len());
        found
            .filter(|_| run.scheduled >= round)
            .ok_or(HostError::NoRegion { region, round })
    }

    /// What the region's code is given, of which some is here.
    fn operands(
        &mut self,
        run: &Run,
        region: &Region,
        payload: &Payload,
    ) -> Result<Vec<RtVal>, HostError> {
        let ids: Arc<[usize]> = run.entries.iter().map(|entry| entry.client).collect();
        let program = self.simulation.program().at(run.scheduled);
        let mut taking = Taking::new(payload, program);
        let mut operands = vec![];
        for (input, sent) in region.inputs.iter().zip(&run.sent) {
            let not_held = || HostError::NotHeld {
                name: input.name.clone(),
            };
            let crossing = crossing(program, &input.without);
            let zero = program.leaf_mask(&input.zero);
            let fill = |leaf| fill(program, self.simulation.initial(), &zero, leaf);
            let what = (input.kind, crossing.as_slice(), &ValueType::default());
            operands.push(match (sent, shared(input)) {
                (true, true) => {
                    let value = taking.value(&input.name, what, fill)?;
                    if input.keep {
                        self.shared.insert(input.value, value.clone());
                    }
                    RtVal::Broadcast(Arc::clone(&ids), Box::new(value))
                }
                (false, true) => {
                    let value = self.shared.get(&input.value).ok_or_else(not_held)?;
                    RtVal::Broadcast(Arc::clone(&ids), Box::new(value.clone()))
                }
                (sent, false) => {
                    let mut values = Vec::with_capacity(ids.len());
                    for entry in &run.entries {
                        let key = (*entry, input.value);
                        if !sent {
                            let held = self.held.get(&key).ok_or_else(not_held)?;
                            values.push(held.clone());
                            continue;
                        }
                        let value = taking.value(&entry.tensor(&input.name), what, fill)?;
                        if input.keep {
                            self.held.insert(key, value.clone());
                        }
                        values.push(value);
                    }
                    RtVal::Clients(Arc::clone(&ids), values)
                }
            });
        }
        taking.finish()?;
        Ok(operands)
    }

    /// Runs the code on the host's devices, and gives the outcomes in the order of the request.
    pub(super) fn outcomes<'a>(
        &'a self,
        (mut home, mut devices): (RoundContext<'a>, Vec<RoundContext<'a>>),
        kept: &ByClient,
        (run, region): (&Run, &Region),
        operands: &[RtVal],
    ) -> Result<Outcomes, RunError> {
        let simulation = &self.simulation;
        home.population = Some(run.clients);
        devices
            .iter_mut()
            .for_each(|cx| cx.population = Some(run.clients));
        devices.insert(0, home);
        let schedule = home.program.schedule();
        let found = code_of(&schedule.round, region.client);
        let Some((control, body)) = found else {
            return Err(RunError::Compile(fedround_exec::CompileError::NoRound));
        };
        let of = |part: fn(&super::Entry) -> usize| run.entries.iter().map(part).collect();
        let ids: Vec<usize> = of(|entry| entry.client);
        let turns: Vec<usize> = of(|entry| entry.turn);
        let job = Job {
            cx: home,
            map: run.map,
            op: &control.op,
            body,
            ids: &ids,
            turns: &turns,
            operands: &operands.iter().collect::<Vec<_>>(),
            around: &[],
            kept,
        };
        let mut outcomes = vec![];
        let mut in_process = InProcess {
            devices: &devices,
            workers: simulation.workers(),
        };
        simulation.guarded(|| {
            in_process.run(&job, &mut |i, outcome| {
                outcomes.push((i, outcome));
                Ok(())
            })
        })?;
        outcomes.sort_by_key(|(i, _)| *i);
        Ok(outcomes)
    }

    /// The reply. Nothing is in it that the region's table does not send.
    fn report(
        &self,
        run: &Run,
        region: &Region,
        outcomes: &Outcomes,
    ) -> Result<Payload, HostError> {
        let program = self.simulation.program().at(run.scheduled);
        let (mut reply, mut clients) = (Payload::default(), vec![]);
        for (i, outcome) in outcomes {
            let Some(&entry) = run.entries.get(*i) else {
                continue;
            };
            let mut summed = vec![];
            for (k, (output, value)) in region.outputs.iter().zip(&outcome.yields).enumerate() {
                if run.sums && region.is_summed(k) {
                    summed.extend(value.tensors());
                } else if output.send {
                    let name = entry.tensor(&output.name);
                    if let Some(encoded) = &output.encoded {
                        let bytes = outcome.encoded.get(&encoded.decoded);
                        let bytes =
                            bytes.ok_or_else(|| ContentError::Missing { name: name.clone() })?;
                        put_encoded(&mut reply, &name, bytes);
                        continue;
                    }
                    let crossing = crossing(program, &output.without);
                    let what = (program, output.kind, crossing.as_slice());
                    put(&mut reply, &name, what, value)?;
                }
            }
            let losses = read_all(outcome.losses.clone()).map_err(RunError::from)?;
            let losses = losses.concat();
            let losses = TensorBytes::of_floats(&losses, &[losses.len()]);
            let name = entry.tensor(&LOSSES[1..]);
            reply.tensors.push((name, Arc::new(losses)));
            // The coordinator looks at the values that it is sent.
            let states = outcome.state.values().flatten().chain(summed);
            let states: Vec<DispatchTensor> = states.cloned().collect();
            clients.push(ClientReport {
                entry,
                steps: outcome.steps,
                finite: all_finite(&states).map_err(RunError::from)?,
            });
        }
        if run.sums {
            self.add_sums(&mut reply, (run, region), outcomes)?;
        }
        Ok(reply.with_head(&Reply::Done(Some(Done {
            attempt: run.attempt,
            region: run.region,
            map: run.map,
            clients,
        })))?)
    }

    /// Keeps what stays here: states until the round is kept or given up, and values for later regions.
    fn keep(&mut self, run: &Run, region: &Region, outcomes: Outcomes) {
        let mut states = vec![];
        for (i, outcome) in outcomes {
            let Some(&entry) = run.entries.get(i) else {
                continue;
            };
            // A client that is visited keeps nothing.
            if !region.visits {
                let own = outcome.state.into_iter();
                states.extend(own.map(|(name, value)| ((entry.client, name), value)));
            }
            for (output, value) in region.outputs.iter().zip(outcome.yields) {
                if output.keep {
                    self.held.insert((entry, output.value), value);
                }
            }
        }
        self.simulation.set_client_states(states);
    }
}

/// Whether all clients are sent one value.
pub(super) fn shared(input: &Input) -> bool {
    input.source == Source::Broadcast
}

/// A leaf that is not sent: zero, or that of the initial model.
fn fill(
    program: &Program,
    initial: &[DispatchTensor],
    zero: &[bool],
    leaf: usize,
) -> Option<DispatchTensor> {
    if zero.get(leaf).copied().unwrap_or_default() {
        let (_, ty) = program.model().parameters().get(leaf)?;
        let zeros = vec![0.0; ty.len()];
        return Some(from_floats(zeros, &ty.shape, program.device()));
    }
    initial.get(leaf).cloned()
}
