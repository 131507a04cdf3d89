//! Which values of clients the server has without calling the clients, such as numbers that it keeps for each.
//!
//! They are of clients that fail in the round, too. Together with values that clients were called for, a map has
//! results of the called clients that are there: it must not hand on the values of all.

use std::collections::HashSet;

use fedround_ir::fed::{FedOp, Module, Op, OpKind, Value};

/// The values of clients that were not called for them.
pub(crate) fn uncalled(module: &Module) -> HashSet<Value> {
    let mut all = HashSet::new();
    for op in module.all_ops() {
        let from = match &op.kind {
            OpKind::Fed(FedOp::Members) => &[],
            OpKind::Fed(FedOp::Map) => &op.operands[..],
            OpKind::Fed(FedOp::Gather | FedOp::Scatter | FedOp::Restrict) => {
                &op.operands[..op.operands.len().min(1)]
            }
            _ => continue,
        };
        if from.iter().all(|v| all.contains(v)) {
            all.extend(&op.results);
        }
    }
    all
}

/// Whether an op reads a value that clients were called for, so that its results lack the clients that failed.
pub(crate) fn reads_called(op: &Op, uncalled: &HashSet<Value>) -> bool {
    !op.operands.iter().all(|v| uncalled.contains(v))
}
