//! The rules by which `canonicalize` simplifies an op without regions.

use std::collections::{HashMap, HashSet};

use fedround_ir::fed::{ArithOp, Hyper, Kind, Math, OpKind, TreeOp, Type, Value};

/// The replacement of an op.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Simpler {
    /// An existing value.
    Same(Value),
    /// Another op with the same result.
    Op(OpKind, Vec<Value>),
}

/// The definitions seen so far.
#[derive(Debug, Default)]
pub(super) struct Definitions<'m> {
    pub(super) hypers: &'m [Hyper],
    pub(super) types: &'m [Type],
    /// Trees whose running statistics a gradient advances.
    pub(super) differentiated: HashSet<Value>,
    pub(super) by_value: HashMap<Value, (OpKind, Vec<Value>)>,
}

impl Definitions<'_> {
    /// The value as a number, if this program fixes it.
    fn number(&self, value: Value) -> Option<f64> {
        match self.by_value.get(&value)? {
            (OpKind::Arith(ArithOp::Real), operands) => self.number(*operands.first()?),
            (kind, _) => kind.known(self.hypers)?.number(),
        }
    }

    /// The value as a count, if this program fixes it.
    pub(super) fn count(&self, value: Value) -> Option<usize> {
        self.by_value.get(&value)?.0.known(self.hypers)?.count()
    }

    fn is(&self, value: Value, number: f64) -> bool {
        self.number(value).is_some_and(|found| found == number)
    }

    /// The value as a number, if it is a constant of the code. A constant may be folded away; a
    /// hyper-parameter may not, as its value differs between runs.
    fn literal(&self, value: Value) -> Option<f64> {
        match self.by_value.get(&value)?.0 {
            OpKind::Arith(ArithOp::Const(x)) => Some(x),
            _ => None,
        }
    }

    fn operand(&self, value: Value, kind: &OpKind) -> Option<&[Value]> {
        let (found, operands) = self.by_value.get(&value)?;
        (found == kind).then_some(operands.as_slice())
    }

    /// Whether these are parameters that are zero for every input. Features are not meant: a result has the
    /// larger shape of its operands', which is known only when the model is.
    fn zero_params(&self, value: Value) -> bool {
        let ty = self.types.get(value.0 as usize);
        ty.is_some_and(|ty| ty.kind == Kind::Params) && self.zero(value)
    }

    /// Whether a tree is zero for every input.
    fn zero(&self, value: Value) -> bool {
        if self.differentiated.contains(&value) {
            return false;
        }
        match self.by_value.get(&value) {
            Some((OpKind::Tree(TreeOp::Scale), operands)) => match operands.as_slice() {
                [by, tree] => self.is(*by, 0.0) || self.zero(*tree),
                _ => false,
            },
            Some((OpKind::Tree(TreeOp::Sub), operands)) => {
                matches!(operands.as_slice(), [a, b] if a == b)
            }
            Some((OpKind::Tree(TreeOp::ReplaceParts(_)), operands)) => {
                operands.iter().all(|v| self.zero(*v))
            }
            _ => false,
        }
    }

    /// `x` of `-1 · x`.
    fn minus(&self, value: Value) -> Option<Value> {
        match self.operand(value, &OpKind::Tree(TreeOp::Scale))? {
            [by, tree] if self.literal(*by) == Some(-1.0) => Some(*tree),
            _ => None,
        }
    }

    /// A simpler form of an op. A factor of zero wins over whatever it multiplies, infinities
    /// included: a term with weight zero is not part of the algorithm.
    pub(super) fn simplify(&self, kind: &OpKind, operands: &[Value]) -> Option<Simpler> {
        use Simpler::{Op, Same};
        let constant = |x: f64| Some(Op(OpKind::Arith(ArithOp::Const(x)), Vec::new()));
        let literals = |a, b| self.literal(a).zip(self.literal(b));
        match (kind, operands) {
            (OpKind::Arith(ArithOp::Real), [n]) => match self.by_value.get(n)?.0 {
                OpKind::Arith(ArithOp::IndexConst(n)) => constant(n as f64),
                _ => None,
            },
            (OpKind::Arith(ArithOp::Add), &[a, b]) => match literals(a, b) {
                Some((x, y)) => constant(x + y),
                None if self.is(a, 0.0) => Some(Same(b)),
                None if self.is(b, 0.0) => Some(Same(a)),
                None => None,
            },
            (OpKind::Arith(ArithOp::Sub), &[a, b]) => match literals(a, b) {
                Some((x, y)) => constant(x - y),
                None if self.is(b, 0.0) => Some(Same(a)),
                None if self.is(a, 0.0) => Some(Op(OpKind::Arith(ArithOp::Neg), vec![b])),
                None if a == b => constant(0.0),
                None => None,
            },
            (OpKind::Arith(ArithOp::Mul), &[a, b]) => match literals(a, b) {
                Some((x, y)) => constant(x * y),
                None if self.is(a, 0.0) || self.is(b, 0.0) => constant(0.0),
                None if self.is(a, 1.0) => Some(Same(b)),
                None if self.is(b, 1.0) => Some(Same(a)),
                None => None,
            },
            (OpKind::Arith(ArithOp::Div), &[a, b]) => match literals(a, b) {
                Some((x, y)) if y != 0.0 => constant(x / y),
                _ if self.is(b, 1.0) => Some(Same(a)),
                _ => None,
            },
            (OpKind::Arith(ArithOp::Pow), &[_, b]) if self.is(b, 0.0) => constant(1.0),
            (OpKind::Arith(ArithOp::Pow), &[a, b]) => {
                literals(a, b).and_then(|(x, y)| constant(x.powf(y)))
            }
            (OpKind::Arith(ArithOp::Neg), &[a]) => match (
                self.literal(a),
                self.operand(a, &OpKind::Arith(ArithOp::Neg)),
            ) {
                (Some(x), _) => constant(-x),
                (None, Some(&[inner])) => Some(Same(inner)),
                _ => None,
            },
            (OpKind::Arith(ArithOp::Math(math)), &[x]) => {
                self.literal(x).and_then(|x| constant(apply(*math, x)))
            }
            (OpKind::Arith(ArithOp::Select), &[_, a, b]) if a == b => Some(Same(a)),
            (OpKind::Arith(ArithOp::Select), &[c, a, b]) => {
                self.literal(c).map(|c| Same(if c > 0.0 { a } else { b }))
            }
            (OpKind::Tree(TreeOp::Scale), &[by, tree]) if self.is(by, 1.0) => Some(Same(tree)),
            (OpKind::Tree(TreeOp::AddScalar), &[by, tree]) if self.is(by, 0.0) => Some(Same(tree)),
            (OpKind::Tree(TreeOp::Mul | TreeOp::Div), &[a, _]) if self.zero_params(a) => {
                Some(Same(a))
            }
            (OpKind::Tree(TreeOp::Mul), &[_, b]) if self.zero_params(b) => Some(Same(b)),
            (OpKind::Tree(TreeOp::Math(Math::Sqrt) | TreeOp::LayerSum), &[a])
                if self.zero_params(a) =>
            {
                Some(Same(a))
            }
            (OpKind::Tree(TreeOp::Select), &[c, a, b]) if a == b || self.zero_params(c) => {
                Some(Same(b))
            }
            (OpKind::Tree(TreeOp::ReplaceParts(_)), &[a, b]) if a == b => Some(Same(a)),
            (OpKind::Tree(TreeOp::Add), &[a, b]) if self.zero_params(b) => Some(Same(a)),
            (OpKind::Tree(TreeOp::Add), &[a, b]) if self.zero_params(a) => Some(Same(b)),
            (OpKind::Tree(TreeOp::Add), &[a, b]) => self
                .minus(b)
                .map(|b| Op(OpKind::Tree(TreeOp::Sub), vec![a, b])),
            (OpKind::Tree(TreeOp::Sub), &[a, b]) if self.zero_params(b) => Some(Same(a)),
            (OpKind::Tree(TreeOp::Sub), &[a, b]) => self
                .minus(b)
                .map(|b| Op(OpKind::Tree(TreeOp::Add), vec![a, b])),
            (OpKind::Tree(TreeOp::Dot), &[a, b]) if self.zero(a) || self.zero(b) => constant(0.0),
            (OpKind::Tree(TreeOp::Dot), &[a, b]) if a == b => {
                Some(Op(OpKind::Tree(TreeOp::SqNorm), vec![a]))
            }
            (OpKind::Tree(TreeOp::SqNorm), &[a]) if self.zero(a) => constant(0.0),
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
    use fedround_ir::fed::{FedOp, HyperValue};

    use super::*;

    const A: Value = Value(0);
    const X: Value = Value(1);
    const Y: Value = Value(2);

    /// What becomes of an op on parameters when `A` is defined so.
    fn simplify(
        a: impl Into<OpKind>,
        of: &[Value],
        kind: impl Into<OpKind>,
        operands: &[Value],
    ) -> Option<Simpler> {
        simplify_of(Kind::Params, (a, of), kind, operands)
    }

    fn simplify_of(
        values: Kind,
        (a, of): (impl Into<OpKind>, &[Value]),
        kind: impl Into<OpKind>,
        operands: &[Value],
    ) -> Option<Simpler> {
        let hypers = [Hyper {
            name: "t.mu".into(),
            layer: 0,
            value: HyperValue::Float(0.0),
        }];
        let by_value = HashMap::from([(A, (a.into(), of.to_vec()))]);
        Definitions {
            hypers: &hypers,
            types: &[Type::client(values); 3],
            by_value,
            ..Definitions::default()
        }
        .simplify(&kind.into(), operands)
    }

    fn made(kind: impl Into<OpKind>, operands: &[Value]) -> Option<Simpler> {
        Some(Simpler::Op(kind.into(), operands.to_vec()))
    }

    #[test]
    fn neutral_and_absorbing_elements() {
        use ArithOp::{Add, Const, Div, Mul, Neg, Sub};
        let same = Some(Simpler::Same(X));
        let zero = made(Const(0.0), &[]);
        for a in [OpKind::from(Const(0.0)), FedOp::Hyper(0).into()] {
            assert_eq!(simplify(a.clone(), &[], Add, &[A, X]), same);
            assert_eq!(simplify(a.clone(), &[], Add, &[X, A]), same);
            assert_eq!(simplify(a.clone(), &[], Sub, &[X, A]), same);
            assert_eq!(simplify(a.clone(), &[], Sub, &[A, X]), made(Neg, &[X]));
            assert_eq!(simplify(a.clone(), &[], Mul, &[A, X]), zero);
            assert_eq!(simplify(a, &[], Mul, &[X, A]), zero);
        }
        assert_eq!(simplify(Const(1.0), &[], Mul, &[A, X]), same);
        assert_eq!(simplify(Const(1.0), &[], Div, &[X, A]), same);
        assert_eq!(simplify(Neg, &[X], Neg, &[A]), same);
        assert_eq!(
            simplify(Const(2.0), &[], Mul, &[A, A]),
            made(Const(4.0), &[])
        );
        assert_eq!(simplify(Const(2.0), &[], Mul, &[A, X]), None);
        assert_eq!(
            simplify(Const(0.0), &[], Div, &[A, A]),
            None,
            "0/0 is not a number"
        );
    }

    #[test]
    fn parameters() {
        use ArithOp::Const;
        let same = Some(Simpler::Same(X));
        let zero = made(Const(0.0), &[]);
        assert_eq!(simplify(Const(1.0), &[], TreeOp::Scale, &[A, X]), same);
        assert_eq!(simplify(TreeOp::Sub, &[Y, Y], TreeOp::Add, &[X, A]), same);
        assert_eq!(simplify(TreeOp::Sub, &[Y, Y], TreeOp::Add, &[A, X]), same);
        assert_eq!(simplify(TreeOp::Sub, &[Y, Y], TreeOp::Sub, &[X, A]), same);
        assert_eq!(simplify(TreeOp::Sub, &[Y, Y], TreeOp::SqNorm, &[A]), zero);
        assert_eq!(simplify(TreeOp::Sub, &[Y, Y], TreeOp::Dot, &[A, X]), zero);
        assert_eq!(
            simplify(Const(2.0), &[], TreeOp::Dot, &[X, X]),
            made(TreeOp::SqNorm, &[X])
        );
        assert_eq!(simplify(TreeOp::Sub, &[X, Y], TreeOp::Add, &[X, A]), None);
    }

    #[test]
    fn features_of_zeros_may_have_the_smaller_shape() {
        let of_zeros = |kind: TreeOp, operands: &[Value]| {
            simplify_of(Kind::Tensor, (TreeOp::Sub, &[Y, Y]), kind, operands)
        };
        assert_eq!(of_zeros(TreeOp::Add, &[X, A]), None);
        assert_eq!(of_zeros(TreeOp::Mul, &[X, A]), None);
        let zero = made(ArithOp::Const(0.0), &[]);
        assert_eq!(of_zeros(TreeOp::SqNorm, &[A]), zero);
    }

    #[test]
    fn functions_of_literals_and_decided_choices() {
        use ArithOp::{Const, Pow, Select};
        let number = |x| made(Const(x), &[]);
        let four = || Const(4.0);
        let sqrt = || ArithOp::Math(Math::Sqrt);
        assert_eq!(simplify(four(), &[], sqrt(), &[A]), number(2.0));
        assert_eq!(simplify(four(), &[], Pow, &[A, A]), number(256.0));
        // A hyper-parameter may have another value in another run.
        assert_eq!(simplify(FedOp::Hyper(0), &[], sqrt(), &[A]), None);
        let same = |v| Some(Simpler::Same(v));
        assert_eq!(simplify(four(), &[], Select, &[A, X, Y]), same(X));
        assert_eq!(simplify(Const(0.0), &[], Select, &[A, X, Y]), same(Y));
        assert_eq!(simplify(FedOp::Hyper(0), &[], Select, &[A, X, X]), same(X));
        assert_eq!(
            simplify(FedOp::Hyper(0), &[], TreeOp::AddScalar, &[A, X]),
            same(X)
        );
        for (of, zero) in [(TreeOp::Sub, [Y, Y]), (TreeOp::Scale, [Y, Y])] {
            let expected = (of == TreeOp::Sub).then_some(Simpler::Same(A));
            assert_eq!(simplify(of.clone(), &zero, TreeOp::Mul, &[X, A]), expected);
            assert_eq!(simplify(of, &zero, TreeOp::Div, &[A, X]), expected);
        }
    }
}
