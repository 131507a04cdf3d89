//! What a coordinator asks of a host.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use fedround_ir::fed::Value;
use fedround_passes::parties::Source;
use fedround_store::TensorBytes;

use super::super::message::{Request, Run};
use super::super::payload::{Numbers, Payload};
use super::super::table::crossing;
use super::super::transport::HostId;
use super::super::values::put;
use super::{Asked, Remote};
use crate::context::missing;
use crate::error::RunError;
use crate::value::RtVal;

/// Values that several hosts are sent: they are read from the device once.
pub(super) type Shared = BTreeMap<Value, (Vec<(String, Arc<TensorBytes>)>, Numbers)>;

impl Remote {
    /// The request to run a region for the clients at some places of the cohort.
    pub(super) fn request(
        &mut self,
        asked: &Asked<'_>,
        host: HostId,
        places: &[usize],
        shared: &mut Shared,
    ) -> Result<Payload, RunError> {
        let Asked { index, region, job } = *asked;
        let program = job.cx.program;
        let (mut tensors, mut numbers, mut sent) = (vec![], BTreeMap::new(), vec![]);
        for (input, operand) in region.inputs.iter().zip(job.operands) {
            let known = matches!(input.source, Source::Region(_))
                || self.delivered.contains(&(host, input.value));
            sent.push(!known);
            if known {
                continue;
            }
            if input.keep {
                self.delivered.insert((host, input.value));
            }
            let crossing = crossing(program, &input.without);
            let what = (program, input.kind, crossing.as_slice());
            match operand {
                RtVal::Broadcast(_, value) => {
                    let (own, own_numbers) = match shared.entry(input.value) {
                        Entry::Occupied(made) => made.into_mut(),
                        Entry::Vacant(empty) => {
                            let mut own = (vec![], BTreeMap::new());
                            put((&mut own.0, &mut own.1), &input.name, what, value)?;
                            empty.insert(own)
                        }
                    };
                    tensors.extend(own.iter().cloned());
                    numbers.extend(own_numbers.clone());
                }
                RtVal::Clients(_, values) => {
                    for &i in places {
                        let value = values
                            .get(i)
                            .ok_or_else(|| missing(job.op, "value of each client"))?;
                        let name = asked.entry(i).tensor(&input.name);
                        put((&mut tensors, &mut numbers), &name, what, value)?;
                    }
                }
                _ => return Err(missing(job.op, "value of each client")),
            }
        }
        let run = Run {
            attempt: self.attempt,
            scheduled: self.scheduled,
            clients: self.clients,
            most: self.most,
            region: index,
            map: job.map,
            entries: places.iter().map(|&i| asked.entry(i)).collect(),
            sent,
        };
        let head = Request {
            graph: self.graph.clone(),
            seed: self.seed,
            committed: self.committed.get(&host).cloned(),
            run: Some(run),
        };
        let payload = Payload::new(&head)?;
        Ok(Payload {
            tensors,
            numbers,
            ..payload
        })
    }
}
