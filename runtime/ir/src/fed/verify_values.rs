//! The verifier's checks of values: each has a type and one definition, is read where it is defined, and
//! where a type is expected has that type. Invariants 4 to 7.

use std::collections::HashSet;

use super::verify::{At, Scope, Verifier};
use super::{Broken, Place, Region, Type, Value};

impl Verifier<'_> {
    pub(super) fn type_of(&self, value: Value) -> Option<Type> {
        self.module.types.get(value.0 as usize).copied()
    }

    pub(super) fn define(&mut self, at: &At, values: &[Value], constant: bool) {
        for &value in values {
            if self.type_of(value).is_none() {
                let len = self.module.types.len();
                self.report(
                    at,
                    Broken::Untyped {
                        value: value.0,
                        len,
                    },
                );
            }
            if !self.defined.insert(value) {
                self.report(at, Broken::Redefined { value: value.0 });
            }
            if constant {
                self.constants.insert(value);
            }
            if let Some(scope) = self.scopes.last_mut() {
                scope.values.insert(value);
            }
        }
    }

    pub(super) fn read(&mut self, at: &At, value: Value) {
        let mut crossed = false;
        for scope in self.scopes.iter().rev() {
            if scope.values.contains(&value) {
                if crossed && !self.constants.contains(&value) {
                    let found = self
                        .type_of(value)
                        .map(|ty| ty.to_string())
                        .unwrap_or_default();
                    self.report(at, Broken::Captured { found });
                }
                return;
            }
            crossed |= scope.isolated;
        }
        let len = self.module.types.len();
        let broken = match self.type_of(value) {
            None => Broken::Untyped {
                value: value.0,
                len,
            },
            Some(_) => Broken::Undefined { value: value.0 },
        };
        self.report(at, broken);
    }

    /// Compares types; a constant counts as being wherever it is read.
    pub(super) fn types(
        &mut self,
        at: &At,
        what: &'static str,
        expected: &[Type],
        values: &[Value],
    ) {
        let found: Option<Vec<Type>> = values.iter().map(|value| self.type_of(*value)).collect();
        // A value without a type is reported where it is defined or read.
        let Some(found) = found else { return };
        let fits = |(index, value): (usize, &Value)| {
            let (Some(found), Some(expected)) = (found.get(index), expected.get(index)) else {
                return false;
            };
            found == expected || (found.kind == expected.kind && self.constants.contains(value))
        };
        if expected.len() != found.len() || !values.iter().enumerate().all(fits) {
            self.report(
                at,
                Broken::Types {
                    what,
                    expected: list(expected),
                    found: list(&found),
                },
            );
        }
    }

    pub(super) fn region(&mut self, at: &At, region: &Region, place: Place, isolated: bool) {
        self.scopes.push(Scope {
            values: HashSet::new(),
            isolated,
        });
        self.define(at, &region.args, false);
        for op in &region.ops {
            self.op(op, place);
        }
        for &value in &region.yields {
            self.read(at, value);
        }
        self.scopes.pop();
    }
}

fn list(types: &[Type]) -> String {
    let types: Vec<String> = types.iter().map(ToString::to_string).collect();
    format!("({})", types.join(", "))
}
