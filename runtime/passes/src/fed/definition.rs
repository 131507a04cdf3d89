//! Which definition of a hook is called.

use fedround_ir::fed::{Func, Hook, Module};

/// The outermost definition of a hook in the layers inside `below`.
pub(super) fn definition(module: &Module, hook: Hook, below: usize) -> Option<&Func> {
    let candidates = module
        .funcs
        .iter()
        .filter(|func| func.hook == hook && func.layer < below);
    candidates.max_by_key(|func| func.layer)
}
