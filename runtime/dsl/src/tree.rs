//! Parameters as vectors, entry by entry, on a client or on the server.

use fedround_ir::Loc;
use fedround_ir::fed::{ArithOp, Math, TreeOp, Value};

use crate::graph::Graph;
use crate::loop_state::LoopState;
use crate::rate::Rate;
use crate::wire::{Wire, sealed};
use crate::{Params, Scalar, Server, Tensor};

/// A tree of parameters at some place: [`Params`] in client code, `Server<Params>` on the server;
/// and [`Tensor`], which is a single tensor.
/// The methods here work entry by entry; `+`, `-` and products with numbers are operators.
pub trait Tree: sealed::Sealed + LoopState {
    #[doc(hidden)]
    fn parts(&self, loc: Loc) -> (&Graph, Value);
    #[doc(hidden)]
    fn of(graph: &Graph, value: Value) -> Self;

    #[doc(hidden)]
    fn binary(&self, kind: TreeOp, other: &Self, loc: Loc) -> Self {
        let ((graph, a), (theirs, b)) = (self.parts(loc), other.parts(loc));
        graph.same(theirs, "parameters", loc);
        Self::of(graph, graph.op(kind, &[a, b], loc))
    }

    #[doc(hidden)]
    fn unary(&self, kind: TreeOp, loc: Loc) -> Self {
        let (graph, value) = self.parts(loc);
        Self::of(graph, graph.op(kind, &[value], loc))
    }

    #[doc(hidden)]
    fn scaled(&self, by: Value, loc: Loc) -> Self {
        let (graph, value) = self.parts(loc);
        Self::of(graph, graph.op(TreeOp::Scale, &[by, value], loc))
    }

    #[doc(hidden)]
    fn scaled_by(&self, by: &Scalar, loc: Loc) -> Self {
        self.scaled(by.value_in(self.parts(loc).0, loc), loc)
    }

    #[doc(hidden)]
    fn divided_by(&self, by: &Scalar, loc: Loc) -> Self {
        let inverse = Scalar::op(ArithOp::Div, &[&Scalar::constant(1.0, loc), by], loc);
        self.scaled_by(&inverse, loc)
    }

    /// Zeros in the shape of these parameters.
    #[must_use]
    #[track_caller]
    fn zeros_like(&self) -> Self {
        let loc = Loc::caller();
        self.scaled_by(&Scalar::constant(0.0, loc), loc)
    }

    /// `aᵢ · bᵢ`.
    #[must_use]
    #[track_caller]
    fn mul(&self, other: &Self) -> Self {
        self.binary(TreeOp::Mul, other, Loc::caller())
    }

    /// `aᵢ / bᵢ`.
    #[must_use]
    #[track_caller]
    fn div(&self, other: &Self) -> Self {
        self.binary(TreeOp::Div, other, Loc::caller())
    }

    /// `√aᵢ`.
    #[must_use]
    #[track_caller]
    fn sqrt(&self) -> Self {
        self.unary(TreeOp::Math(Math::Sqrt), Loc::caller())
    }

    /// In each entry the sum over its layer, buffers left out: what a layer's gate or rate is made
    /// of. A layer is all of a parameter's path but its last segment: weight and bias are one.
    /// A tensor has no layers.
    #[must_use]
    #[track_caller]
    fn layer_sum(&self) -> Self {
        self.unary(TreeOp::LayerSum, Loc::caller())
    }

    /// `exp aᵢ`.
    #[must_use]
    #[track_caller]
    fn exp(&self) -> Self {
        self.unary(TreeOp::Math(Math::Exp), Loc::caller())
    }

    /// `ln aᵢ`.
    #[must_use]
    #[track_caller]
    fn ln(&self) -> Self {
        self.unary(TreeOp::Math(Math::Log), Loc::caller())
    }

    /// `⌊aᵢ⌋`. Its gradient is zero.
    #[must_use]
    #[track_caller]
    fn floor(&self) -> Self {
        self.unary(TreeOp::Math(Math::Floor), Loc::caller())
    }

    /// `|aᵢ|`. Its gradient is the sign of `aᵢ`, so 0 at 0.
    #[must_use]
    #[track_caller]
    fn abs(&self) -> Self {
        let loc = Loc::caller();
        let (graph, _) = self.parts(loc);
        // A choice between `aᵢ` and `−aᵢ` would have the slope of one of them at 0.
        graph.located(loc, || self.binary(TreeOp::Mul, &self.sign(), loc))
    }

    /// 1 where `aᵢ > bᵢ`, 0 elsewhere.
    #[must_use]
    #[track_caller]
    fn greater(&self, other: &Self) -> Self {
        let loc = Loc::caller();
        let (graph, _) = self.parts(loc);
        graph.located(loc, || {
            let zero = self.zeros_like();
            let more = self.binary(TreeOp::Sub, other, loc);
            more.select(&zero.add_scalar(1.0), &zero)
        })
    }

    /// 1 where `aᵢ < bᵢ`, 0 elsewhere.
    #[must_use]
    #[track_caller]
    fn less(&self, other: &Self) -> Self {
        let loc = Loc::caller();
        let (graph, _) = self.parts(loc);
        graph.located(loc, || other.greater(self))
    }

    /// `aᵢ + s`.
    #[must_use]
    #[track_caller]
    fn add_scalar(&self, s: impl Rate) -> Self {
        let loc = Loc::caller();
        let (graph, value) = self.parts(loc);
        let operands = [s.rate(loc).value_in(graph, loc), value];
        Self::of(graph, graph.op(TreeOp::AddScalar, &operands, loc))
    }

    /// −1, 0 or 1 as `aᵢ` is negative, zero or positive.
    #[must_use]
    #[track_caller]
    fn sign(&self) -> Self {
        let loc = Loc::caller();
        let (graph, _) = self.parts(loc);
        graph.located(loc, || {
            let zero = self.scaled_by(&Scalar::constant(0.0, loc), loc);
            let one = zero.add_scalar(1.0);
            let minus = self.scaled_by(&Scalar::constant(-1.0, loc), loc);
            let (up, down) = (self.select(&one, &zero), minus.select(&one, &zero));
            up.binary(TreeOp::Sub, &down, loc)
        })
    }

    /// `min(max(aᵢ, low), high)`.
    #[must_use]
    #[track_caller]
    fn clamp(&self, low: impl Rate, high: impl Rate) -> Self {
        let loc = Loc::caller();
        let (graph, value) = self.parts(loc);
        let bound = |x: Scalar| x.value_in(graph, loc);
        let operands = [bound(low.rate(loc)), bound(high.rate(loc)), value];
        Self::of(graph, graph.op(TreeOp::Clamp, &operands, loc))
    }

    /// `aᵢ` between `−c` and `c`: clipping by value.
    #[must_use]
    #[track_caller]
    fn clip_value(&self, c: impl Rate) -> Self {
        let loc = Loc::caller();
        let c = c.rate(loc);
        self.clamp(Scalar::op(ArithOp::Neg, &[&c], loc), c)
    }

    /// `a · min(1, C / (‖a‖ + 10⁻⁶))`: clipping by the Euclidean norm over all entries but running statistics, as
    /// `torch.nn.utils.clip_grad_norm_`.
    #[must_use]
    #[track_caller]
    fn clip_norm(&self, max: impl Rate) -> Self {
        let loc = Loc::caller();
        let (graph, max) = (self.parts(loc).0, max.rate(loc));
        graph.located(loc, || {
            let a: Params = recast(self, loc);
            let norm = Scalar::op(ArithOp::Math(Math::Sqrt), &[&a.sq_norm()], loc);
            let factor = max / (norm + 1e-6);
            let one = Scalar::constant(1.0, loc);
            let above = Scalar::op(ArithOp::Sub, &[&factor, &one], loc);
            let factor = Scalar::op(ArithOp::Select, &[&above, &one, &factor], loc);
            recast(&(factor * a), loc)
        })
    }

    /// `aᵢ` where this tree is positive, `bᵢ` elsewhere: `(&a - &b).select(&a, &b)` is the larger.
    #[must_use]
    #[track_caller]
    fn select(&self, a: &Self, b: &Self) -> Self {
        let loc = Loc::caller();
        let (graph, value) = self.parts(loc);
        for other in [a, b] {
            graph.same(other.parts(loc).0, "parameters", loc);
        }
        let operands = [value, a.parts(loc).1, b.parts(loc).1];
        Self::of(graph, graph.op(TreeOp::Select, &operands, loc))
    }
}

impl Tree for Params {
    fn parts(&self, _: Loc) -> (&Graph, Value) {
        (&self.graph, self.value)
    }
    fn of(graph: &Graph, value: Value) -> Self {
        Self::bind(graph, value)
    }
}

impl Tree for Tensor {
    fn parts(&self, loc: Loc) -> (&Graph, Value) {
        (self.graph(), self.stage(self.graph(), loc))
    }
    fn of(graph: &Graph, value: Value) -> Self {
        Self::new(graph, value)
    }
}

impl Tree for Server<Params> {
    fn parts(&self, _: Loc) -> (&Graph, Value) {
        (&self.graph, self.value)
    }
    fn of(graph: &Graph, value: Value) -> Self {
        Self::new(graph, value)
    }
}

/// The same tree at another place in the types. Ops take their place from the code around them, so
/// that what is written once over [`Params`] serves the server too.
pub(crate) fn recast<A: Tree, B: Tree>(tree: &A, loc: Loc) -> B {
    let (graph, value) = tree.parts(loc);
    B::of(graph, value)
}
