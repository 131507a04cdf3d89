//! Requests of the coordinator to a host.

use std::collections::BTreeMap;
use std::collections::btree_map;

use fedround_ir::fed::Value;
use fedround_passes::parties::{Input, Region, Source};

use super::super::message::{Entry, Request, Run, Task};
use super::super::payload::Payload;
use super::super::table::{is_round_argument, sent_leaves};
use super::super::transport::HostId;
use super::super::values::write_value;
use super::{Coordinator, Receiver, RegionCall};
use crate::context::missing;
use crate::error::RunError;
use crate::value::RuntimeValue;

/// Broadcast values, as they are sent. They are read from the device once for all hosts.
pub(super) type Shared = BTreeMap<Value, Payload>;

impl Coordinator {
    /// The request to run a region for the clients at some positions of the cohort.
    pub(super) fn request(
        &mut self,
        call: &RegionCall<'_>,
        host: HostId,
        positions: &[usize],
        shared: &mut Shared,
    ) -> Result<Payload, RunError> {
        let (mut values, mut sent) = (Payload::default(), vec![]);
        let inputs = call.region.inputs.iter().zip(call.job.operands);
        for (i, (input, operand)) in inputs.enumerate() {
            let entries = positions.iter().map(|&client| call.entry(client));
            let must_send =
                call.region.first_input(i).is_none() && self.must_send(host, input, entries);
            sent.push(must_send);
            if must_send {
                add_input(&mut values, call, (input, operand), positions, shared)?;
            }
        }
        let run = Run {
            attempt: self.attempt,
            scheduled: self.scheduled,
            clients: self.clients,
            most: self.max_group,
            region: call.index,
            map: call.job.map,
            entries: positions.iter().map(|&i| call.entry(i)).collect(),
            sent,
            sums: self.sends_sums(call.region, positions.len()),
        };
        let task = match call.server {
            Some(server) => Task::Evaluate(run, server.checksums.clone()),
            None => Task::Run(run),
        };
        Ok(values.with_head(&self.head(host, task))?)
    }

    /// The head of a request to a host.
    pub(super) fn head(&self, host: HostId, task: Task) -> Request {
        Request {
            graph: self.graph_hash.clone(),
            seed: self.seed,
            committed: self.committed.get(&host).cloned(),
            task,
        }
    }

    /// Whether a host should send sums for this many clients: only if the 64-bit sums are not larger than the 32-bit
    /// values of all clients.
    pub(super) fn sends_sums(&self, region: &Region, clients: usize) -> bool {
        let mut outputs: Vec<usize> = region.sums.iter().map(|sum| sum.output).collect();
        outputs.sort_unstable();
        outputs.dedup();
        self.sums && !outputs.is_empty() && 2 * region.sums.len() <= clients * outputs.len()
    }

    /// Whether an input has to be sent to a host. If the host keeps it, later requests of the attempt do not send it
    /// again.
    fn must_send(
        &mut self,
        host: HostId,
        input: &Input,
        entries: impl Iterator<Item = Entry>,
    ) -> bool {
        let delivered = &mut self.delivered;
        let mut is_new = |to: Receiver| match input.keep {
            true => delivered.insert((to, input.value)),
            false => !delivered.contains(&(to, input.value)),
        };
        match input.source {
            Source::Region(_) => false,
            Source::Broadcast => is_new(Receiver::Host(host)),
            Source::Scatter => {
                // All entries of the request are sent, and counted, if one of them is new.
                let new: Vec<bool> = entries
                    .map(|entry| is_new(Receiver::Entry(entry)))
                    .collect();
                new.contains(&true)
            }
        }
    }
}

/// Adds an input to a request, for the clients at some positions of the cohort.
fn add_input(
    values: &mut Payload,
    call: &RegionCall<'_>,
    (input, operand): (&Input, &RuntimeValue),
    positions: &[usize],
    shared: &mut Shared,
) -> Result<(), RunError> {
    let program = call.job.cx.program;
    let sent_leaves = match call.server {
        Some(server) if is_round_argument(program, input.value) => server.changed.clone(),
        Some(server) => vec![true; server.changed.len()],
        None => sent_leaves(program, &input.without),
    };
    let what = (program, input.kind, sent_leaves.as_slice());
    let missing = || missing(call.job.op, "value of each client");
    match operand {
        RuntimeValue::Broadcast(_, value) => {
            let payload = match shared.entry(input.value) {
                btree_map::Entry::Occupied(payload) => payload.into_mut(),
                btree_map::Entry::Vacant(entry) => {
                    let mut payload = Payload::default();
                    write_value(&mut payload, &input.name, what, value)?;
                    entry.insert(payload)
                }
            };
            values.extend(payload);
        }
        RuntimeValue::Clients(_, all) => {
            for &i in positions {
                let name = call.entry(i).tensor(&input.name);
                write_value(values, &name, what, all.get(i).ok_or_else(missing)?)?;
            }
        }
        _ => return Err(missing()),
    }
    Ok(())
}
