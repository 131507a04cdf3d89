//! A measurement is not a message.

use super::super::{Broken, FedOp, Module, Op, OpKind, VerifyError};
use super::error;

/// 20. The result of a `fed.consensus` is nothing but the round's result, and a round that returns one reads
///     no more of its argument: nothing was sent by which anyone could know it.
pub(super) fn measurements_stay(module: &Module) -> Vec<VerifyError> {
    let mut errors = vec![];
    for func in &module.funcs {
        let ops = || func.body.all_ops();
        let measured = ops().filter(|op| op.kind == OpKind::Fed(FedOp::Consensus));
        for op in measured {
            let reads = |other: &Op| {
                let of_it = op.results.iter().chain(&func.body.args);
                let mut of_it =
                    of_it.filter(|_| func.body.yields.iter().any(|v| op.results.contains(v)));
                of_it.any(|v| other.operands.contains(v))
            };
            let kept = !func.body.yields.iter().any(|v| op.results.contains(v));
            if kept || ops().any(reads) {
                errors.push(error(op, Broken::Measured));
            }
        }
    }
    errors
}
