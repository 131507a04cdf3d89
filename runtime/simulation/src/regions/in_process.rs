//! Runs client code in this process: each worker thread runs one group of clients at a time.

use burn_backend::Backend;
use burn_dispatch::Dispatch;
use fedround_passes::schedule::Block;

use super::client_groups::{DeviceOperands, assign_groups};
use super::{ClientRunner, LostClients, MapJob, OutcomeSink};
use crate::client::ClientGroup;
use crate::context::{RoundContext, missing};
use crate::controls::controls;
use crate::error::RunError;
use crate::workers::Workers;

/// How many groups each worker may finish before the server takes their outcomes.
const AHEAD: usize = 2;

/// The names of the client states that a map's code reads, in order, without repetitions. States that it sets are among
/// them, because a client that sits out a step needs the old value.
fn state_names(code: &Block) -> Vec<&str> {
    let mut names = vec![];
    for control in controls(code) {
        if let Some(state) = control.op.kind.state()
            && !names.contains(&state.name)
        {
            names.push(state.name);
        }
    }
    names
}

/// Runs client code on worker threads.
pub(crate) struct InProcessRunner<'a> {
    /// The context of each device on which clients train. A device without clients is sent no model.
    pub devices: &'a [RoundContext<'a>],
    pub workers: &'a Workers,
}

impl ClientRunner for InProcessRunner<'_> {
    fn run(&mut self, job: &MapJob<'_>, sink: OutcomeSink<'_>) -> Result<LostClients, RunError> {
        let (op, body) = (job.op, job.body);
        let devices = &self.devices[..self.devices.len().min(job.ids.len())];
        let groups = assign_groups(devices, body, job.ids, job.operands);
        let operands = devices
            .iter()
            .map(|cx| DeviceOperands::new(cx, job.operands, job.server_values));
        let operands: Vec<DeviceOperands<'_>> = operands.collect::<Result<_, _>>()?;
        for cx in devices {
            // Flush before clients read the server's values on other threads. Otherwise burn-fusion computes them
            // when the first client reads them, and on wgpu the clients would then read wrong values.
            _ = Dispatch::flush(cx.program.device());
        }
        let work = |g: usize| {
            let (device, members) = &groups[g];
            let (cx, operands) = (devices[*device], &operands[*device]);
            let of_members = |all: &[usize]| members.iter().map(|&i| all[i]).collect::<Vec<_>>();
            let args = operands.arguments(&cx, members)?;
            let args = args.ok_or_else(|| missing(op, "tensor of each client"))?;
            let (ids, turns) = (of_members(job.ids), of_members(job.turns));
            let group = ClientGroup::new(cx, job.states, job.map, (&ids, &turns));
            let outcomes = group.run((op, body), args, &operands.server_values);
            if outcomes.is_err() {
                // Each thread has a GPU stream of its own. Waiting here keeps errors of later operations from
                // appearing when the round is repeated on this thread.
                _ = Dispatch::sync(cx.program.device());
            }
            outcomes
        };
        let mut first_error = None;
        let group_devices: Vec<usize> = groups.iter().map(|(device, _)| *device).collect();
        job.states.reading_ahead(job.ids, &state_names(body), || {
            self.workers
                .stream(&group_devices, AHEAD, work, |g, outcomes| match outcomes {
                    Ok(outcomes) => {
                        for (&i, outcome) in groups[g].1.iter().zip(outcomes) {
                            let added = sink(i, outcome);
                            first_error = first_error.take().or(added.err());
                        }
                    }
                    Err(error) => first_error = first_error.take().or(Some(error)),
                });
        });
        match first_error {
            Some(error) => Err(error),
            None => Ok(LostClients::default()),
        }
    }
}
