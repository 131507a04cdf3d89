//! Requests of a coordinator to a host.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use fedround_ir::fed::Value;
use fedround_passes::parties::{Input, Region, Source};

use super::super::message::{Request, Run, Task};
use super::super::payload::Payload;
use super::super::table::crossing;
use super::super::transport::HostId;
use super::super::values::put;
use super::{Asked, Remote};
use crate::context::missing;
use crate::error::RunError;
use crate::value::RtVal;

/// Values that several hosts are sent: they are read from the device once.
pub(super) type Shared = BTreeMap<Value, Payload>;

impl Remote {
    /// The request to run a region for the clients at some places of the cohort.
    pub(super) fn request(
        &mut self,
        asked: &Asked<'_>,
        host: HostId,
        places: &[usize],
        shared: &mut Shared,
    ) -> Result<Payload, RunError> {
        let (mut values, mut sent) = (Payload::default(), vec![]);
        for (input, operand) in asked.region.inputs.iter().zip(asked.job.operands) {
            let sends = self.deliver(host, input);
            sent.push(sends);
            if sends {
                add(&mut values, asked, (input, operand), places, shared)?;
            }
        }
        let run = Run {
            attempt: self.attempt,
            scheduled: self.scheduled,
            clients: self.clients,
            most: self.most,
            region: asked.index,
            map: asked.job.map,
            entries: places.iter().map(|&i| asked.entry(i)).collect(),
            sent,
            sums: self.sums(asked.region, places.len()),
        };
        let task = match asked.server {
            Some(server) => Task::Evaluate(run, server.checksums.clone()),
            None => Task::Run(run),
        };
        Ok(values.with_head(&self.head(host, task))?)
    }

    /// The head of a request to a host.
    pub(super) fn head(&self, host: HostId, task: Task) -> Request {
        Request {
            graph: self.graph.clone(),
            seed: self.seed,
            committed: self.committed.get(&host).cloned(),
            task,
        }
    }

    /// Whether a host should send sums for this many clients: only if the 64-bit sums are no larger than the
    /// 32-bit values.
    pub(super) fn sums(&self, region: &Region, clients: usize) -> bool {
        let mut outputs: Vec<usize> = region.sums.iter().map(|sum| sum.output).collect();
        outputs.dedup();
        self.sums && !outputs.is_empty() && 2 * region.sums.len() <= clients * outputs.len()
    }

    /// Whether a host has to be sent a value. From then on it has it, if it keeps it.
    fn deliver(&mut self, host: HostId, input: &Input) -> bool {
        if matches!(input.source, Source::Region(_)) {
            return false;
        }
        match input.keep {
            true => self.delivered.insert((host, input.value)),
            false => !self.delivered.contains(&(host, input.value)),
        }
    }
}

/// Adds what the clients at some places are sent of an input.
fn add(
    values: &mut Payload,
    asked: &Asked<'_>,
    (input, operand): (&Input, &RtVal),
    places: &[usize],
    shared: &mut Shared,
) -> Result<(), RunError> {
    let program = asked.job.cx.program;
    let crossing = match asked.server {
        Some(server) => server.changed.clone(),
        None => crossing(program, &input.without),
    };
    let what = (program, input.kind, crossing.as_slice());
    let missing = || missing(asked.job.op, "value of each client");
    match operand {
        RtVal::Broadcast(_, value) => {
            let made = match shared.entry(input.value) {
                Entry::Occupied(made) => made.into_mut(),
                Entry::Vacant(empty) => {
                    let mut made = Payload::default();
                    put(&mut made, &input.name, what, value)?;
                    empty.insert(made)
                }
            };
            values.extend(made);
        }
        RtVal::Clients(_, all) => {
            for &i in places {
                let name = asked.entry(i).tensor(&input.name);
                put(values, &name, what, all.get(i).ok_or_else(missing)?)?;
            }
        }
        _ => return Err(missing()),
    }
    Ok(())
}
