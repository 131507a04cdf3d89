//! The verifier's checks of one op: invariants 7 to 13 and 22.

use super::verify::{At, Verifier};
use super::{
    Broken, FedOp, Func, Hook, Kind, Op, OpKind, Place, PrivacyOp, Region, StateUse, Type, Value,
    signature,
};

impl Verifier<'_> {
    pub(super) fn op(&mut self, op: &Op, place: Place) {
        let name = op.kind.name();
        let at = At {
            op: &name,
            loc: op.loc,
        };
        if let OpKind::Fed(FedOp::Hyper(index)) = op.kind
            && index >= self.module.hypers.len()
        {
            let found = format!("number {index} of {}", self.module.hypers.len());
            self.report(
                &at,
                Broken::Hyper {
                    found,
                    expected: "an entry of the module's table",
                },
            );
        }
        let before = self.errors.len();
        for &value in &op.operands {
            self.read(&at, value);
        }
        let readable = self.errors.len() == before;
        if let Some(expected) = op.kind.place()
            && expected != place
        {
            self.report(
                &at,
                Broken::Placement {
                    expected: noun(expected),
                    found: noun(place),
                },
            );
        } else if self.for_one && is_of_all(op) {
            let expected = "the server, for all clients at once";
            let found = match is_draw(op) {
                true => {
                    "a `fed.map`; draw before the `map`, or for each client: `k.stream(\"name\")`"
                }
                false => "a `fed.map`",
            };
            self.report(&at, Broken::Placement { expected, found });
        }
        self.release(&at, op);
        self.state(&at, op, place);
        self.setting(&at, op);
        self.fraction(&at, op);
        self.matrix(&at, op);
        if self.linked
            && matches!(
                op.kind,
                OpKind::Fed(
                    FedOp::Call(_)
                        | FedOp::Super(_)
                        | FedOp::GlobalParams
                        | FedOp::StartParams
                        | FedOp::CurrentCohort
                )
            )
        {
            self.report(&at, Broken::Unlinked);
        }

        let operands: Vec<Type> = op
            .operands
            .iter()
            .filter_map(|value| self.type_of(*value))
            .collect();
        let yields = op.regions.iter().flat_map(|region| &region.yields);
        let yields: Vec<Type> = yields.filter_map(|value| self.type_of(*value)).collect();
        // An op of one place only is checked as if it were there: one breach, one report.
        let own = op.kind.place().unwrap_or(place);
        let expected = signature(self.module, &op.kind, own, &operands, &yields);
        // A captured value is of the wrong place too: the capture is the cause.
        if readable {
            self.types(&at, "operands", &expected.operands, &op.operands);
        }
        self.types(&at, "results", &expected.results, &op.results);
        if op.regions.len() != expected.regions.len() {
            let (expected, found) = (expected.regions.len(), op.regions.len());
            self.report(&at, Broken::Regions { expected, found });
        }
        for (region, expected) in op.regions.iter().zip(&expected.regions) {
            self.types(&at, "region arguments", &expected.args, &region.args);
            let outer = self.for_one;
            self.for_one |= op.kind == OpKind::Fed(FedOp::Map);
            let isolated = op.kind == OpKind::Fed(FedOp::Map) && expected.place == Place::Client;
            self.region(&at, region, expected.place, isolated);
            self.for_one = outer;
            self.types(&at, "yields", &expected.yields, &region.yields);
        }
        self.define(&at, &op.results, op.kind.is_constant());
    }

    fn state(&mut self, at: &At, op: &Op, place: Place) {
        let Some((state, value)) = op.state_and_value() else {
            return;
        };
        let Some(found) = self.type_of(value) else {
            return;
        };
        let place = match (place, self.for_one) {
            (Place::Server, true) => Place::Gathered,
            (place, _) => place,
        };
        let known = self.states.entry((place, state.name.to_owned()));
        let expected = *known.or_insert(found.kind);
        if expected != found.kind {
            let broken = Broken::State {
                name: state.name.to_owned(),
                expected,
                found: found.kind,
            };
            self.report(at, broken);
        }
    }

    /// States are not kept after an evaluation.
    pub(super) fn evaluation(&mut self, func: &Func) {
        let hook = func.hook;
        if !matches!(hook, Hook::Personalize | Hook::Evaluate) {
            return;
        }
        for op in func.body.all_ops() {
            if let Some(set) = op.kind.state().filter(StateUse::sets) {
                let (name, state) = (op.kind.name(), set.name.to_owned());
                let at = At {
                    op: &name,
                    loc: op.loc,
                };
                self.report(&at, Broken::SetInEvaluation { state, hook });
            }
        }
    }

    fn matrix(&mut self, at: &At, op: &Op) {
        let OpKind::Fed(FedOp::Matrix(columns, entries)) = &op.kind else {
            return;
        };
        let whole = !entries.is_empty() && entries.len().is_multiple_of(*columns);
        if !whole || !entries.iter().all(|x| x.is_finite()) {
            let (columns, entries) = (*columns, entries.len());
            self.report(at, Broken::Matrix { columns, entries });
        }
    }

    fn setting(&mut self, at: &At, op: &Op) {
        let (OpKind::Fed(FedOp::Encode(encoding)), [_, setting]) = (&op.kind, &op.operands[..])
        else {
            return;
        };
        let known = self.module.known(*setting);
        let constant = known.and_then(|value| value.number());
        let found = constant.map_or_else(|| "computed in it".to_owned(), |x| x.to_string());
        if let Some(expected) = encoding.refuses(constant.unwrap_or(f64::NAN)) {
            let encoding = encoding.name();
            self.report(
                at,
                Broken::Encoding {
                    encoding,
                    expected,
                    found,
                },
            );
        }
    }

    /// The fraction of clients that a cohort is drawn by, as far as it is known before the round.
    fn fraction(&mut self, at: &At, op: &Op) {
        let (OpKind::Fed(FedOp::Sample), Some(fraction)) = (&op.kind, op.operands.first()) else {
            return;
        };
        let known = self.module.known(*fraction);
        if let Some(found) = known.and_then(|value| value.number())
            && !(0.0..=1.0).contains(&found)
        {
            let found = found.to_string();
            self.report(at, Broken::Fraction { found });
        }
    }

    fn release(&mut self, at: &At, op: &Op) {
        let crossing = match op.kind {
            OpKind::Fed(FedOp::Broadcast | FedOp::Dispatch | FedOp::Scatter) => {
                op.operands.get(..1).unwrap_or_default()
            }
            OpKind::Fed(FedOp::Reduce(_) | FedOp::Map | FedOp::Gather) => &op.operands,
            _ => return,
        };
        for value in crossing {
            self.crosses(at, *value);
        }
        if op.kind != OpKind::Fed(FedOp::Map) {
            return;
        }
        for region in &op.regions {
            for &value in &region.yields {
                if self.crosses(at, value)
                    && let Some(broken) = self.unreleased(region, value)
                {
                    self.report(at, broken);
                }
            }
        }
    }

    /// Whether a value is of a kind that may cross, and reports it if not.
    fn crosses(&mut self, at: &At, value: Value) -> bool {
        let Some(ty) = self.type_of(value) else {
            return false;
        };
        let may = match ty.kind {
            Kind::Params | Kind::Scalar | Kind::Tensor | Kind::Labels => true,
            Kind::Index | Kind::Batch | Kind::Client | Kind::Cohort => false,
        };
        if !may {
            let found = ty.to_string();
            self.report(at, Broken::Crosses { found });
        }
        may
    }

    /// A region gives away what is derived from examples and not released.
    fn unreleased(&self, region: &Region, value: Value) -> Option<Broken> {
        let ty = self.type_of(value)?;
        let free = matches!(ty.kind, Kind::Params | Kind::Scalar) || ty.place == Place::Server;
        if free || region.args.contains(&value) {
            return None;
        }
        let from = region.ops.iter().find(|op| op.results.contains(&value))?;
        (!matches!(from.kind, OpKind::Privacy(PrivacyOp::Release(_)))).then(|| Broken::Release {
            found: ty.to_string(),
            from: format!("`{}` at {}", from.kind.name(), from.loc),
        })
    }
}

/// Whether an op is about more than one client. A draw for one client has that client as its last operand.
fn is_of_all(op: &Op) -> bool {
    match op.kind {
        OpKind::Fed(FedOp::Uniform(_) | FedOp::Normal(_)) => op.operands.is_empty(),
        OpKind::Fed(FedOp::Permutation(_)) => op.operands.len() < 2,
        OpKind::Fed(FedOp::ServerState(..)) => op.operands.is_empty(),
        OpKind::Fed(FedOp::SetServerState(_) | FedOp::ServerStateOr(_)) => op.operands.len() < 2,
        _ => op.kind.is_collective(),
    }
}

/// Whether an op draws from a stream with a name.
fn is_draw(op: &Op) -> bool {
    matches!(
        op.kind,
        OpKind::Fed(FedOp::Uniform(_) | FedOp::Normal(_) | FedOp::Permutation(_))
    )
}

fn noun(place: Place) -> &'static str {
    match place {
        Place::Server | Place::Gathered => "the server",
        Place::Clients | Place::Client => "a client",
    }
}

#[cfg(test)]
#[path = "verify_ops_tests.rs"]
mod tests;
