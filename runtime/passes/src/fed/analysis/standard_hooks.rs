//! Recognises hooks that say no more than their standard definition, so that nothing is lost where another
//! layer replaces them.

use fedround_ir::fed::{ArithOp, ExternalOp, FedOp, Func, Hook, Op, OpKind, OptOp, Reduce, Region};

/// Whether a function is the standard definition of its hook, as many algorithms spell it out.
pub(super) fn is_standard(func: &Func) -> bool {
    match func.hook {
        Hook::Round | Hook::ClientUpdate | Hook::Evaluate => false,
        Hook::Aggregate => is_mean_by_examples(&func.body),
        Hook::Gradient => is_gradient(&func.body, |op| {
            matches!(
                op.kind,
                OpKind::Fed(FedOp::Call(Hook::Loss | Hook::Regularizer))
                    | OpKind::Arith(ArithOp::Add)
            )
        }),
        Hook::Loss => func.body.all_ops().all(is_of_the_models_loss),
        Hook::Regularizer => {
            let zero = |op: &Op| op.kind == OpKind::Arith(ArithOp::Const(0.0));
            func.body.ops.len() == 1 && func.body.ops.iter().all(zero)
        }
        Hook::Personalize => func.body.ops.is_empty(),
        Hook::ServerGradient => is_gradient(&func.body, is_of_the_models_loss),
    }
}

/// `Σ n_k w_k / Σ n_k`.
fn is_mean_by_examples(body: &Region) -> bool {
    let [weights, mean] = body.ops.as_slice() else {
        return false;
    };
    let counts = |region: &Region| {
        let [op] = region.ops.as_slice() else {
            return false;
        };
        op.kind == OpKind::Fed(FedOp::NumExamples)
    };
    weights.kind == OpKind::Fed(FedOp::Map)
        && weights.regions.iter().all(counts)
        && mean.kind == OpKind::Fed(FedOp::Reduce(Reduce::WeightedMean))
}

fn is_gradient(body: &Region, of: fn(&Op) -> bool) -> bool {
    let [grad] = body.ops.as_slice() else {
        return false;
    };
    grad.kind == OpKind::Opt(OptOp::Grad) && grad.regions.iter().all(|f| f.ops.iter().all(of))
}

/// Whether an op is one of a loss of the model's predictions.
fn is_of_the_models_loss(op: &Op) -> bool {
    match &op.kind {
        OpKind::External(ExternalOp::Apply(function)) => function == "forward",
        OpKind::External(ExternalOp::Column(..) | ExternalOp::Loss(_)) => true,
        _ => false,
    }
}
