//! Names of values, and the texts of ops.

use std::collections::hash_map::Entry;

use fedround_ir::fed::{ExternalOp, FedOp, Kind, Op, OpKind, Place, Value};
use fedround_passes::report::notation::{Text, expression};

use super::script::Script;

impl Script<'_> {
    /// A name of its own for each value: `u`, `u2`, ….
    pub(super) fn unique(&mut self, base: &str) -> String {
        loop {
            let count = self.taken.entry(base.to_owned()).or_default();
            *count += 1;
            let name = match *count {
                1 => return base.to_owned(),
                n => format!("{base}{n}"),
            };
            // A hyper-parameter or a state may be called so.
            if let Entry::Vacant(free) = self.taken.entry(name.clone()) {
                free.insert(1);
                return name;
            }
        }
    }

    pub(super) fn name(&mut self, value: Value, op: &OpKind) -> String {
        let state = op.state().map(|state| own(state.name));
        let of_each = matches!(self.place(value), Place::Clients | Place::Gathered);
        let base = match (op, self.kind(value)) {
            (_, Kind::Cohort) => "S",
            (_, Kind::Params) if of_each => "w_k",
            (_, Kind::Tensor) if of_each => "z_k",
            (_, Kind::Labels) if of_each => "y_k",
            _ if of_each => "a_k",
            (OpKind::Fed(FedOp::Personal(_, parts)), _) if !parts.is_empty() => "v",
            (OpKind::External(ExternalOp::Apply(_)), _) => "z",
            (OpKind::External(ExternalOp::Loss(_)), _) => "ℓ",
            (_, Kind::Params) => state.unwrap_or("u"),
            (_, Kind::Tensor) => state.unwrap_or("h"),
            _ => state.unwrap_or("a"),
        };
        self.unique(base)
    }

    /// The cohort that the results of an op are over, unless it is a map or sends them to the other side.
    pub(super) fn cohort_of(&self, op: &Op) -> Option<String> {
        let OpKind::Fed(kind) = &op.kind else {
            return None;
        };
        match (kind, op.operands.as_slice()) {
            // Rows are split for the clients of the last operand.
            (FedOp::Split(_), [.., whose]) | (FedOp::Mix(_), [whose, ..]) => {
                self.cohorts.get(whose).cloned()
            }
            (FedOp::Staleness | FedOp::Members, [cohort]) | (FedOp::Restrict, [_, cohort]) => {
                Some(self.text(*cohort).plain().to_owned())
            }
            _ => None,
        }
    }

    /// A state by its name. One that holds parts of a model that are a client's own is said to be personal.
    pub(super) fn state(&self, name: &str) -> String {
        let is_personal = |op: &Op| match &op.kind {
            OpKind::Fed(FedOp::Personal(state, parts)) => state == name && !parts.is_empty(),
            _ => false,
        };
        let word = match self.module.all_ops().any(is_personal) {
            true => "personal",
            false => "state",
        };
        format!("{word}({})", own(name))
    }

    pub(super) fn expression(&self, op: &Op) -> Text {
        let operands: Vec<Text> = op.operands.iter().map(|v| self.text(*v)).collect();
        match &op.kind {
            OpKind::Fed(FedOp::Call(hook)) => Text::call(hook.name(), &operands),
            OpKind::Fed(FedOp::Super(hook)) => {
                Text::call(&format!("base.{}", hook.name()), &operands)
            }
            OpKind::Fed(FedOp::GlobalParams) => Text::call("global_params", &operands),
            OpKind::Fed(FedOp::ServerState(name, _) | FedOp::ClientState(name, _)) => {
                Text::factor(self.state(name))
            }
            // The last operand is what it has before it is first set.
            OpKind::Fed(FedOp::ServerStateOr(name) | FedOp::Personal(name, _)) => {
                let first = operands.last().map(Text::plain).unwrap_or_default();
                Text::sum(format!("{} or {first}", self.state(name)))
            }
            kind => {
                let text = expression(kind, &operands, &self.hypers);
                // An op without a notation of its own goes by its name, without the dialect.
                match kind.name().split_once('.') {
                    Some((_, name)) if text.plain().starts_with(&kind.name()) => {
                        Text::call(name, &operands)
                    }
                    _ => text,
                }
            }
        }
    }
}

/// A state's name without its layer.
fn own(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
