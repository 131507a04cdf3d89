//! `canonicalize`: rewrites ops to simpler ones with the same meaning.
//!
//! It folds constants and drops neutral elements, using the values that hyper-parameters have in this
//! program. It removes loops of zero steps, values that a loop or a map only passes on, and terms with
//! weight zero. FedProx with μ = 0, for example, becomes FedAvg:
//!
//! ```text
//! %1 = arith.mul %mu, %0        // μ = 0
//! %2 = arith.add %loss, %1
//! opt.yield %2
//! ```
//! becomes
//! ```text
//! %1 = arith.const 0.0
//! opt.yield %loss
//! ```
//! Ops whose results are no longer read are left to `dce`.

use std::collections::{HashMap, HashSet};

use fedround_ir::fed::{
    ArithOp, FedOp, Kind, Module, Op, OpKind, OptOp, Region, TreeOp, Type, Value,
};

use super::algebra::{Definitions, Simpler};
use super::rewrite::Replace;
use crate::fed::analysis::{reads_called, uncalled};

/// Simplifies every op. Returns whether anything changed.
pub fn canonicalize(module: &mut Module) -> bool {
    let uncalled = uncalled(module);
    let mut gradients_ahead = HashMap::new();
    for point in module.trained_points() {
        *gradients_ahead.entry(point).or_default() += 1;
    }
    let Module {
        funcs,
        hypers,
        types,
        ..
    } = module;
    let mut pass = Canonicalize {
        definitions: Definitions {
            hypers,
            types,
            differentiated: gradients_ahead.keys().copied().collect(),
            ..Definitions::default()
        },
        uncalled,
        gradients_ahead,
        replace: Replace::default(),
        added: vec![],
        changed: false,
    };
    for func in funcs {
        pass.region(&mut func.body);
    }
    let Canonicalize { changed, added, .. } = pass;
    types.extend(added);
    changed
}

struct Canonicalize<'m> {
    definitions: Definitions<'m>,
    /// Values that are of clients that fail in the round, too.
    uncalled: HashSet<Value>,
    /// How many gradients are taken at each point in the code that is still to come.
    gradients_ahead: HashMap<Value, usize>,
    replace: Replace,
    /// The types of new values.
    added: Vec<Type>,
    changed: bool,
}

impl Canonicalize<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut kept = Vec::with_capacity(region.ops.len());
        for mut op in std::mem::take(&mut region.ops) {
            self.replace.apply(&mut op.operands);
            if self.never_runs(&op) {
                op.differentiated().iter().for_each(|v| self.passed(*v));
                self.first_values(&op, &mut kept);
                continue;
            }
            let stays = self.op(&mut op);
            if let (OpKind::Opt(OptOp::Grad), Some(point)) = (&op.kind, op.operands.first()) {
                self.passed(*point);
            }
            if stays {
                kept.push(op);
            }
        }
        region.ops = kept;
        self.replace.apply(&mut region.yields);
    }

    /// Rewrites an op; gives whether it stays.
    fn op(&mut self, op: &mut Op) -> bool {
        self.passed_through_loop(op);
        for region in &mut op.regions {
            self.region(region);
        }
        self.passed_through_map(op);
        // Rules strictly simplify, so that this ends.
        while let Some(simpler) = self.definitions.simplify(&op.kind, &op.operands) {
            let differentiated = &self.definitions.differentiated;
            let same = match &simpler {
                Simpler::Same(value) => op.results.iter().all(|v| self.are_one(*v, *value)),
                // A new operand was read earlier: a gradient may have moved its statistics since.
                Simpler::Op(_, operands) => operands
                    .iter()
                    .all(|v| op.operands.contains(v) || !differentiated.contains(v)),
            };
            if !same {
                break;
            }
            self.changed = true;
            match simpler {
                Simpler::Same(value) => {
                    for result in &op.results {
                        self.replace.insert(*result, value);
                    }
                    return false;
                }
                Simpler::Op(kind, operands) => {
                    op.kind = kind;
                    op.operands = operands;
                }
            }
        }
        if let [result] = op.results.as_slice() {
            self.definitions
                .by_value
                .insert(*result, (op.kind.clone(), op.operands.clone()));
        }
        true
    }

    /// Whether values that are equal here may be one: no gradient that follows advances the running statistics of
    /// one of them alone.
    fn are_one(&self, a: Value, b: Value) -> bool {
        let ahead = |v: Value| self.gradients_ahead.get(&v).is_some_and(|n| *n > 0);
        !ahead(a) && !ahead(b)
    }

    /// Notes that the code that is still to come has a gradient less at a point.
    fn passed(&mut self, point: Value) {
        if let Some(ahead) = self.gradients_ahead.get_mut(&point) {
            *ahead = ahead.saturating_sub(1);
        }
    }

    /// A loop of zero steps.
    fn never_runs(&self, op: &Op) -> bool {
        let times = match op.kind {
            OpKind::Opt(OptOp::Repeat | OptOp::ForRows(_)) => op.operands.first(),
            OpKind::Opt(OptOp::ForBatches) => op.operands.get(1),
            _ => None,
        };
        times.and_then(|times| self.definitions.count(*times)) == Some(0)
    }

    /// What a loop of zero steps gives: the values that it was to begin with, or copies of those that gradients
    /// tell apart.
    fn first_values(&mut self, op: &Op, kept: &mut Vec<Op>) {
        let (fixed, _) = op.kind.carried_from().unwrap_or_default();
        for (&result, &first) in op.results.iter().zip(op.operands.iter().skip(fixed)) {
            if self.are_one(result, first) {
                self.replace.insert(result, first);
                continue;
            }
            let one = Value((self.definitions.types.len() + self.added.len()) as u32);
            let place = self.definitions.types[first.0 as usize].place;
            let kind = Kind::Scalar;
            self.added.push(Type { kind, place });
            let mut push = |kind, operands, result| {
                kept.push(Op {
                    kind,
                    operands,
                    results: vec![result],
                    regions: vec![],
                    loc: op.loc,
                });
            };
            push(OpKind::Arith(ArithOp::Const(1.0)), vec![], one);
            push(OpKind::Tree(TreeOp::Scale), vec![one, first], result);
        }
        self.changed = true;
    }

    /// A carried value that every step hands on as it is, statistics included.
    fn passed_through_loop(&mut self, op: &Op) {
        let (Some((fixed, own)), [region]) = (op.kind.carried_from(), op.regions.as_slice()) else {
            return;
        };
        let carried = op
            .operands
            .iter()
            .skip(fixed)
            .zip(region.args.iter().skip(own));
        let advanced = op.differentiated();
        for ((first, arg), (yielded, result)) in carried.zip(region.yields.iter().zip(&op.results))
        {
            if arg == yielded && !advanced.contains(arg) && self.are_one(*first, *result) {
                self.replace.insert(*arg, *first);
                self.replace.insert(*result, *first);
                self.changed = true;
            }
        }
    }

    /// A client value that a map hands on as it is, statistics included.
    fn passed_through_map(&mut self, op: &mut Op) {
        let (OpKind::Fed(FedOp::Map), [region]) = (&op.kind, op.regions.as_slice()) else {
            return;
        };
        let advanced = op.differentiated();
        let of_called = reads_called(op, &self.uncalled);
        let yields = op.results.iter().zip(&region.yields);
        for (result, yielded) in yields.filter(|(_, yielded)| !advanced.contains(yielded)) {
            let arg = region.args.iter().skip(1).position(|arg| arg == yielded);
            let Some(operand) = arg.and_then(|index| op.operands.get(index)) else {
                continue;
            };
            let has_more_clients = of_called && self.uncalled.contains(operand);
            if self.replace.get(*result) == *result && !has_more_clients {
                self.replace.insert(*result, *operand);
                self.changed = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use fedround_ir::fed::{Hook, HyperValue, Place, verify};

    use super::*;
    use crate::fed::{cse, dce};
    use crate::testing::{body, func, loc};

    #[test]
    fn a_term_of_weight_zero_goes() {
        let mut module = func(Hook::Regularizer, |b, args| {
            let loss = b.push(OpKind::Tree(TreeOp::SqNorm), &args[1..], loc());
            let mu = b.hyper("mu", HyperValue::Float(0.0), loc());
            let norm = b.push(OpKind::Tree(TreeOp::Dot), &[args[1], args[1]], loc());
            let term = b.push(OpKind::Arith(ArithOp::Mul), &[mu[0], norm[0]], loc());
            b.push(OpKind::Arith(ArithOp::Add), &[loss[0], term[0]], loc())
        });
        assert_eq!(
            body(&module),
            "%0 = tree.sq_norm %w : f32\n\
             %1 = tree.dot %w, %w : f32\n\
             %2 = arith.mul %mu, %1 : f32\n\
             %3 = arith.add %0, %2 : f32\n\
             fed.yield %3 : f32"
        );
        assert!(canonicalize(&mut module));
        verify(&module).unwrap();
        assert_eq!(
            body(&module),
            "%0 = tree.sq_norm %w : f32\n\
             %1 = tree.sq_norm %w : f32\n\
             %2 = arith.const 0.0 : f32\n\
             fed.yield %0 : f32"
        );
        assert!(!canonicalize(&mut module));
        let _ = (cse(&mut module), dce(&mut module));
        assert_eq!(
            body(&module),
            "%0 = tree.sq_norm %w : f32\nfed.yield %0 : f32"
        );
    }

    #[test]
    fn a_loop_without_steps_and_a_value_passed_through_go() {
        for (times, expected) in [
            (0, "%0 = arith.index_const 0 : index\nfed.yield %w : params"),
            (
                2,
                "%0 = arith.index_const 2 : index\n\
                 %1, %2 = opt.repeat %0 with(%3 = %w, %4 = %w) {\n  \
                   %5 = tree.add %3, %w : params\n  \
                   opt.yield %5, %w : params, params\n\
                 } : params, params\n\
                 fed.yield %1 : params",
            ),
        ] {
            let mut module = func(Hook::ClientUpdate, |b, args| {
                let n = b.push(OpKind::Arith(ArithOp::IndexConst(times)), &[], loc());
                let params = Type::client(Kind::Params);
                let inner = b.open(&[params, params], Place::Client);
                let sum = b.push(OpKind::Tree(TreeOp::Add), &inner, loc());
                let region = b.close(vec![sum[0], inner[1]], loc());
                let results = b.push_with(
                    OpKind::Opt(OptOp::Repeat),
                    &[n[0], args[1], args[1]],
                    vec![region],
                    loc(),
                );
                vec![results[0]]
            });
            assert!(canonicalize(&mut module));
            verify(&module).unwrap();
            assert_eq!(body(&module), expected);
        }
    }

    #[test]
    fn a_value_whose_statistics_a_loop_advances_stays_in_it() {
        use crate::testing::{Closure, linked};
        use fedround::__private::{for_each, range};
        use fedround::Definer;
        use fedround::prelude::*;

        // Each turn hands `y` on as it is, but for the statistics that its gradient advances.
        let mut module = linked(&Closure(|m: &mut Definer| {
            m.round(|server, w| {
                let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
                    let (y, g) = for_each(range(2), (w.clone(), w.zeros_like()), |(), (y, g)| {
                        let b = k.batch(10);
                        let next = grad(&y, |y| cross_entropy(k.forward(y, &b.x), &b.y));
                        (y, g + next)
                    });
                    &y - &w + g
                });
                w_k.mean()
            });
        }));
        canonicalize(&mut module);
        let find = |kind| module.all_ops().find(|op| op.kind == kind).unwrap();
        let (turns, moved) = (
            find(OpKind::Opt(OptOp::Repeat)),
            find(OpKind::Tree(TreeOp::Sub)),
        );
        assert_eq!(moved.operands[0], turns.results[0]);
    }
}
