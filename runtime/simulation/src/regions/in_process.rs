//! Clients in this process: a group of them at a time on each worker thread.

use burn_backend::Backend;
use burn_dispatch::Dispatch;

use super::client_groups::{Given, deal};
use super::state_names::state_names;
use super::{Job, Lost, RunRegion, Take};
use crate::client::{self, Group};
use crate::context::{RoundContext, missing};
use crate::error::RunError;
use crate::workers::Workers;

/// Groups of clients that each worker may be ahead of the reduction.
const AHEAD: usize = 2;

/// Runs clients on worker threads.
pub(crate) struct InProcess<'a> {
    /// The devices on which they train. A device without a client gets no model.
    pub devices: &'a [RoundContext<'a>],
    pub workers: &'a Workers,
}

impl RunRegion for InProcess<'_> {
    fn run(&mut self, job: &Job<'_>, take: Take<'_>) -> Result<Lost, RunError> {
        let (op, body) = (job.op, job.body);
        let devices = &self.devices[..self.devices.len().min(job.ids.len())];
        let groups = deal(devices, body, job.ids, job.operands);
        let given = devices
            .iter()
            .map(|cx| Given::new(cx, job.operands, job.around));
        let given: Vec<Given<'_>> = given.collect::<Result<_, _>>()?;
        for cx in devices {
            // What the server computed is launched before clients read it on other threads: burn-fusion would
            // run it when the first of them asks, and wgpu then gives them other values.
            _ = Dispatch::flush(cx.program.device());
        }
        let work = |g: usize| {
            // Here a group of clients meets its device.
            let (at, members) = &groups[g];
            let (cx, given) = (devices[*at], &given[*at]);
            let of = |all: &[usize]| members.iter().map(|&i| all[i]).collect::<Vec<_>>();
            let (own, own_turns) = (of(job.ids), of(job.turns));
            let args = given.arguments(&cx, members)?;
            let args = args.ok_or_else(|| missing(op, "tensor of each client"))?;
            let group = Group {
                map: job.map,
                ids: &own,
                turns: &own_turns,
            };
            let outcomes = client::run(cx, job.kept, (op, body), group, args, &given.around);
            if outcomes.is_err() {
                // A thread is a stream, whose later errors would be found by who tries again.
                _ = Dispatch::sync(cx.program.device());
            }
            outcomes
        };
        let mut failed = None;
        let at: Vec<usize> = groups.iter().map(|(at, _)| *at).collect();
        job.kept.reading_ahead(job.ids, &state_names(body), || {
            self.workers
                .stream(&at, AHEAD, work, |g, outcomes| match outcomes {
                    Ok(outcomes) => {
                        for (&i, outcome) in groups[g].1.iter().zip(outcomes) {
                            let taken = take(i, outcome);
                            failed = failed.take().or(taken.err());
                        }
                    }
                    Err(error) => failed = failed.take().or(Some(error)),
                });
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(Lost::default()),
        }
    }
}
