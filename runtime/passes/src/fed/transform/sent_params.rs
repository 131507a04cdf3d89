//! The parameters that were sent to the clients of each map: those for which `fed.global_params` may stand.

use std::collections::{HashMap, HashSet};

use fedround_ir::Loc;
use fedround_ir::fed::Value;

/// What the server has sent so far, while a round is linked.
#[derive(Default)]
pub(super) struct SentParams {
    /// Arguments of `round`, of any layer.
    starts: HashSet<Value>,
    /// What is computed from one of them.
    derived: HashSet<Value>,
    /// For each value of a cohort that was sent, the server's value, and where it was sent.
    sent: HashMap<Value, (Value, Loc)>,
    /// For each value of a cohort, what was sent to its clients for it, in order.
    behind: HashMap<Value, Vec<Value>>,
}

/// The parameters that a map's clients received.
pub(super) enum Received {
    Nothing,
    /// These stand for `fed.global_params`.
    One(Value),
    /// Others, of which none is meant more than the others. They were sent here.
    Several(Vec<Loc>),
}

impl SentParams {
    /// These are the arguments of a `round`.
    pub fn start(&mut self, values: &[Value]) {
        self.starts.extend(values);
        self.derived.extend(values);
    }

    /// A loop begins with the first values as the second ones.
    pub fn begin(&mut self, first: &[Value], carried: &[Value]) {
        for (first, carried) in first.iter().zip(carried) {
            if self.starts.contains(first) {
                self.starts.insert(*carried);
            }
            if self.derived.contains(first) {
                self.derived.insert(*carried);
            }
        }
    }

    /// An op made results of values.
    pub fn compute<'v>(&mut self, mut of: impl Iterator<Item = &'v Value>, results: &[Value]) {
        if of.any(|value| self.derived.contains(value)) {
            self.derived.extend(results);
        }
    }

    /// The server sends a value, which its clients have as another.
    pub fn send(&mut self, value: Value, received: Value, loc: Loc) {
        self.sent.insert(received, (value, loc));
        self.behind.insert(received, vec![received]);
    }

    /// A map of the clients gives results.
    pub fn map(&mut self, operands: &[Value], results: &[Value]) {
        self.compute(operands.iter(), results);
        let behind = self.behind(operands);
        if !behind.is_empty() {
            let results = results.iter().map(|result| (*result, behind.clone()));
            self.behind.extend(results);
        }
    }

    fn behind(&self, operands: &[Value]) -> Vec<Value> {
        let mut all = vec![];
        for value in operands.iter().filter_map(|v| self.behind.get(v)).flatten() {
            if !all.contains(value) {
                all.push(*value);
            }
        }
        all
    }

    /// What a map of these operands stands on: the argument of `round`, if it was sent; or else the one that
    /// was sent, or the one of several that is computed from that argument.
    pub fn received(&self, operands: &[Value]) -> Received {
        let behind = self.behind(operands);
        let server = |v: &Value| self.sent.get(v).map(|(value, _)| *value);
        let is = |set: &HashSet<Value>, v: &Value| server(v).is_some_and(|v| set.contains(&v));
        if let Some(start) = behind.iter().find(|v| is(&self.starts, v)) {
            return Received::One(*start);
        }
        let mut different: Vec<Value> = vec![];
        for value in behind {
            if different
                .iter()
                .all(|other| server(other) != server(&value))
            {
                different.push(value);
            }
        }
        let derived = different.iter().filter(|v| is(&self.derived, v)).copied();
        let derived: Vec<Value> = derived.collect();
        match (different.as_slice(), derived.as_slice()) {
            ([], _) => Received::Nothing,
            ([one], _) | (_, [one]) => Received::One(*one),
            _ => {
                let locs = different.iter().filter_map(|v| self.sent.get(v));
                Received::Several(locs.map(|(_, loc)| *loc).collect())
            }
        }
    }
}
