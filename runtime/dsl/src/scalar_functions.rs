//! Functions of numbers, on a client or on the server.

use fedround_ir::Loc;
use fedround_ir::fed::{ArithOp, Math, TreeOp};

use crate::rate::Rate;
use crate::tree::Tree;
use crate::wire::{Wire, sealed};
use crate::{Scalar, Server};

/// A number at some place: [`Scalar`], or `Server<Scalar>` on the server.
///
/// Code does not branch on such a number: [`Real::select`] computes both of its sides.
pub trait Real: sealed::Sealed + Clone {
    #[doc(hidden)]
    fn to_scalar(&self) -> Scalar;
    /// A result of a computation with this number.
    #[doc(hidden)]
    fn of(&self, scalar: Scalar, loc: Loc) -> Self;

    /// `√x`.
    #[must_use]
    #[track_caller]
    fn sqrt(&self) -> Self {
        math(self, Math::Sqrt, Loc::caller())
    }

    /// `eˣ`.
    #[must_use]
    #[track_caller]
    fn exp(&self) -> Self {
        math(self, Math::Exp, Loc::caller())
    }

    /// `ln x`.
    #[must_use]
    #[track_caller]
    fn ln(&self) -> Self {
        math(self, Math::Log, Loc::caller())
    }

    /// `cos x`, of radians.
    #[must_use]
    #[track_caller]
    fn cos(&self) -> Self {
        math(self, Math::Cos, Loc::caller())
    }

    /// `⌊x⌋`.
    #[must_use]
    #[track_caller]
    fn floor(&self) -> Self {
        math(self, Math::Floor, Loc::caller())
    }

    /// `xʸ`.
    #[must_use]
    #[track_caller]
    fn pow(&self, y: impl Rate) -> Self {
        let loc = Loc::caller();
        let power = Scalar::op(ArithOp::Pow, &[&self.to_scalar(), &y.rate(loc)], loc);
        self.of(power, loc)
    }

    /// The smaller of two.
    #[must_use]
    #[track_caller]
    fn min(&self, other: impl Rate) -> Self {
        let (loc, a) = (Loc::caller(), self.to_scalar());
        let b = other.rate(loc);
        let above = Scalar::op(ArithOp::Sub, &[&a, &b], loc);
        self.of(Scalar::op(ArithOp::Select, &[&above, &b, &a], loc), loc)
    }

    /// The larger of two.
    #[must_use]
    #[track_caller]
    fn max(&self, other: impl Rate) -> Self {
        let (loc, a) = (Loc::caller(), self.to_scalar());
        let b = other.rate(loc);
        let above = Scalar::op(ArithOp::Sub, &[&a, &b], loc);
        self.of(Scalar::op(ArithOp::Select, &[&above, &a, &b], loc), loc)
    }

    /// 1 if this count is `other`, else 0: `chosen.is(j)`, where both are whole numbers.
    #[must_use]
    #[track_caller]
    fn is(&self, other: impl Rate) -> Self {
        let loc = Loc::caller();
        let apart = self.to_scalar() - other.rate(loc);
        let near = 0.25 - &apart * &apart;
        let (one, zero) = (Scalar::constant(1.0, loc), Scalar::constant(0.0, loc));
        self.of(Scalar::op(ArithOp::Select, &[&near, &one, &zero], loc), loc)
    }

    /// All of the parameters or tensor `a` if this number is positive, else all of `b`. Entries of the other one
    /// do not matter, not even if they are not finite.
    #[must_use]
    #[track_caller]
    fn choose<T: Tree>(&self, a: &T, b: &T) -> T {
        let loc = Loc::caller();
        let ((graph, one), (theirs, other)) = (a.parts(loc), b.parts(loc));
        graph.same(theirs, "parameters", loc);
        let operands = [self.to_scalar().value_in(graph, loc), one, other];
        T::of(graph, graph.op(TreeOp::Choose, &operands, loc))
    }

    /// `a` if this number is positive, else `b`.
    #[must_use]
    #[track_caller]
    fn select(&self, a: impl Rate, b: impl Rate) -> Self {
        let (loc, c) = (Loc::caller(), self.to_scalar());
        let (a, b) = (a.rate(loc), b.rate(loc));
        self.of(Scalar::op(ArithOp::Select, &[&c, &a, &b], loc), loc)
    }
}

fn math<T: Real>(x: &T, math: Math, loc: Loc) -> T {
    x.of(Scalar::op(ArithOp::Math(math), &[&x.to_scalar()], loc), loc)
}

impl Real for Scalar {
    fn to_scalar(&self) -> Scalar {
        self.clone()
    }
    fn of(&self, scalar: Scalar, _: Loc) -> Self {
        scalar
    }
}

impl Real for Server<Scalar> {
    fn to_scalar(&self) -> Scalar {
        Scalar::bind(&self.graph, self.value)
    }
    fn of(&self, scalar: Scalar, loc: Loc) -> Self {
        Self::new(&self.graph, scalar.value_in(&self.graph, loc))
    }
}
