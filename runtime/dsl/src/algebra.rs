//! The algebra of parameters, in client code and on the server.

use fedround_ir::fed::TreeOp;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use fedround_ir::Loc;

use crate::number::{Number, number};
use crate::rate::Rate;
use crate::scalar_functions::Real;
use crate::tree::Tree;
use crate::wire::Wire;
use crate::{Index, Params, Scalar, Server, Tensor};

/// `a op b` for owned and borrowed operands, and `a op= b`.
macro_rules! tree_binary {
    ($ty:ty, $op:ident, $method:ident, $assign:ident, $assign_method:ident, $kind:ident) => {
        tree_binary!(@one $ty, $ty, $ty, $op, $method, $kind);
        tree_binary!(@one $ty, $ty, &$ty, $op, $method, $kind);
        tree_binary!(@one $ty, &$ty, $ty, $op, $method, $kind);
        tree_binary!(@one $ty, &$ty, &$ty, $op, $method, $kind);
        tree_binary!(@assign $ty, $ty, $assign, $assign_method, $kind);
        tree_binary!(@assign $ty, &$ty, $assign, $assign_method, $kind);
    };
    (@one $ty:ty, $left:ty, $right:ty, $op:ident, $method:ident, $kind:ident) => {
        impl $op<$right> for $left {
            type Output = $ty;
            #[track_caller]
            fn $method(self, other: $right) -> $ty {
                Tree::binary(&self, TreeOp::$kind, &other, Loc::caller())
            }
        }
    };
    (@assign $ty:ty, $right:ty, $op:ident, $method:ident, $kind:ident) => {
        impl $op<$right> for $ty {
            #[track_caller]
            fn $method(&mut self, other: $right) {
                *self = Tree::binary(self, TreeOp::$kind, &other, Loc::caller());
            }
        }
    };
}

/// `tree *= number` and `tree /= number`.
macro_rules! tree_assign {
    ($ty:ty, $of:ident) => {
        tree_assign!(@one $ty, $of, MulAssign, mul_assign, scaled_by);
        tree_assign!(@one $ty, $of, DivAssign, div_assign, divided_by);
    };
    (@one $ty:ty, $of:ident, $op:ident, $method:ident, $by:ident) => {
        impl<N: $of> $op<N> for $ty {
            #[track_caller]
            fn $method(&mut self, by: N) {
                let loc = Loc::caller();
                *self = self.$by(&by.rate(loc), loc);
            }
        }
    };
}

/// `tree * number`, `number * tree`, `tree / number` and `-tree`.
macro_rules! tree_scale {
    ($ty:ty, $($tree:ty),*) => {$(
        tree_scale!(@one $ty, $tree, Scalar, &Scalar, f64, usize, Index);
        impl Neg for $tree {
            type Output = $ty;
            #[track_caller]
            fn neg(self) -> $ty {
                let loc = Loc::caller();
                self.scaled_by(&Scalar::constant(-1.0, loc), loc)
            }
        }
    )*};
    (@one $ty:ty, $tree:ty, $($number:ty),*) => {$(
        impl Mul<$tree> for $number {
            type Output = $ty;
            #[track_caller]
            fn mul(self, tree: $tree) -> $ty {
                let loc = Loc::caller();
                tree.scaled_by(&number(self, loc), loc)
            }
        }
        impl Mul<$number> for $tree {
            type Output = $ty;
            #[track_caller]
            fn mul(self, by: $number) -> $ty {
                let loc = Loc::caller();
                self.scaled_by(&number(by, loc), loc)
            }
        }
        impl Div<$number> for $tree {
            type Output = $ty;
            #[track_caller]
            fn div(self, by: $number) -> $ty {
                let loc = Loc::caller();
                self.divided_by(&number(by, loc), loc)
            }
        }
    )*};
}

macro_rules! tree_rest {
    ($ty:ty) => {
        tree_binary!($ty, Add, add, AddAssign, add_assign, Add);
        tree_binary!($ty, Sub, sub, SubAssign, sub_assign, Sub);
        tree_scale!($ty, $ty, &$ty);
    };
}
tree_rest!(Params);
tree_rest!(Tensor);
tree_rest!(Server<Params>);
tree_assign!(Params, Number);
tree_assign!(Tensor, Number);
tree_assign!(Server<Params>, Rate);

macro_rules! products {
    ($($ty:ty),*) => {$(
        impl $ty {
            /// `⟨a, b⟩` over all entries but running statistics.
            #[track_caller]
            pub fn dot(&self, other: &Self) -> Scalar {
                let loc = Loc::caller();
                let ((graph, a), (theirs, b)) = (self.parts(loc), other.parts(loc));
                graph.same(theirs, "dot", loc);
                Scalar::of_op(graph, TreeOp::Dot, &[a, b], loc)
            }

            /// `‖a‖²` over all entries but running statistics.
            #[track_caller]
            pub fn sq_norm(&self) -> Scalar {
                let loc = Loc::caller();
                let (graph, value) = self.parts(loc);
                Scalar::of_op(graph, TreeOp::SqNorm, &[value], loc)
            }
        }
    )*};
}
products!(Params, Tensor);

impl Server<Params> {
    /// `⟨a, b⟩` over all entries but running statistics.
    #[track_caller]
    pub fn dot(&self, other: &Self) -> Server<Scalar> {
        let loc = Loc::caller();
        self.graph.same(&other.graph, "parameters", loc);
        Server::of_op(&self.graph, TreeOp::Dot, &[self.value, other.value], loc)
    }

    /// `‖a‖²` over all entries but running statistics.
    #[track_caller]
    pub fn sq_norm(&self) -> Server<Scalar> {
        Server::of_op(&self.graph, TreeOp::SqNorm, &[self.value], Loc::caller())
    }
}

macro_rules! server_scale {
    ($($number:ty, $tree:ty);*) => {$(
        impl Mul<$tree> for $number {
            type Output = Server<Params>;
            #[track_caller]
            fn mul(self, tree: $tree) -> Server<Params> {
                let loc = Loc::caller();
                self.graph.same(&tree.graph, "parameters", loc);
                tree.scaled(self.value, loc)
            }
        }
        impl Mul<$number> for $tree {
            type Output = Server<Params>;
            #[track_caller]
            fn mul(self, by: $number) -> Server<Params> {
                self.scaled_by(&by.to_scalar(), Loc::caller())
            }
        }
        impl Div<$number> for $tree {
            type Output = Server<Params>;
            #[track_caller]
            fn div(self, by: $number) -> Server<Params> {
                self.divided_by(&by.to_scalar(), Loc::caller())
            }
        }
    )*};
}
server_scale!(
    Server<Scalar>, Server<Params>;
    Server<Scalar>, &Server<Params>;
    &Server<Scalar>, Server<Params>;
    &Server<Scalar>, &Server<Params>
);
