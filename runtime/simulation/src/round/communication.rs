//! The operations that move values between the server and clients, and the bytes that they take.

use fedround_exec::tensor::{from_ints, transfer};
use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_backend::TensorMetadata;
use fedround_ir::fed::{FedOp, Op, OpKind, Reduce, Value};

use super::observer::show_all;
use super::server::Server;
use crate::aggregate::reduction::{Reduction, bytes};
use crate::context::missing;
use crate::error::RunError;
use crate::interpreter::has_rows;
use crate::interpreter::rows::join;
use crate::value::{Env, RtVal};

impl Server<'_> {
    /// Bytes of a value of each client.
    pub(crate) fn wire_bytes(&self, of: Value, value: Option<&RtVal>) -> u64 {
        let program = self.cx.program;
        match value {
            Some(RtVal::Clients(_, values)) => values.iter().map(|x| bytes(program, of, x)).sum(),
            Some(RtVal::Broadcast(ids, value)) => ids.len() as u64 * bytes(program, of, value),
            _ => 0,
        }
    }

    /// Counts the bytes of a value that clients send: once, however many operations read it.
    pub(crate) fn upload(&mut self, of: Value, value: Option<&RtVal>) {
        if self.sent.insert(of) {
            self.stats.bytes_up += self.wire_bytes(of, value);
        }
    }

    pub(crate) fn broadcast(
        &mut self,
        op: &Op,
        env: &mut Env,
        last: &[Value],
    ) -> Result<RtVal, RunError> {
        let Some(RtVal::Cohort(ids)) = env.peek(op.operands[1]).cloned() else {
            return Err(missing(op, "cohort"));
        };
        // Who is in flight was decided when it began.
        let arrive = self.arrived.iter().map(|flight| &flight.client);
        let ids = match !ids.is_empty() && arrive.eq(ids.iter()) {
            true => ids,
            false => self.call(&ids, ids.len())?,
        };
        let value = env.read(op.operands[0], last);
        let value = value.ok_or_else(|| missing(op, "value on the server"))?;
        self.clients.renew(&op.results);
        let result = RtVal::Broadcast(ids, Box::new(value));
        self.stats.bytes_down += self.wire_bytes(op.results[0], Some(&result));
        Ok(result)
    }

    /// Takes a value of each client to the other side.
    pub(crate) fn cross(
        &mut self,
        op: &Op,
        env: &mut Env,
        last: &[Value],
    ) -> Result<RtVal, RunError> {
        let value = env.read(op.operands[0], last);
        let value = value.ok_or_else(|| missing(op, "value of each client"))?;
        if op.kind == OpKind::Fed(FedOp::Gather) {
            self.has_taken = true;
            self.upload(op.operands[0], Some(&value));
            let of = (op.operands[0], true);
            show_all(&mut self.observer, self.cx, of, Some(&value))?;
            self.gathered.push(op.results[0]);
            match op.visits() {
                true => self.come_back(op, &value, env),
                false => Ok(value),
            }
        } else {
            self.clients.renew(&op.results);
            let sent = match op.visits() {
                true => {
                    self.visiting.extend(&op.results);
                    let Some(RtVal::Cohort(hosts)) = env.peek(op.operands[1]) else {
                        return Err(missing(op, "cohort"));
                    };
                    let hosts = self.call(hosts, hosts.len())?;
                    depart(op, value, &hosts)?
                }
                false => value,
            };
            self.stats.bytes_down += self.wire_bytes(op.results[0], Some(&sent));
            Ok(sent)
        }
    }

    /// For each client whose value went on a visit, the mean of what it became.
    fn come_back(&self, op: &Op, value: &RtVal, env: &Env) -> Result<RtVal, RunError> {
        let of = env.peek(op.operands[1]);
        let (Some(RtVal::Clients(ids, _) | RtVal::Broadcast(ids, _)), RtVal::Clients(_, all)) =
            (of, value)
        else {
            return Err(missing(op, "value of each client"));
        };
        let visited = all.chunks((all.len() / ids.len().max(1)).max(1));
        let means = visited.map(|of_one| match of_one {
            [alone] => Ok(alone.clone()),
            _ => {
                let mut mean = Reduction::new(Reduce::Mean, has_rows(self.cx, op.operands[0]));
                of_one.iter().try_for_each(|value| mean.add(value, None))?;
                mean.finish(self.cx.program, op)
            }
        });
        Ok(RtVal::Clients(
            Arc::clone(ids),
            means.collect::<Result<_, _>>()?,
        ))
    }

    /// For each row of all clients, below each other, its client's place in the cohort.
    pub(crate) fn places(&self, op: &Op, env: &Env) -> Result<RtVal, RunError> {
        let rows = |value: &RtVal| match value {
            RtVal::Tensor(t) => t.shape().as_slice().first().copied(),
            _ => None,
        };
        let counts: Option<Vec<usize>> = match env.peek(op.operands[0]) {
            Some(RtVal::Clients(_, values)) => values.iter().map(rows).collect(),
            Some(RtVal::Broadcast(ids, value)) => ids.iter().map(|_| rows(value)).collect(),
            _ => None,
        };
        let counts = counts.ok_or_else(|| missing(op, "features or labels"))?;
        let places = counts.iter().enumerate();
        let places: Vec<i32> = places.flat_map(|(i, n)| vec![i as i32; *n]).collect();
        let shape = [places.len()];
        let device = self.cx.program.device();
        Ok(RtVal::Tensor(from_ints(places, &shape, device)))
    }

    /// The rows of all clients below each other.
    pub(crate) fn concat(&mut self, op: &Op, env: &Env) -> Result<RtVal, RunError> {
        let value = op.operands[0];
        if !self.gathered.contains(&value) {
            show_all(&mut self.observer, self.cx, (value, false), env.peek(value))?;
        }
        if !has_rows(self.cx, value) {
            return self.concat_numbers(op, env);
        }
        let rows = |value: &RtVal| match value {
            RtVal::Tensor(t) => Ok(transfer(t.clone(), self.cx.program.device())?),
            _ => Err(missing(op, "features or labels")),
        };
        let all: Result<Vec<DispatchTensor>, RunError> = match env.peek(op.operands[0]) {
            Some(RtVal::Clients(_, values)) => values.iter().map(rows).collect(),
            Some(RtVal::Broadcast(ids, value)) => ids.iter().map(|_| rows(value)).collect(),
            _ => Err(missing(op, "value of each client")),
        };
        join(op, all?)
    }
}

/// Every value to each client of a cohort: those of a client stand beside each other.
fn depart(op: &Op, value: RtVal, hosts: &[usize]) -> Result<RtVal, RunError> {
    let values = match value {
        RtVal::Clients(_, values) => values,
        RtVal::Broadcast(ids, value) => vec![*value; ids.len()],
        _ => return Err(missing(op, "value of each client")),
    };
    let at = values.iter().flat_map(|_| hosts.iter().copied()).collect();
    let each = values.into_iter();
    let each = each.flat_map(|value| vec![value; hosts.len()]).collect();
    Ok(RtVal::Clients(at, each))
}
