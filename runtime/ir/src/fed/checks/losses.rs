//! Rejects operations that a loss cannot contain.

use super::super::{Broken, FedOp, Module, Op, OpKind, OptOp, Region, VerifyError};
use super::error;

/// 19. The function of an `opt.grad` has no loops, no ops on whole cohorts and sets no state: a gradient
///     is of tensors that one client or the server has.
pub(super) fn losses_are_of_tensors(module: &Module) -> Vec<VerifyError> {
    let mut errors = Vec::new();
    for func in &module.funcs {
        walk(&func.body, false, &mut errors);
    }
    errors
}

fn walk(region: &Region, in_loss: bool, errors: &mut Vec<VerifyError>) {
    for op in &region.ops {
        let excluded = excluded(op).filter(|_| in_loss);
        errors
            .extend(excluded.map(|(found, instead)| error(op, Broken::InLoss { found, instead })));
        // Of what is wrong as a whole, nothing more is said.
        if excluded.is_none() {
            let in_loss = in_loss || op.kind == OpKind::Opt(OptOp::Grad);
            op.regions
                .iter()
                .for_each(|inner| walk(inner, in_loss, errors));
        }
    }
}

/// What is wrong with an op in a loss, and what to do instead.
fn excluded(op: &Op) -> Option<(&'static str, &'static str)> {
    const COHORT: (&str, &str) = (
        "values of a whole cohort",
        "take the gradient for each client, and combine the gradients: `x_k.map(|k, x| grad(&w, |w| ..)).sum()`",
    );
    const STATE: (&str, &str) = (
        "a state that is set",
        "`value_and_grad` gives the loss too: set the state from it after the gradient",
    );
    match &op.kind {
        OpKind::Opt(OptOp::Collect) => Some((
            "`k.collect`",
            "collect rows before the gradient, if they do not depend on what is differentiated, or add up the gradients of batches in a loop: `for b in k.batches(1, 64) { g += grad(&w, |w| k.loss(w, &b)); }`",
        )),
        OpKind::Opt(OptOp::ForBatches | OptOp::ForRows(_) | OptOp::Repeat) => Some((
            "a loop",
            "take the gradient inside of the loop, and add the gradients up",
        )),
        // It is the server's, but not of one cohort.
        OpKind::Fed(FedOp::Matrix(..)) => Some(COHORT),
        kind @ OpKind::Fed(_) if kind.is_collective() => Some(COHORT),
        OpKind::Fed(FedOp::Encode(_)) => {
            Some(("`encode`", "encode what is uploaded, after the gradient"))
        }
        kind @ OpKind::Fed(_) if kind.state().is_some_and(|state| state.sets()) => Some(STATE),
        OpKind::Fed(_)
        | OpKind::Opt(OptOp::OneBatch | OptOp::SampleRows | OptOp::SmallestRows | OptOp::Grad)
        | OpKind::Arith(_)
        | OpKind::External(_)
        | OpKind::Tree(_)
        | OpKind::Privacy(_) => None,
    }
}
