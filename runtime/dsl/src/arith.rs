//! Arithmetic on numbers, in client code and on the server.

use fedround_ir::fed::ArithOp;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use fedround_ir::Loc;

use crate::number::{Number, number};
use crate::rate::Rate;
use crate::scalar_functions::Real;
use crate::wire::Wire;
use crate::{Index, Scalar, Server};

macro_rules! scalar_binary {
    ($op:ident, $method:ident, $kind:ident) => {
        scalar_binary!(@some $op, $method, $kind, Scalar: Scalar, &Scalar, f64, usize, Index);
        scalar_binary!(@some $op, $method, $kind, &Scalar: Scalar, &Scalar, f64, usize, Index);
        scalar_binary!(@some $op, $method, $kind, f64: Scalar, &Scalar, Index);
        scalar_binary!(@some $op, $method, $kind, usize: Scalar, &Scalar, Index);
        scalar_binary!(@some $op, $method, $kind, Index: Scalar, &Scalar, f64, usize, Index);
        scalar_binary!(@server $op, $method, $kind, Server<Scalar>, Server<Scalar>);
        scalar_binary!(@server $op, $method, $kind, Server<Scalar>, &Server<Scalar>);
        scalar_binary!(@server $op, $method, $kind, &Server<Scalar>, Server<Scalar>);
        scalar_binary!(@server $op, $method, $kind, &Server<Scalar>, &Server<Scalar>);
        scalar_binary!(@mixed $op, $method, $kind, Server<Scalar>: Scalar, &Scalar, f64, usize, Index);
        scalar_binary!(@mixed $op, $method, $kind, &Server<Scalar>: Scalar, &Scalar, f64, usize, Index);
    };
    (@some $op:ident, $method:ident, $kind:ident, $left:ty: $($right:ty),*) => {$(
        impl $op<$right> for $left {
            type Output = Scalar;
            #[track_caller]
            fn $method(self, other: $right) -> Scalar {
                let loc = Loc::caller();
                Scalar::op(ArithOp::$kind, &[&number(self, loc), &number(other, loc)], loc)
            }
        }
    )*};
    (@server $op:ident, $method:ident, $kind:ident, $left:ty, $right:ty) => {
        impl $op<$right> for $left {
            type Output = Server<Scalar>;
            #[track_caller]
            fn $method(self, other: $right) -> Server<Scalar> {
                let loc = Loc::caller();
                self.graph.same(&other.graph, "numbers", loc);
                Server::of_op(&self.graph, ArithOp::$kind, &[self.value, other.value], loc)
            }
        }
    };
    // A constant or hyper-parameter on either side of a server's number.
    (@mixed $op:ident, $method:ident, $kind:ident, $server:ty: $($number:ty),*) => {$(
        impl $op<$number> for $server {
            type Output = Server<Scalar>;
            #[track_caller]
            fn $method(self, other: $number) -> Server<Scalar> {
                let loc = Loc::caller();
                let other = number(other, loc).value_in(&self.graph, loc);
                Server::of_op(&self.graph, ArithOp::$kind, &[self.value, other], loc)
            }
        }
        impl $op<$server> for $number {
            type Output = Server<Scalar>;
            #[track_caller]
            fn $method(self, other: $server) -> Server<Scalar> {
                let loc = Loc::caller();
                let own = number(self, loc).value_in(&other.graph, loc);
                Server::of_op(&other.graph, ArithOp::$kind, &[own, other.value], loc)
            }
        }
    )*};
}
scalar_binary!(Add, add, Add);
scalar_binary!(Sub, sub, Sub);
scalar_binary!(Mul, mul, Mul);
scalar_binary!(Div, div, Div);

macro_rules! neg {
    ($($ty:ty: $number:ty),*) => {$(
        impl Neg for $ty {
            type Output = $number;
            #[track_caller]
            fn neg(self) -> $number {
                let loc = Loc::caller();
                self.of(Scalar::op(ArithOp::Neg, &[&self.to_scalar()], loc), loc)
            }
        }
    )*};
}
neg!(Scalar: Scalar, &Scalar: Scalar, Server<Scalar>: Server<Scalar>, &Server<Scalar>: Server<Scalar>);

macro_rules! assign {
    ($($number:ty: $of:ident, $op:ident, $method:ident, $kind:ident);*) => {$(
        impl<N: $of> $op<N> for $number {
            #[track_caller]
            fn $method(&mut self, other: N) {
                let loc = Loc::caller();
                let both = [&self.to_scalar(), &other.rate(loc)];
                *self = self.of(Scalar::op(ArithOp::$kind, &both, loc), loc);
            }
        }
    )*};
}
assign!(
    Scalar: Number, AddAssign, add_assign, Add;
    Scalar: Number, SubAssign, sub_assign, Sub;
    Scalar: Number, MulAssign, mul_assign, Mul;
    Scalar: Number, DivAssign, div_assign, Div;
    Server<Scalar>: Rate, AddAssign, add_assign, Add;
    Server<Scalar>: Rate, SubAssign, sub_assign, Sub;
    Server<Scalar>: Rate, MulAssign, mul_assign, Mul;
    Server<Scalar>: Rate, DivAssign, div_assign, Div
);
