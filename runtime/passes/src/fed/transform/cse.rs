//! `cse`: computes once what a region computes twice.
//!
//! ```text
//! %1 = batch.x %0
//! %2 = batch.x %0
//! %3 = nn.forward %w, %2
//! ```
//! becomes
//! ```text
//! %1 = batch.x %0
//! %3 = nn.forward %w, %1
//! ```
//! Each region is treated separately. A value is never shared between a region and the code around it,
//! so that every region can be read and compiled on its own. Two equal passes through a model are one pass,
//! with one mask of its dropout. Two calls of a function are two draws, if it draws; if not, they are merged
//! on tensors. A point where a gradient is taken stays apart from an equal one: the gradient advances its
//! running statistics, and not the other's. What reads it before and after the gradient differs, too.

use std::collections::{HashMap, HashSet};

use fedround_ir::fed::{ArithOp, Effect, Module, Op, OpKind, Region, TreeOp, Value};

use super::rewrite::Replace;

/// Merges equal pure ops of each region. Returns whether anything changed.
pub fn cse(module: &mut Module) -> bool {
    let mut pass = Cse {
        differentiated: module.trained_points().collect(),
        replace: Replace::default(),
        changed: false,
    };
    for func in &mut module.funcs {
        pass.region(&mut func.body);
    }
    pass.changed
}

struct Cse {
    /// Values that gradients are taken with respect to.
    differentiated: HashSet<Value>,
    replace: Replace,
    changed: bool,
}

impl Cse {
    fn region(&mut self, region: &mut Region) {
        let mut seen: HashMap<(String, Vec<Value>), Vec<Value>> = HashMap::new();
        let mut kept = Vec::with_capacity(region.ops.len());
        for mut op in std::mem::take(&mut region.ops) {
            self.replace.apply(&mut op.operands);
            for inner in &mut op.regions {
                self.region(inner);
            }
            let advanced = op.results.iter().any(|v| self.differentiated.contains(v));
            if op.kind.effect() == Effect::Pure && !advanced {
                if let Some(first) = seen.get(&key(&op)) {
                    for (result, first) in op.results.iter().zip(first) {
                        self.replace.insert(*result, *first);
                    }
                    self.changed = true;
                    continue;
                }
                seen.insert(key(&op), op.results.clone());
            }
            let points = op.differentiated().into_iter();
            for point in points.filter(|v| self.differentiated.contains(v)) {
                seen.retain(|(_, operands), _| !operands.contains(&point));
            }
            kept.push(op);
        }
        region.ops = kept;
        self.replace.apply(&mut region.yields);
    }
}

/// What makes two ops equal. As text, 0 and -0 differ, as they must.
fn key(op: &Op) -> (String, Vec<Value>) {
    let mut operands = op.operands.clone();
    if matches!(
        op.kind,
        OpKind::Arith(ArithOp::Add | ArithOp::Mul)
            | OpKind::Tree(TreeOp::Add | TreeOp::Mul | TreeOp::Dot)
    ) {
        operands.sort_unstable();
    }
    (format!("{:?}", op.kind), operands)
}

#[cfg(test)]
mod tests {
    use fedround_ir::fed::{FedOp, Hook, HyperValue, Kind, verify};

    use super::*;
    use crate::testing::{body, func, loc};

    #[test]
    fn equal_pure_ops_merge() {
        let mut module = func(Hook::Regularizer, |b, args| {
            let mu = b.hyper("mu", HyperValue::Float(0.1), loc());
            let again = b.hyper("mu", HyperValue::Float(0.1), loc());
            let a = b.push(OpKind::Tree(TreeOp::SqNorm), &args[1..], loc());
            let c = b.push(OpKind::Tree(TreeOp::SqNorm), &args[1..], loc());
            let left = b.push(OpKind::Arith(ArithOp::Mul), &[mu[0], a[0]], loc());
            let right = b.push(OpKind::Arith(ArithOp::Mul), &[c[0], again[0]], loc());
            b.push(OpKind::Arith(ArithOp::Add), &[left[0], right[0]], loc())
        });
        assert!(cse(&mut module));
        verify(&module).unwrap();
        assert_eq!(
            body(&module),
            "%0 = tree.sq_norm %w : f32\n\
             %1 = arith.mul %mu, %0 : f32\n\
             %2 = arith.add %1, %1 : f32\n\
             fed.yield %2 : f32"
        );
        assert!(!cse(&mut module));
    }

    #[test]
    fn draws_and_states_do_not() {
        let mut module = func(Hook::Round, |b, w| {
            let first = b.push(
                OpKind::Fed(FedOp::ServerState("v".into(), Kind::Params)),
                &[],
                loc(),
            );
            let _ = b.push(OpKind::Fed(FedOp::SetServerState("v".into())), w, loc());
            let second = b.push(
                OpKind::Fed(FedOp::ServerState("v".into(), Kind::Params)),
                &[],
                loc(),
            );
            b.push(OpKind::Tree(TreeOp::Sub), &[second[0], first[0]], loc())
        });
        assert!(!cse(&mut module));
    }

    #[test]
    fn a_point_where_a_gradient_is_taken_stays_apart_from_an_equal_one() {
        use crate::testing::{Closure, linked};
        use fedround::Definer;
        use fedround::prelude::*;

        let mut module = linked(&Closure(|m: &mut Definer| {
            m.round(|server, w| {
                let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
                    let b = k.batch(10);
                    let (ahead, kept) = (&w + &w, &w + &w);
                    let g = grad(&ahead, |v| cross_entropy(k.forward(v, &b.x), &b.y));
                    kept - g
                });
                w_k.mean()
            });
        }));
        cse(&mut module);
        verify(&module).unwrap();
        let sums = module.all_ops();
        let sums = sums.filter(|op| op.kind == OpKind::Tree(TreeOp::Add));
        assert_eq!(sums.count(), 2);
    }
}
