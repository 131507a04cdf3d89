//! Real numbers that are computed in a round.

use std::rc::Rc;

use fedround_ir::Loc;
use fedround_ir::fed::{ArithOp, HyperValue, Kind, OpKind, Value};

use crate::graph::Graph;
use crate::index::Index;
use crate::wire::{Upload, Wire, computed, sealed};

/// A real number: a constant, a hyper-parameter, or the result of an op in client code.
///
/// Constants and hyper-parameters, and arithmetic on them alone, belong to no place: they are
/// staged where they meet a staged value. So `0.5 * self.mu` can be written anywhere.
#[derive(Clone, Debug)]
pub struct Scalar(Repr);

#[derive(Clone, Debug)]
enum Repr {
    Lazy(Rc<Lazy>),
    Staged { graph: Graph, value: Value },
}

/// A number that is known before a round runs, and not staged yet.
#[derive(Debug)]
struct Lazy {
    expression: Expression,
    loc: Loc,
}

#[derive(Debug)]
enum Expression {
    Const(f64),
    Hyper(&'static str, f64),
    Count(Index),
    Op(OpKind, Vec<Rc<Lazy>>),
}

impl Lazy {
    /// Whether it is the same number in every round.
    fn is(&self, other: &Self) -> bool {
        match (&self.expression, &other.expression) {
            (Expression::Const(a), Expression::Const(b)) => a == b,
            (Expression::Hyper(a, _), Expression::Hyper(b, _)) => a == b,
            (Expression::Count(a), Expression::Count(b)) => a.is(b),
            (Expression::Op(a, of_a), Expression::Op(b, of_b)) => {
                a == b && of_a.len() == of_b.len() && of_a.iter().zip(of_b).all(|(a, b)| a.is(b))
            }
            _ => false,
        }
    }

    fn stage(&self, graph: &Graph) -> Value {
        match &self.expression {
            Expression::Const(x) => graph.op(ArithOp::Const(*x), &[], self.loc),
            Expression::Hyper(name, x) => graph.hyper(name, HyperValue::Float(*x), self.loc),
            Expression::Count(n) => {
                let n = n.value_in(graph);
                graph.op(ArithOp::Real, &[n], self.loc)
            }
            Expression::Op(kind, operands) => {
                let operands: Vec<Value> = operands.iter().map(|x| x.stage(graph)).collect();
                graph.op(kind.clone(), &operands, self.loc)
            }
        }
    }
}

impl Scalar {
    fn lazy(expression: Expression, loc: Loc) -> Self {
        Self(Repr::Lazy(Rc::new(Lazy { expression, loc })))
    }

    pub(crate) fn constant(x: f64, loc: Loc) -> Self {
        Self::lazy(Expression::Const(x), loc)
    }

    pub(crate) fn hyper(name: &'static str, x: f64, loc: Loc) -> Self {
        Self::lazy(Expression::Hyper(name, x), loc)
    }

    pub(crate) fn count(n: Index, loc: Loc) -> Self {
        Self::lazy(Expression::Count(n), loc)
    }

    /// Whether it is the same number of the graph, or the same one from before a round.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Lazy(a), Repr::Lazy(b)) => a.is(b),
            (Repr::Staged { value: a, .. }, Repr::Staged { value: b, .. }) => a == b,
            _ => false,
        }
    }

    /// The graph of a staged number.
    pub(crate) fn graph(&self) -> Option<&Graph> {
        match &self.0 {
            Repr::Lazy(_) => None,
            Repr::Staged { graph, .. } => Some(graph),
        }
    }

    /// An op from numbers to a number: staged if one of them is.
    pub(crate) fn op(kind: impl Into<OpKind>, operands: &[&Self], loc: Loc) -> Self {
        if let Some(graph) = operands.iter().find_map(|x| x.graph()) {
            let values: Vec<Value> = operands.iter().map(|x| x.value_in(graph, loc)).collect();
            return Self::bind(graph, graph.op(kind, &values, loc));
        }
        let lazy = operands.iter().filter_map(|x| match &x.0 {
            Repr::Lazy(lazy) => Some(Rc::clone(lazy)),
            Repr::Staged { .. } => None,
        });
        Self::lazy(Expression::Op(kind.into(), lazy.collect()), loc)
    }
}

impl Wire for Scalar {
    const KIND: Kind = Kind::Scalar;

    fn bind(graph: &Graph, value: Value) -> Self {
        Self(Repr::Staged {
            graph: graph.clone(),
            value,
        })
    }

    fn value_in(&self, graph: &Graph, loc: Loc) -> Value {
        match &self.0 {
            Repr::Lazy(lazy) => lazy.stage(graph),
            Repr::Staged { graph: own, value } => {
                graph.same(own, "a number", loc);
                *value
            }
        }
    }
}

impl From<f64> for Scalar {
    #[track_caller]
    fn from(x: f64) -> Self {
        Self::constant(x, Loc::caller())
    }
}

impl From<f32> for Scalar {
    #[track_caller]
    fn from(x: f32) -> Self {
        Self::constant(widen(x), Loc::caller())
    }
}

impl From<&Self> for Scalar {
    fn from(x: &Self) -> Self {
        x.clone()
    }
}

/// The shortest decimal of an `f32`, so that `0.1_f32` is shown and saved as 0.1.
pub(crate) fn widen(x: f32) -> f64 {
    x.to_string().parse().unwrap_or(f64::from(x))
}

impl From<Index> for Scalar {
    #[track_caller]
    fn from(n: Index) -> Self {
        Self::count(n, Loc::caller())
    }
}

computed!(Scalar);
impl sealed::Sealed for Scalar {}
impl Upload for Scalar {}
