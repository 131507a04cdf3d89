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
use super::super::message::{ClientReport, Done, Entry, Reply, Run};
use super::super::payload::Payload;
use super::super::table::{RegionTable, map_of_region, sent_leaves};
use super::super::value_type::ValueType;
use super::super::values::{PayloadReader, write_encoded, write_value};
use super::{HostError, PartyHost};
use crate::client::ClientOutcome;
use crate::context::RoundContext;
use crate::error::RunError;
use crate::regions::{ClientRunner, InProcessRunner, MapJob};
use crate::state::PerClientStates;
use crate::value::RuntimeValue;

/// The outcomes of clients, with their positions in the request.
pub(super) type Outcomes = Vec<(usize, ClientOutcome)>;

impl PartyHost {
    /// Runs the region of a request, and returns the reply.
    pub(super) fn run(&mut self, run: &Run, payload: &Payload) -> Result<Payload, HostError> {
        let region = self.region(run, &self.table)?;
        self.begin(run.attempt)?;
        // A second run would read the states that the first one set, in place of those of the round before.
        if self.completed_maps.contains(&run.map) {
            let round = run.attempt.round;
            return Err(HostError::Again { round });
        }
        self.simulation.set_left_out_rounds(run.left_out());
        let operands = self.operands(run, &region, payload)?;
        let (simulation, absent) = (&self.simulation, BTreeSet::new());
        let contexts = simulation.contexts(run.attempt.round, run.most, &absent);
        let states = simulation.client_states();
        let outcomes = self.outcomes(contexts, states, (run, &region), &operands)?;
        let reply = self.report(run, &region, &outcomes)?;
        self.store_results(run, &region, outcomes);
        self.completed_maps.insert(run.map);
        Ok(reply)
    }

    /// The region of a request. Fails if the request names clients of other hosts.
    pub(super) fn region(&self, run: &Run, table: &RegionTable) -> Result<Region, HostError> {
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

    /// The inputs of the region's code: values of the request, and values that are kept here.
    fn operands(
        &mut self,
        run: &Run,
        region: &Region,
        payload: &Payload,
    ) -> Result<Vec<RuntimeValue>, HostError> {
        let ids: Arc<[usize]> = run.entries.iter().map(|entry| entry.client).collect();
        let program = self.simulation.program().at(run.scheduled);
        let mut reader = PayloadReader::new(payload, program);
        let mut operands: Vec<RuntimeValue> = vec![];
        for (i, (input, sent)) in region.inputs.iter().zip(&run.sent).enumerate() {
            if let Some(first) = repeated(region, i, &operands) {
                operands.push(first);
                continue;
            }
            let not_held = || HostError::NotHeld {
                name: input.name.clone(),
            };
            let sent_leaves = sent_leaves(program, &input.without);
            let zero = program.leaf_mask(&input.zero);
            let fill = |leaf| fill(program, self.simulation.params(), &zero, leaf);
            let what = (input.kind, sent_leaves.as_slice(), &ValueType::default());
            // The value of one client, or of all.
            let mut read = |entry: Option<Entry>| -> Result<RuntimeValue, HostError> {
                let key = (entry, input.value);
                if !sent {
                    return self.held.get(&key).cloned().ok_or_else(not_held);
                }
                let name = entry.map(|entry| entry.tensor(&input.name));
                let value = reader.value(name.as_ref().unwrap_or(&input.name), what, fill)?;
                if input.keep {
                    self.held.insert(key, value.clone());
                }
                Ok(value)
            };
            let ids = Arc::clone(&ids);
            operands.push(match is_shared(input) {
                true => RuntimeValue::Broadcast(ids, Box::new(read(None)?)),
                false => {
                    let values = run.entries.iter().map(|entry| read(Some(*entry)));
                    RuntimeValue::Clients(ids, values.collect::<Result<_, _>>()?)
                }
            });
        }
        reader.finish()?;
        Ok(operands)
    }

    /// Runs the region's code on the host's devices, and returns the outcomes in the order of the request.
    pub(super) fn outcomes<'a>(
        &'a self,
        mut devices: Vec<RoundContext<'a>>,
        states: &PerClientStates,
        (run, region): (&Run, &Region),
        operands: &[RuntimeValue],
    ) -> Result<Outcomes, RunError> {
        let simulation = &self.simulation;
        for cx in &mut devices {
            cx.population = Some(run.clients);
        }
        let main_device = devices[0];
        let schedule = main_device.program.schedule();
        let found = map_of_region(&schedule.round, region.client);
        let Some((control, body)) = found else {
            return Err(RunError::Compile(fedround_exec::CompileError::NoRound));
        };
        let ids: Vec<usize> = run.entries.iter().map(|entry| entry.client).collect();
        let turns: Vec<usize> = run.entries.iter().map(|entry| entry.turn).collect();
        let job = MapJob {
            cx: main_device,
            map: run.map,
            op: &control.op,
            body,
            ids: &ids,
            turns: &turns,
            operands: &operands.iter().collect::<Vec<_>>(),
            server_values: &[],
            states,
        };
        let mut outcomes = vec![];
        let mut in_process = InProcessRunner {
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

    /// The reply with the values that the region's table sends, and no others.
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
                        write_encoded(&mut reply, &name, bytes);
                        continue;
                    }
                    let sent_leaves = sent_leaves(program, &output.without);
                    let what = (program, output.kind, sent_leaves.as_slice());
                    write_value(&mut reply, &name, what, value)?;
                }
            }
            let losses = read_all(outcome.losses.clone()).map_err(RunError::from)?;
            let losses = losses.concat();
            let losses = TensorBytes::of_floats(&losses, &[losses.len()]);
            reply.add(entry.losses(), losses);
            // The coordinator checks the values that it is sent; only what stays here has to be checked here.
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

    /// Stores what stays here: states, until the coordinator commits or gives up the round, and values for later
    /// regions.
    fn store_results(&mut self, run: &Run, region: &Region, outcomes: Outcomes) {
        let mut states = vec![];
        for (i, outcome) in outcomes {
            let Some(&entry) = run.entries.get(i) else {
                continue;
            };
            // A visit changes no state of the visited client.
            if !region.visits {
                let set = outcome.state.into_iter();
                states.extend(set.map(|(name, value)| ((entry.client, name), value)));
            }
            for (output, value) in region.outputs.iter().zip(outcome.yields) {
                if output.keep {
                    self.held.insert((Some(entry), output.value), value);
                }
            }
        }
        self.simulation.set_client_states(states);
    }
}

/// The operand that an input repeats, if the region is given one value twice, which is sent once.
pub(super) fn repeated(
    region: &Region,
    input: usize,
    operands: &[RuntimeValue],
) -> Option<RuntimeValue> {
    operands.get(region.first_input(input)?).cloned()
}

/// Whether all clients receive the same value of an input.
pub(super) fn is_shared(input: &Input) -> bool {
    input.source == Source::Broadcast
}

/// A leaf of an input that is not sent: zeros, or the leaf of the initial model.
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
