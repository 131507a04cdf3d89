//! Helpers that several rewriting passes use.

use std::collections::HashMap;

use fedround_ir::fed::{Effect, Module, Op, Region, Value};

/// Replacements of values by values, followed to the end.
#[derive(Debug, Default)]
pub(super) struct Replace(HashMap<Value, Value>);

impl Replace {
    /// Reads of `old` become reads of `new`.
    pub(super) fn insert(&mut self, old: Value, new: Value) {
        let new = self.get(new);
        if new != old {
            self.0.insert(old, new);
        }
    }

    pub(super) fn get(&self, mut value: Value) -> Value {
        while let Some(next) = self.0.get(&value) {
            value = *next;
        }
        value
    }

    pub(super) fn apply(&self, values: &mut [Value]) {
        for value in values {
            *value = self.get(*value);
        }
    }
}

/// Whether an op, or code inside it, changes something besides its results.
pub(super) fn writes(op: &Op) -> bool {
    op.contains(|op| op.kind.effect() == Effect::Writes)
}

/// Renumbers values in order of definition, and drops the types of values that are not defined.
pub(super) fn compact(module: &mut Module) {
    let mut compact = Compact {
        old: std::mem::take(&mut module.types),
        types: Vec::new(),
        map: HashMap::new(),
    };
    for func in &mut module.funcs {
        compact.region(&mut func.body);
    }
    module.types = compact.types;
}

struct Compact {
    old: Vec<fedround_ir::fed::Type>,
    types: Vec<fedround_ir::fed::Type>,
    map: HashMap<Value, Value>,
}

impl Compact {
    fn define(&mut self, values: &mut [Value]) {
        for value in values {
            let Some(ty) = self.old.get(value.0 as usize) else {
                continue;
            };
            let number = u32::try_from(self.types.len()).unwrap_or(u32::MAX);
            self.types.push(*ty);
            self.map.insert(*value, Value(number));
            *value = Value(number);
        }
    }

    fn read(&self, values: &mut [Value]) {
        for value in values {
            *value = self.map.get(value).copied().unwrap_or(*value);
        }
    }

    fn region(&mut self, region: &mut Region) {
        self.define(&mut region.args);
        for op in &mut region.ops {
            self.read(&mut op.operands);
            self.define(&mut op.results);
            for inner in &mut op.regions {
                self.region(inner);
            }
        }
        self.read(&mut region.yields);
    }
}
