//! The part of `dce` that drops hyper-parameters.

use std::collections::HashMap;

use fedround_ir::fed::{FedOp, Module, OpKind, Region, Value};

/// Keeps the hyper-parameters that are read, in order of their first use as an operand: where
/// `fed.hyper` stands does not matter.
pub(super) fn drop_hypers(module: &mut Module) -> bool {
    let mut uses = Uses::default();
    for func in &module.funcs {
        uses.region(&func.body);
    }
    let order = uses.order;
    if order.iter().copied().eq(0..module.hypers.len()) {
        return false;
    }
    for func in &mut module.funcs {
        renumber(&mut func.body, &order);
    }
    module.hypers = order
        .iter()
        .filter_map(|index| module.hypers.get(*index).cloned())
        .collect();
    true
}

#[derive(Default)]
struct Uses {
    /// The hyper-parameter that a value is.
    of: HashMap<Value, usize>,
    /// Hyper-parameters by first use.
    order: Vec<usize>,
}

impl Uses {
    fn region(&mut self, region: &Region) {
        for op in &region.ops {
            if let (OpKind::Fed(FedOp::Hyper(index)), [value]) = (&op.kind, op.results.as_slice()) {
                self.of.insert(*value, *index);
            }
            self.read(&op.operands);
            for inner in &op.regions {
                self.region(inner);
            }
        }
        self.read(&region.yields);
    }

    fn read(&mut self, values: &[Value]) {
        for index in values.iter().filter_map(|value| self.of.get(value)) {
            if !self.order.contains(index) {
                self.order.push(*index);
            }
        }
    }
}

fn renumber(region: &mut Region, order: &[usize]) {
    for op in &mut region.ops {
        if let OpKind::Fed(FedOp::Hyper(index)) = &mut op.kind
            && let Some(at) = order.iter().position(|known| known == index)
        {
            *index = at;
        }
        for inner in &mut op.regions {
            renumber(inner, order);
        }
    }
}
