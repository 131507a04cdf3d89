//! `licm`: loop-invariant code motion.
//!
//! What a loop computes from values that it does not change, such as `w_t / 2` or the norm of a frozen
//! model, is computed once before the loop. State that the loop does not set is read once. The pass only
//! moves work on parameters, and arithmetic on numbers that such work needs; other arithmetic on numbers
//! is not worth a compute segment of its own. Gradients stay in the loop, because each reports a loss.

use std::collections::HashSet;

use fedround_ir::fed::{
    Effect, ExternalOp, FedOp, Module, Op, OpKind, OptOp, PrivacyOp, Region, Value,
};

use super::rewrite::writes;

/// Moves invariant work out of every loop, innermost loops first. Returns whether there was any.
pub fn licm(module: &mut Module) -> bool {
    let mut changed = false;
    for func in &mut module.funcs {
        changed |= in_region(&mut func.body);
    }
    changed
}

fn in_region(region: &mut Region) -> bool {
    let mut changed = false;
    let mut i = 0;
    while i < region.ops.len() {
        for inner in &mut region.ops[i].regions {
            changed |= in_region(inner);
        }
        if matches!(
            region.ops[i].kind,
            OpKind::Opt(OptOp::ForBatches | OptOp::ForRows(_) | OptOp::Repeat)
        ) {
            let hoisted = invariants(&mut region.ops[i]);
            changed |= !hoisted.is_empty();
            let count = hoisted.len();
            region.ops.splice(i..i, hoisted);
            i += count;
        }
        i += 1;
    }
    changed
}

/// Takes the invariant work out of a loop, in order.
fn invariants(op: &mut Op) -> Vec<Op> {
    let defined = op.regions.iter().flat_map(Region::definitions);
    let mut inside: HashSet<Value> = defined.collect();
    // A model that is trained on may have other statistics in the next step, and one that is made anew in each
    // step has not.
    let points: HashSet<Value> = op.differentiated().into_iter().collect();
    inside.extend(&points);
    let changes_state = writes(op);
    let mut fixed: Vec<Op> = vec![];
    for region in &op.regions {
        collect(region, &points, &mut inside, changes_state, &mut fixed);
    }
    // Keep work on trees, and the numbers that it reads.
    let mut needed: HashSet<Value> = HashSet::new();
    for op in fixed.iter().rev() {
        if is_work(&op.kind) || op.results.iter().any(|v| needed.contains(v)) {
            needed.extend(&op.results);
            needed.extend(&op.operands);
        }
    }
    fixed.retain(|op| op.results.iter().any(|v| needed.contains(v)));
    let moved: HashSet<Value> = fixed.iter().flat_map(|op| op.results.clone()).collect();
    for region in &mut op.regions {
        remove(region, &moved);
    }
    fixed
}

/// Pure ops whose operands are all defined outside, or by such ops.
fn collect(
    region: &Region,
    points: &HashSet<Value>,
    inside: &mut HashSet<Value>,
    state: bool,
    fixed: &mut Vec<Op>,
) {
    for op in &region.ops {
        let pure = match op.kind.effect() {
            Effect::Writes | Effect::Draws => false,
            Effect::Reads => !state,
            Effect::Pure | Effect::Regions => true,
        };
        let known = op.operands.iter().all(|v| !inside.contains(v));
        let is_point = op.results.iter().any(|v| points.contains(v));
        if pure && known && !is_point && op.regions.is_empty() {
            op.results.iter().for_each(|v| _ = inside.remove(v));
            fixed.push(op.clone());
        }
        // Code of clients stays with them, where the loop is the server's.
        if op.kind != OpKind::Fed(FedOp::Map) {
            let inner = op.regions.iter();
            inner.for_each(|region| collect(region, points, inside, state, fixed));
        }
    }
}

fn is_work(kind: &OpKind) -> bool {
    match kind {
        OpKind::Tree(_)
        | OpKind::Privacy(PrivacyOp::Clip | PrivacyOp::ClipRows | PrivacyOp::L1Rows)
        | OpKind::External(ExternalOp::Apply(_) | ExternalOp::Loss(_))
        | OpKind::Fed(FedOp::Public(..) | FedOp::Encode(_) | FedOp::LabelCounts) => true,
        OpKind::Fed(_) => kind.effect() == Effect::Reads,
        OpKind::Arith(_)
        | OpKind::Opt(_)
        | OpKind::External(ExternalOp::Column(..) | ExternalOp::Function(_))
        | OpKind::Privacy(
            PrivacyOp::Release(_)
            | PrivacyOp::Noise
            | PrivacyOp::TreeNoise
            | PrivacyOp::Laplace
            | PrivacyOp::Claim(_),
        ) => false,
    }
}

fn remove(region: &mut Region, moved: &HashSet<Value>) {
    region
        .ops
        .retain(|op| op.results.is_empty() || !op.results.iter().all(|v| moved.contains(v)));
    for op in &mut region.ops {
        for inner in &mut op.regions {
            remove(inner, moved);
        }
    }
}

#[cfg(test)]
mod tests {
    use fedround::prelude::*;
    use fedround::{Definer, stage};
    use fedround_ir::fed::{print, verify_linked};

    use super::*;
    use crate::fed::link;
    use crate::testing::{Closure, control_variates};

    /// A pull towards half of what was received, formed anew in every step.
    fn pull(m: &mut Definer) {
        use fedround::__private::for_each;
        m.round(|server, w| {
            let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
                let (y,) = for_each(k.batches(1, 10), (w.clone(),), |b, (y,)| {
                    let g = grad(&y, |y| cross_entropy(k.forward(y, &b.x), &b.y));
                    (&y - 0.1 * (g + &y - 0.5 * &w),)
                });
                y
            });
            w_k.mean()
        });
    }

    #[test]
    fn work_on_what_the_loop_does_not_change_is_done_once() {
        let mut module = link(stage(&Closure(pull)).unwrap()).unwrap().module;
        assert!(licm(&mut module));
        verify_linked(&module).unwrap();
        let text = print(&module);
        let (scale, step) = (text.find("tree.scale"), text.find("opt.for_batches"));
        assert!(scale < step, "{text}");
        assert!(!licm(&mut module));
    }

    #[test]
    fn a_step_that_depends_on_its_batch_stays() {
        let staged = stage(&Closure(control_variates)).unwrap();
        let mut module = link(staged).unwrap().module;
        let before = print(&module);
        licm(&mut module);
        assert_eq!(print(&module), before);
    }

    #[test]
    fn a_draw_is_drawn_in_every_step() {
        let noisy = |m: &mut Definer| {
            use fedround::__private::{for_each, range};
            m.round(|server, w| {
                let w_k = w.broadcast(&server.all_clients()).map(|_, w| {
                    let (y,) = for_each(range(3), (w.clone(),), |(), (y,)| {
                        (y + w.clip(1.0).noise(0.5),)
                    });
                    y
                });
                w_k.mean()
            });
        };
        let mut module = link(stage(&Closure(noisy)).unwrap()).unwrap().module;
        assert!(licm(&mut module));
        let text = print(&module);
        let of = |op: &str| text.find(op).unwrap();
        assert!(of("priv.clip") < of("opt.repeat"), "{text}");
        assert!(of("opt.repeat") < of("priv.noise"), "{text}");
    }

    #[test]
    fn code_of_clients_stays_with_them() {
        let taught = |m: &mut Definer| {
            use fedround::__private::{for_each, range};
            m.round(|server, w| {
                let all = server.all_clients();
                let (w,) = for_each(range(2), (w,), |(), (w,)| {
                    let w_k = w.broadcast(&all).map(|k, w| {
                        let open = k.public();
                        let g = grad(&w, |w| cross_entropy(k.forward(w, &open.x), &open.y));
                        &w - 0.1 * g
                    });
                    (w_k.mean(),)
                });
                w
            });
        };
        let mut module = link(stage(&Closure(taught)).unwrap()).unwrap().module;
        licm(&mut module);
        verify_linked(&module).unwrap();
    }
}
