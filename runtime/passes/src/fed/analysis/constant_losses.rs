//! Warnings about gradients that are zero, because the loss does not depend on what they are taken of.

use std::collections::HashSet;

use fedround_ir::fed::{Module, Op, OpKind, OptOp, Region, Value};

use super::warnings::Warning;

/// The gradients of a linked module that are zero whatever the data are, in program order. Functions of the model are
/// not looked into: each depends on all of its arguments.
pub(crate) fn zero_gradients(module: &Module) -> Vec<Warning> {
    let is_gradient = |op: &&Op| op.kind == OpKind::Opt(OptOp::Grad);
    let gradients = module.all_ops().filter(is_gradient);
    let zero = gradients.filter(|op| op.regions.first().is_some_and(is_constant));
    zero.map(|op| Warning::ZeroGradient { loc: op.loc })
        .collect()
}

/// Whether nothing that a region yields depends on its arguments.
fn is_constant(region: &Region) -> bool {
    let mut dependent: HashSet<Value> = region.args.iter().copied().collect();
    for op in &region.ops {
        // Whatever is read inside an op may be in all of its results.
        let inside = op.regions.iter().flat_map(Region::reads);
        if op
            .operands
            .iter()
            .copied()
            .chain(inside)
            .any(|v| dependent.contains(&v))
        {
            dependent.extend(&op.results);
        }
    }
    !region.yields.iter().any(|v| dependent.contains(v))
}

#[cfg(test)]
mod tests {
    use fedround::prelude::*;

    use crate::fed::link;
    use crate::testing::Closure;

    #[test]
    fn a_loss_of_another_model_has_no_gradient() {
        let warnings = |loss: fn(&ClientCx, &Params, &Params) -> Scalar| {
            let spec = Closure(move |m: &mut fedround::Definer| {
                m.round(move |server, w| {
                    let w_k = w.broadcast(&server.all_clients());
                    w_k.map(|k, w| &w - 0.1 * grad(&w, |v| loss(k, &w, v)))
                        .mean()
                });
            });
            let linked = link(fedround::stage(&spec).unwrap()).unwrap();
            let warnings = linked.warnings.iter().map(ToString::to_string);
            warnings.collect::<Vec<String>>()
        };
        let found = warnings(|k, w, _| {
            let b = k.batch(10);
            cross_entropy(k.forward(w, &b.x), &b.y)
        });
        let [found] = &found[..] else {
            panic!("{found:?}")
        };
        assert!(
            found.contains("does not depend on what the gradient is taken of"),
            "{found}"
        );
        assert!(found.contains("constant_losses.rs"), "{found}");
        for loss in [
            |_: &ClientCx, w: &Params, v: &Params| (w - v).sq_norm(),
            |k: &ClientCx, _: &Params, v: &Params| {
                let b = k.batch(10);
                let inner = grad(v, |v| cross_entropy(k.forward(v, &b.x), &b.y));
                inner.sq_norm()
            },
        ] {
            assert!(warnings(loss).is_empty());
        }
    }
}
