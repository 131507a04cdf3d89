//! The rules of `canonicalize` for one op without regions.

use std::collections::HashMap;

use fedround_ir::fed::{Hyper, HyperValue, Math, OpKind, Value};

/// What an op may be replaced by.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Simpler {
    /// A value that is there already.
    Same(Value),
    /// Another op with the same result.
    Op(OpKind, Vec<Value>),
}

/// The definitions seen so far.
#[derive(Debug, Default)]
pub(super) struct Definitions<'m> {
    pub(super) hypers: &'m [Hyper],
    pub(super) by_value: HashMap<Value, (OpKind, Vec<Value>)>,
}

impl Definitions<'_> {
    /// The number that a value is in this program.
    fn number(&self, value: Value) -> Option<f64> {
        match self.by_value.get(&value)?.0 {
            OpKind::Const(x) => Some(x),
            OpKind::Real => Some(self.count(*self.operand(value, &OpKind::Real)?.first()?)? as f64),
            OpKind::Hyper(index) => match self.hypers.get(index)?.value {
                HyperValue::Float(x) => Some(x),
                _ => None,
            },
            _ => None,
        }
    }

    /// The count that a value is in this program.
    pub(super) fn count(&self, value: Value) -> Option<usize> {
        match self.by_value.get(&value)?.0 {
            OpKind::IndexConst(n) => Some(n),
            OpKind::Hyper(index) => match self.hypers.get(index)?.value {
                HyperValue::Int(n) => Some(n),
                _ => None,
            },
            _ => None,
        }
    }

    fn is(&self, value: Value, number: f64) -> bool {
        self.number(value).is_some_and(|found| found == number)
    }

    /// The number of a constant in the code. Unlike a hyper-parameter it may be folded away: it
    /// is the same in every run.
    fn literal(&self, value: Value) -> Option<f64> {
        match self.by_value.get(&value)?.0 {
            OpKind::Const(x) => Some(x),
            _ => None,
        }
    }

    fn operand(&self, value: Value, kind: &OpKind) -> Option<&[Value]> {
        let (found, operands) = self.by_value.get(&value)?;
        (found == kind).then_some(operands.as_slice())
    }

    /// Whether parameters are zero for every input.
    fn zero(&self, value: Value) -> bool {
        match self.by_value.get(&value) {
            Some((OpKind::TreeScale, operands)) => match operands.as_slice() {
                [by, tree] => self.is(*by, 0.0) || self.zero(*tree),
                _ => false,
            },
            Some((OpKind::TreeSub, operands)) => matches!(operands.as_slice(), [a, b] if a == b),
            Some((OpKind::TreeReplaceParts(_), operands)) => operands.iter().all(|v| self.zero(*v)),
            _ => false,
        }
    }

    /// `x` of `-1 · x`.
    fn minus(&self, value: Value) -> Option<Value> {
        match self.operand(value, &OpKind::TreeScale)? {
            [by, tree] if self.literal(*by) == Some(-1.0) => Some(*tree),
            _ => None,
        }
    }

    /// A simpler form of an op. A factor of zero wins over whatever it multiplies, infinities
    /// included: a term with weight zero is not part of the algorithm.
    pub(super) fn simplify(&self, kind: &OpKind, operands: &[Value]) -> Option<Simpler> {
        use Simpler::{Op, Same};
        let constant = |x: f64| Some(Op(OpKind::Const(x), Vec::new()));
        let literals = |a, b| self.literal(a).zip(self.literal(b));
        match (kind, operands) {
            (OpKind::Real, [n]) => match self.by_value.get(n)?.0 {
                OpKind::IndexConst(n) => constant(n as f64),
                _ => None,
            },
            (OpKind::Add, &[a, b]) => match literals(a, b) {
                Some((x, y)) => constant(x + y),
                None if self.is(a, 0.0) => Some(Same(b)),
                None if self.is(b, 0.0) => Some(Same(a)),
                None => None,
            },
            (OpKind::Sub, &[a, b]) => match literals(a, b) {
                Some((x, y)) => constant(x - y),
                None if self.is(b, 0.0) => Some(Same(a)),
                None if self.is(a, 0.0) => Some(Op(OpKind::Neg, vec![b])),
                None if a == b => constant(0.0),
                None => None,
            },
            (OpKind::Mul, &[a, b]) => match literals(a, b) {
                Some((x, y)) => constant(x * y),
                None if self.is(a, 0.0) || self.is(b, 0.0) => constant(0.0),
                None if self.is(a, 1.0) => Some(Same(b)),
                None if self.is(b, 1.0) => Some(Same(a)),
                None => None,
            },
            (OpKind::Div, &[a, b]) => match literals(a, b) {
                Some((x, y)) if y != 0.0 => constant(x / y),
                _ if self.is(b, 1.0) => Some(Same(a)),
                _ => None,
            },
            (OpKind::Pow, &[_, b]) if self.is(b, 0.0) => constant(1.0),
            (OpKind::Pow, &[a, b]) => literals(a, b).and_then(|(x, y)| constant(x.powf(y))),
            (OpKind::Neg, &[a]) => match (self.literal(a), self.operand(a, &OpKind::Neg)) {
                (Some(x), _) => constant(-x),
                (None, Some(&[inner])) => Some(Same(inner)),
                _ => None,
            },
            (OpKind::Math(math), &[x]) => self.literal(x).and_then(|x| constant(apply(*math, x))),
            (OpKind::Select, &[_, a, b]) if a == b => Some(Same(a)),
            (OpKind::Select, &[c, a, b]) => {
                self.literal(c).map(|c| Same(if c > 0.0 { a } else { b }))
            }
            (OpKind::TreeScale, &[by, tree]) if self.is(by, 1.0) => Some(Same(tree)),
            (OpKind::TreeAddScalar, &[by, tree]) if self.is(by, 0.0) => Some(Same(tree)),
            (OpKind::TreeMul | OpKind::TreeDiv, &[a, _]) if self.zero(a) => Some(Same(a)),
            (OpKind::TreeMul, &[_, b]) if self.zero(b) => Some(Same(b)),
            (OpKind::TreeMath(Math::Sqrt) | OpKind::TreeLayerSum, &[a]) if self.zero(a) => {
                Some(Same(a))
            }
            (OpKind::TreeSelect, &[c, a, b]) if a == b || self.zero(c) => Some(Same(b)),
            (OpKind::TreeReplaceParts(_), &[a, b]) if a == b => Some(Same(a)),
            (OpKind::TreeAdd, &[a, b]) if self.zero(b) => Some(Same(a)),
            (OpKind::TreeAdd, &[a, b]) if self.zero(a) => Some(Same(b)),
            (OpKind::TreeAdd, &[a, b]) => self.minus(b).map(|b| Op(OpKind::TreeSub, vec![a, b])),
            (OpKind::TreeSub, &[a, b]) if self.zero(b) => Some(Same(a)),
            (OpKind::TreeSub, &[a, b]) => self.minus(b).map(|b| Op(OpKind::TreeAdd, vec![a, b])),
            (OpKind::TreeDot, &[a, b]) if self.zero(a) || self.zero(b) => constant(0.0),
            (OpKind::TreeDot, &[a, b]) if a == b => Some(Op(OpKind::TreeSqNorm, vec![a])),
            (OpKind::TreeSqNorm, &[a]) if self.zero(a) => constant(0.0),
            _ => None,
        }
    }
}

fn apply(math: Math, x: f64) -> f64 {
    match math {
        Math::Sqrt => x.sqrt(),
        Math::Exp => x.exp(),
        Math::Log => x.ln(),
        Math::Cos => x.cos(),
        Math::Floor => x.floor(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Value = Value(0);
    const X: Value = Value(1);
    const Y: Value = Value(2);

    /// What becomes of an op when `A` is defined so.
    fn simplify(a: OpKind, of: &[Value], kind: &OpKind, operands: &[Value]) -> Option<Simpler> {
        let hypers = [Hyper {
            name: "t.mu".into(),
            layer: 0,
            value: HyperValue::Float(0.0),
        }];
        let by_value = HashMap::from([(A, (a, of.to_vec()))]);
        Definitions {
            hypers: &hypers,
            by_value,
        }
        .simplify(kind, operands)
    }

    #[test]
    fn neutral_and_absorbing_elements() {
        use OpKind::{Add, Const, Div, Hyper, Mul, Neg, Sub};
        let same = Some(Simpler::Same(X));
        let zero = Some(Simpler::Op(Const(0.0), vec![]));
        for a in [Const(0.0), Hyper(0)] {
            assert_eq!(simplify(a.clone(), &[], &Add, &[A, X]), same);
            assert_eq!(simplify(a.clone(), &[], &Add, &[X, A]), same);
            assert_eq!(simplify(a.clone(), &[], &Sub, &[X, A]), same);
            assert_eq!(
                simplify(a.clone(), &[], &Sub, &[A, X]),
                Some(Simpler::Op(Neg, vec![X]))
            );
            assert_eq!(simplify(a.clone(), &[], &Mul, &[A, X]), zero);
            assert_eq!(simplify(a, &[], &Mul, &[X, A]), zero);
        }
        assert_eq!(simplify(Const(1.0), &[], &Mul, &[A, X]), same);
        assert_eq!(simplify(Const(1.0), &[], &Div, &[X, A]), same);
        assert_eq!(simplify(Neg, &[X], &Neg, &[A]), same);
        assert_eq!(
            simplify(Const(2.0), &[], &Mul, &[A, A]),
            Some(Simpler::Op(Const(4.0), vec![]))
        );
        assert_eq!(simplify(Const(2.0), &[], &Mul, &[A, X]), None);
        assert_eq!(
            simplify(Const(0.0), &[], &Div, &[A, A]),
            None,
            "0/0 is not a number"
        );
    }

    #[test]
    fn parameters() {
        use OpKind::{Const, TreeAdd, TreeDot, TreeScale, TreeSqNorm, TreeSub};
        let same = Some(Simpler::Same(X));
        let zero = Some(Simpler::Op(Const(0.0), vec![]));
        assert_eq!(simplify(Const(1.0), &[], &TreeScale, &[A, X]), same);
        assert_eq!(simplify(TreeSub, &[Y, Y], &TreeAdd, &[X, A]), same);
        assert_eq!(simplify(TreeSub, &[Y, Y], &TreeAdd, &[A, X]), same);
        assert_eq!(simplify(TreeSub, &[Y, Y], &TreeSub, &[X, A]), same);
        assert_eq!(simplify(TreeSub, &[Y, Y], &TreeSqNorm, &[A]), zero);
        assert_eq!(simplify(TreeSub, &[Y, Y], &TreeDot, &[A, X]), zero);
        assert_eq!(
            simplify(Const(2.0), &[], &TreeDot, &[X, X]),
            Some(Simpler::Op(TreeSqNorm, vec![X]))
        );
        assert_eq!(simplify(TreeSub, &[X, Y], &TreeAdd, &[X, A]), None);
    }

    #[test]
    fn functions_of_literals_and_decided_choices() {
        use OpKind::{
            Const, Math, Pow, Select, TreeAddScalar, TreeDiv, TreeMul, TreeScale, TreeSub,
        };
        let number = |x| Some(Simpler::Op(Const(x), vec![]));
        let four = || Const(4.0);
        let sqrt = Math(super::Math::Sqrt);
        assert_eq!(simplify(four(), &[], &sqrt, &[A]), number(2.0));
        assert_eq!(simplify(four(), &[], &Pow, &[A, A]), number(256.0));
        // A hyper-parameter may have another value in another run.
        assert_eq!(simplify(OpKind::Hyper(0), &[], &sqrt, &[A]), None);
        let same = |v| Some(Simpler::Same(v));
        assert_eq!(simplify(four(), &[], &Select, &[A, X, Y]), same(X));
        assert_eq!(simplify(Const(0.0), &[], &Select, &[A, X, Y]), same(Y));
        assert_eq!(
            simplify(OpKind::Hyper(0), &[], &Select, &[A, X, X]),
            same(X)
        );
        assert_eq!(
            simplify(OpKind::Hyper(0), &[], &TreeAddScalar, &[A, X]),
            same(X)
        );
        for (of, zero) in [(TreeSub, [Y, Y]), (TreeScale, [Y, Y])] {
            let expected = (of == TreeSub).then_some(Simpler::Same(A));
            assert_eq!(simplify(of.clone(), &zero, &TreeMul, &[X, A]), expected);
            assert_eq!(simplify(of, &zero, &TreeDiv, &[A, X]), expected);
        }
    }
}
