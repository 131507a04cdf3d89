//! Chooses cohorts by values on the server: by probabilities, scores, ranks or conditions.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use fedround_ir::fed::{Choice, Op, Value};
use fedround_random::{Drawer, Purpose, StreamKey};

use super::server::Server;
use crate::aggregate::weighted_sum::Weight;
use crate::context::{missing, value_or_constant};
use crate::error::RunError;
use crate::interpreter::named_streams;
use crate::sampling::{bernoulli, by_scores};
use crate::value::{Env, RuntimeValue};

/// A number of each client of a cohort.
type Numbers = (Arc<[usize]>, Vec<f64>);

impl Server<'_> {
    /// `fed.bernoulli`, `fed.sample_by`, `fed.top`, `fed.where` and `fed.union`: a cohort that is chosen by values of
    /// the server. It may be empty; the round is skipped if the server then sends something to it.
    pub(super) fn choose(
        &mut self,
        choice: Choice,
        op: &Op,
        env: &Env,
    ) -> Result<RuntimeValue, RunError> {
        let chosen: Vec<usize> = match choice {
            Choice::Bernoulli => {
                let (ids, p) = match env.peek(op.operands[0]) {
                    Some(RuntimeValue::Clients(..) | RuntimeValue::Broadcast(..)) => {
                        self.numbers(op, env)?
                    }
                    _ => {
                        let p = self.number(op, op.operands[0], env)?;
                        let ids: Arc<[usize]> = self.all_clients();
                        let p = vec![p; ids.len()];
                        (ids, p)
                    }
                };
                if let Some(&found) = p.iter().find(|p| !(0.0..=1.0).contains(*p)) {
                    let (name, loc) = (op.kind.name(), op.loc);
                    return Err(RunError::Probability {
                        op: name,
                        found,
                        loc,
                    });
                }
                bernoulli(self.next_draw(Purpose::Participation), &ids, &p)
            }
            Choice::SampleBy => {
                let (ids, scores) = self.numbers(op, env)?;
                let m = self.count(op, env)?;
                by_scores(self.next_draw(Purpose::Scores), &ids, &scores, m)
            }
            Choice::Top => {
                let (ids, scores) = self.numbers(op, env)?;
                let m = self.count(op, env)?;
                let mut ranked: Vec<(usize, f64)> = ids.iter().copied().zip(scores).collect();
                ranked.sort_by(|(i, a), (j, b)| b.total_cmp(a).then(i.cmp(j)));
                ranked.into_iter().take(m).map(|(id, _)| id).collect()
            }
            Choice::Where => {
                let (ids, numbers) = self.numbers(op, env)?;
                let above = ids.iter().zip(numbers).filter(|(_, x)| *x > 0.0);
                above.map(|(id, _)| *id).collect()
            }
            Choice::Union => {
                let mut seen = BTreeSet::new();
                let (first, second) = (cohort(op, 0, env)?, cohort(op, 1, env)?);
                let both = first.iter().chain(second.iter()).copied();
                both.filter(|id| seen.insert(*id)).collect()
            }
        };
        Ok(RuntimeValue::Cohort(chosen.into()))
    }

    /// `fed.members`: the number of each client of a cohort.
    pub(super) fn members(&self, op: &Op, env: &Env) -> Result<RuntimeValue, RunError> {
        let ids = cohort(op, 0, env)?;
        let numbers = ids
            .iter()
            .map(|id| RuntimeValue::Number(*id as f64))
            .collect();
        Ok(RuntimeValue::Clients(ids, numbers))
    }

    /// `fed.cohort_size`: how many clients of a cohort take part. The rest of the round may depend on it: if one of
    /// them is lost from now on, the round is repeated without it.
    pub(super) fn cohort_size(&mut self, op: &Op, env: &Env) -> Result<RuntimeValue, RunError> {
        let ids = cohort(op, 0, env)?;
        let clients = match ids.is_empty() {
            true => 0,
            false => self.call(&ids, ids.len())?.len(),
        };
        self.uploads.used = true;
        Ok(RuntimeValue::Number(clients as f64))
    }

    /// `fed.restrict`: the values of those clients that are in another cohort. Clients that failed in this round have
    /// none, and are left out.
    pub(super) fn restrict(&self, op: &Op, env: &Env) -> Result<RuntimeValue, RunError> {
        let missing = || missing(op, "value of each client of the cohort");
        let of = env.peek(op.operands[0]).ok_or_else(missing)?;
        let ids = of.clients().ok_or_else(missing)?;
        let known: HashSet<usize> = ids.iter().copied().collect();
        let wanted = cohort(op, 1, env)?;
        let left = wanted
            .iter()
            .filter(|id| known.contains(id) || !self.is_gone(**id));
        let left: Arc<[usize]> = left.copied().collect();
        of.of_clients(&left)
            .map(Cow::into_owned)
            .ok_or_else(missing)
    }

    /// Whether a client was called in this round and takes no part in it.
    fn is_gone(&self, client: usize) -> bool {
        let attendance = &self.attendance;
        let gone = [&attendance.failed, &attendance.late, &attendance.surplus];
        gone.iter().any(|clients| clients.contains(&client)) || self.cx.absent.contains(&client)
    }

    /// `fed.nth_largest`: the `n`-th largest of the clients' numbers, or the smallest if there are fewer than `n`.
    pub(super) fn nth_largest(&self, op: &Op, env: &Env) -> Result<RuntimeValue, RunError> {
        let (_, mut numbers) = self.numbers(op, env)?;
        numbers.sort_by(|a, b| b.total_cmp(a));
        let n = self.count(op, env)?.clamp(1, numbers.len().max(1));
        let why = "there is no largest of no numbers";
        let empty = || RunError::Empty { why, loc: op.loc };
        let found = numbers.get(n - 1).copied().ok_or_else(empty)?;
        Ok(RuntimeValue::Number(found))
    }

    /// `fed.all_clients`: the numbers of all clients of the round.
    pub(super) fn all_clients(&self) -> Arc<[usize]> {
        match self.cx.client_subset {
            Some(ids) => ids.into(),
            None => (0..self.cx.clients()).collect(),
        }
    }

    /// The key of the next cohort that is drawn in the round.
    fn next_draw(&mut self, purpose: Purpose) -> StreamKey {
        let draw = self.counters.cohorts;
        self.counters.cohorts += 1;
        self.cx.key(purpose).with(draw)
    }

    /// The key of the server's next draw from a named stream.
    pub(super) fn named_key(&mut self, name: &str) -> StreamKey {
        let draws = self.counters.named.entry(name.to_owned()).or_default();
        *draws += 1;
        named_streams::stream_key(self.cx, name).with_drawer(Drawer::Server, *draws - 1)
    }

    /// A number of the server, in host memory.
    pub(super) fn number(&self, op: &Op, of: Value, env: &Env) -> Result<f64, RunError> {
        let value = value_or_constant(self.cx, of, env);
        let value = value.ok_or_else(|| missing(op, "number"))?;
        Weight::of_scalar(&value).number()
    }

    /// How many clients an operation chooses: its second operand, rounded, or 0 if it is negative.
    fn count(&self, op: &Op, env: &Env) -> Result<usize, RunError> {
        let n = self.number(op, op.operands[1], env)?;
        if n.is_nan() {
            let (op, loc) = (op.kind.name(), op.loc);
            return Err(RunError::Score {
                op,
                client: None,
                loc,
            });
        }
        Ok(n.round() as usize)
    }

    /// The numbers of an operation's first operand, and the clients to which they belong.
    ///
    /// # Errors
    ///
    /// One of them is NaN.
    fn numbers(&self, op: &Op, env: &Env) -> Result<Numbers, RunError> {
        let (ids, numbers) = match env.peek(op.operands[0]) {
            Some(RuntimeValue::Clients(ids, values)) => {
                let weights: Vec<Weight> = values.iter().map(Weight::of_scalar).collect();
                (Arc::clone(ids), Weight::numbers(&weights)?)
            }
            Some(RuntimeValue::Broadcast(ids, value)) => {
                let number = Weight::of_scalar(value).number()?;
                (Arc::clone(ids), vec![number; ids.len()])
            }
            _ => return Err(missing(op, "number of each client")),
        };
        match numbers.iter().position(|x| x.is_nan()) {
            None => Ok((ids, numbers)),
            Some(position) => Err(RunError::Score {
                op: op.kind.name(),
                client: ids.get(position).copied(),
                loc: op.loc,
            }),
        }
    }
}

/// An operand that is a cohort.
fn cohort(op: &Op, operand: usize, env: &Env) -> Result<Arc<[usize]>, RunError> {
    match op.operands.get(operand).and_then(|v| env.peek(*v)) {
        Some(RuntimeValue::Cohort(ids)) => Ok(Arc::clone(ids)),
        _ => Err(missing(op, "cohort")),
    }
}
