//! The part of `dce` that drops hyper-parameters.

use fedround_ir::fed::{Module, OpKind, Region};

/// Keeps the hyper-parameters that are read, in order of their first reader.
pub(super) fn drop_hypers(module: &mut Module) -> bool {
    fn readers<'r>(region: &'r mut Region, found: &mut Vec<&'r mut usize>) {
        for op in &mut region.ops {
            if let OpKind::Hyper(index) = &mut op.kind {
                found.push(index);
            }
            for inner in &mut op.regions {
                readers(inner, found);
            }
        }
    }
    let mut found = Vec::new();
    for func in &mut module.funcs {
        readers(&mut func.body, &mut found);
    }
    let mut order: Vec<usize> = Vec::new();
    for index in found {
        let at = order
            .iter()
            .position(|known| known == index)
            .unwrap_or_else(|| {
                order.push(*index);
                order.len() - 1
            });
        *index = at;
    }
    if order.iter().copied().eq(0..module.hypers.len()) {
        return false;
    }
    module.hypers = order
        .iter()
        .filter_map(|index| module.hypers.get(*index).cloned())
        .collect();
    true
}
