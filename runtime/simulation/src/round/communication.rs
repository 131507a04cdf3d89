//! The operations that move values between the server and clients, and the bytes that they take.

use fedround_exec::tensor::{from_ints, transfer};
use std::sync::Arc;

use burn_backend::TensorMetadata;
use fedround_ir::fed::{FedOp, Op, OpKind, Reduce, Value};

use super::gathered_values::values_of_clients;
use super::observer::show_all;
use super::server::Server;
use crate::aggregate::reduction::{Reduction, bytes};
use crate::context::missing;
use crate::error::RunError;
use crate::interpreter::has_rows;
use crate::interpreter::rows::concat_rows;
use crate::value::{Env, RuntimeValue};

impl Server<'_> {
    /// The bytes that a value takes on the wire, over all clients of its cohort.
    pub(super) fn wire_bytes(&self, of: Value, value: Option<&RuntimeValue>) -> u64 {
        let program = self.cx.program;
        match value {
            Some(RuntimeValue::Clients(_, values)) => {
                values.iter().map(|x| bytes(program, of, x)).sum()
            }
            Some(RuntimeValue::Broadcast(ids, value)) => {
                ids.len() as u64 * bytes(program, of, value)
            }
            _ => 0,
        }
    }

    /// Counts the bytes of a value that clients send, unless they were counted before.
    pub(super) fn upload(&mut self, of: Value, value: Option<&RuntimeValue>) {
        if self.uploads.counted.insert(of) {
            self.stats.bytes_up += self.wire_bytes(of, value);
        }
    }

    /// `fed.broadcast`: sends a value of the server to the clients of a cohort that take part.
    pub(super) fn broadcast(
        &mut self,
        op: &Op,
        env: &mut Env,
        last_uses: &[Value],
    ) -> Result<RuntimeValue, RunError> {
        let Some(RuntimeValue::Cohort(ids)) = env.peek(op.operands[1]).cloned() else {
            return Err(missing(op, "cohort"));
        };
        let ids = self.call(&ids, ids.len())?;
        let value = env.read(op.operands[0], last_uses);
        let value = value.ok_or_else(|| missing(op, "value on the server"))?;
        self.clients.forget_delivered(&op.results);
        let result = RuntimeValue::Broadcast(ids, Box::new(value));
        self.stats.bytes_down += self.wire_bytes(op.results[0], Some(&result));
        Ok(result)
    }

    /// `fed.gather` and `fed.scatter`: moves a value of each client to the server, or to the clients.
    pub(super) fn gather_or_scatter(
        &mut self,
        op: &Op,
        env: &mut Env,
        last_uses: &[Value],
    ) -> Result<RuntimeValue, RunError> {
        let value = env.read(op.operands[0], last_uses);
        let value = value.ok_or_else(|| missing(op, "value of each client"))?;
        if op.kind == OpKind::Fed(FedOp::Gather) {
            self.uploads.used = true;
            self.upload(op.operands[0], Some(&value));
            let of = (op.operands[0], true);
            show_all(&mut self.observer, self.cx, of, Some(&value))?;
            self.uploads.observed.push(op.results[0]);
            match op.visits() {
                true => self.return_visits(op, &value, env),
                false => Ok(value),
            }
        } else {
            self.clients.forget_delivered(&op.results);
            let sent = match op.visits() {
                true => {
                    self.uploads.visiting.extend(&op.results);
                    let Some(RuntimeValue::Cohort(hosts)) = env.peek(op.operands[1]) else {
                        return Err(missing(op, "cohort"));
                    };
                    let hosts = self.call(hosts, hosts.len())?;
                    send_to_hosts(op, value, &hosts)?
                }
                false => value,
            };
            self.stats.bytes_down += self.wire_bytes(op.results[0], Some(&sent));
            Ok(sent)
        }
    }

    /// Ends a visit: for each client whose value was sent to other clients, the mean of their results.
    fn return_visits(
        &self,
        op: &Op,
        value: &RuntimeValue,
        env: &Env,
    ) -> Result<RuntimeValue, RunError> {
        let of = env.peek(op.operands[1]).and_then(RuntimeValue::clients);
        let (Some(ids), RuntimeValue::Clients(_, all)) = (of, value) else {
            return Err(missing(op, "value of each client"));
        };
        // The results of one value are next to each other.
        let results = all.chunks((all.len() / ids.len().max(1)).max(1));
        let means = results.map(|of_one_value| match of_one_value {
            [single] => Ok(single.clone()),
            _ => {
                let mut mean = Reduction::new(Reduce::Mean, has_rows(self.cx, op.operands[0]));
                of_one_value
                    .iter()
                    .try_for_each(|value| mean.add(value, None))?;
                mean.finish(self.cx.program, op)
            }
        });
        Ok(RuntimeValue::Clients(
            Arc::clone(ids),
            means.collect::<Result<_, _>>()?,
        ))
    }

    /// `fed.positions`: for each row of the concatenated rows of all clients, the position of its client in the
    /// cohort.
    pub(super) fn positions(&self, op: &Op, env: &Env) -> Result<RuntimeValue, RunError> {
        let rows = |value: &RuntimeValue| match value {
            RuntimeValue::Tensor(t) => t.shape().as_slice().first().copied(),
            _ => None,
        };
        let of = env.peek(op.operands[0]).and_then(RuntimeValue::by_client);
        let counts = of.and_then(|(_, values)| values.into_iter().map(rows).collect());
        let counts: Vec<usize> = counts.ok_or_else(|| missing(op, "features or labels"))?;
        let counts = counts.iter().enumerate();
        let positions: Vec<i32> = counts.flat_map(|(i, n)| vec![i as i32; *n]).collect();
        let shape = [positions.len()];
        let device = self.cx.program.device();
        Ok(RuntimeValue::Tensor(from_ints(positions, &shape, device)))
    }

    /// `fed.concat`: the rows of all clients, one client after another.
    pub(super) fn concat(&mut self, op: &Op, env: &Env) -> Result<RuntimeValue, RunError> {
        let value = op.operands[0];
        if !self.uploads.observed.contains(&value) {
            show_all(&mut self.observer, self.cx, (value, false), env.peek(value))?;
        }
        if !has_rows(self.cx, value) {
            return self.concat_numbers(op, env);
        }
        let rows = |value: &RuntimeValue| match value {
            RuntimeValue::Tensor(t) => Ok(transfer(t.clone(), self.cx.program.device())?),
            _ => Err(missing(op, "features or labels")),
        };
        let (_, values) = values_of_clients(op, 0, env)?;
        let all = values.into_iter().map(rows);
        concat_rows(op, all.collect::<Result<_, RunError>>()?)
    }
}

/// Begins a visit: sends every value to each client of `hosts`. The copies of one value are next to each other.
fn send_to_hosts(op: &Op, value: RuntimeValue, hosts: &[usize]) -> Result<RuntimeValue, RunError> {
    let values = match value {
        RuntimeValue::Clients(_, values) => values,
        RuntimeValue::Broadcast(ids, value) => vec![*value; ids.len()],
        _ => return Err(missing(op, "value of each client")),
    };
    let ids = values.iter().flat_map(|_| hosts.iter().copied()).collect();
    let values = values.into_iter();
    let copies = values.flat_map(|value| vec![value; hosts.len()]).collect();
    Ok(RuntimeValue::Clients(ids, copies))
}
