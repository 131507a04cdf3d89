//! Warnings about uploads, aggregates and states that nothing reads.

use std::collections::HashSet;

use fedround_ir::fed::{FedOp, Kind, Module, Op, OpKind, Place, StateUse, Value};

use super::warnings::Warning;

/// The warnings about a linked module, in program order. The module must not be simplified yet, because
/// simplification drops what they are about.
pub(crate) fn unused(module: &Module) -> Vec<Warning> {
    let mut search = Search {
        module,
        reads: HashSet::new(),
        states: states_read(module).collect(),
        found: Vec::new(),
    };
    for func in &module.funcs {
        search.reads.extend(func.body.reads());
    }
    module.all_ops().for_each(|op| search.op(op));
    search.found
}

/// The states that a module reads: whose they are, and which.
fn states_read(module: &Module) -> impl Iterator<Item = (Place, &str)> {
    let states = module.all_ops().filter_map(|op| op.kind.state());
    let read = states.filter(|state| !state.sets());
    read.map(|state| (state.place, state.name))
}

impl Warning {
    /// Whether it is about a state that another module of the same algorithm reads, such as that of an
    /// evaluation.
    pub fn is_of_state_read_in(&self, module: &Module) -> bool {
        match self {
            Self::UnreadState { place, state, .. } => {
                states_read(module).any(|read| read == (*place, state.as_str()))
            }
            _ => false,
        }
    }
}

struct Search<'m> {
    module: &'m Module,
    reads: HashSet<Value>,
    /// States that are read: whose they are, and which.
    states: HashSet<(Place, &'m str)>,
    found: Vec<Warning>,
}

impl Search<'_> {
    fn op(&mut self, op: &Op) {
        let unread = |value: &Value| !self.reads.contains(value);
        match (&op.kind, op.regions.as_slice()) {
            (OpKind::Fed(FedOp::Map), [body]) => {
                let on_clients = |v: &Value| self.module.type_of(*v).place == Place::Clients;
                let results = op.results.iter().filter(|v| on_clients(v));
                let yielded = results.zip(&body.yields);
                let computed = |value: &Value| {
                    let mut ops = body.ops.iter().filter(|op| op.results.contains(value));
                    ops.any(|op| !op.kind.is_constant())
                };
                // A map for its states must give something: what it was sent, or a constant.
                let lost = yielded.filter(|(result, value)| unread(result) && computed(value));
                for _ in lost {
                    self.found.push(Warning::UnusedUpload { loc: op.loc });
                }
            }
            _ if self.module.uploads(op) && op.results.iter().all(unread) => {
                self.found.push(Warning::UnusedUpload { loc: op.loc });
            }
            // A number of the server is reported.
            _ if self.sets_number(op) => {}
            _ => {
                let set = op.kind.state().filter(StateUse::sets);
                let unread = set.filter(|set| !self.states.contains(&(set.place, set.name)));
                self.found.extend(unread.map(|set| Warning::UnreadState {
                    place: set.place,
                    state: set.name.to_owned(),
                    loc: op.loc,
                }));
            }
        }
    }

    /// Whether the only operand of an op is a number. An op that sets a state has one operand only if the state
    /// is the server's own; otherwise its first operand is the client.
    fn sets_number(&self, op: &Op) -> bool {
        matches!(op.operands.as_slice(), [value] if self.module.type_of(*value).kind == Kind::Scalar)
    }
}

#[cfg(test)]
mod tests {
    use fedround::prelude::*;

    use crate::fed::link;
    use crate::testing::Closure;

    fn warnings(round: fn(&ServerCx, Server<Params>) -> Server<Params>) -> Vec<String> {
        let spec = Closure(move |m: &mut fedround::Definer| m.round(round));
        let linked = link(fedround::stage(&spec).unwrap()).unwrap();
        let warnings = linked.warnings.iter();
        warnings
            .map(|warning| warning.to_string().split_once(": ").unwrap().1.to_owned())
            .collect()
    }

    #[test]
    fn an_upload_that_nothing_reads() {
        let found = warnings(|server, w| {
            let (w_k, _) = w.broadcast(&server.all_clients()).map(|_, w| {
                let norm = w.sq_norm();
                (w, norm)
            });
            let _ = w_k.sum();
            w_k.mean()
        });
        assert_eq!(found, ["nothing reads what the clients upload here"; 2]);
    }

    #[test]
    fn a_map_for_its_states_may_give_what_it_was_sent() {
        let found = warnings(|server, w| {
            let _ = w.broadcast(&server.all_clients()).map(|k, w| {
                k.set_state("c", &(k.state("c") + &w));
                w
            });
            w
        });
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_state_that_nothing_reads() {
        let found = warnings(|server, w| {
            server.set_state("v", &w);
            w
        });
        assert_eq!(found, ["state `test.v` is set but nothing reads it"]);
    }

    #[test]
    fn a_number_of_the_server_is_reported() {
        let found = warnings(|server, w| {
            server.set_state("norm", &w.sq_norm());
            w
        });
        assert!(found.is_empty(), "{found:?}");
    }
}
