//! Privacy: releases, clipping, noise and claims.

use std::ops::Deref;

use fedround_ir::Loc;
use fedround_ir::fed::{Kind, PrivacyOp, Value};

use crate::graph::Graph;
use crate::rate::Rate;
use crate::tree::Tree;
use crate::wire::{Upload, Wire, computed, sealed};
use crate::{Cohort, Labels, Params, Real, Scalar, Server, Tensor};

/// A tensor or labels that the algorithm allows to leave their client; see [`Tensor::release`]. They stay
/// released when they are sent, and on the server. Values that client code computes from them are not
/// released.
#[derive(Clone, Debug)]
pub struct Released<T = Tensor>(T);

impl Released {
    /// The features, to compute with. What client code computes from them is not released.
    pub fn tensor(&self) -> Tensor {
        self.0.clone()
    }
}

impl Released<Labels> {
    /// The labels, to compute with.
    pub fn labels(&self) -> Labels {
        self.0.clone()
    }
}

impl<T> Deref for Released<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

macro_rules! released {
    ($ty:ident, $kind:ident, $what:literal) => {
        impl $ty {
            #[doc = concat!("States that these ", $what, " may leave their client, and why.")]
            /// `fedround explain` prints the reason in its table of what crosses the wire.
            #[track_caller]
            pub fn release(&self, why: &str) -> Released<Self> {
                let (graph, loc) = (self.graph(), Loc::caller());
                let value = self.stage(graph, loc);
                let released = graph.op(PrivacyOp::Release(why.to_owned()), &[value], loc);
                Released::<Self>::bind(graph, released)
            }
        }

        impl Wire for $ty {
            const KIND: Kind = Kind::$kind;

            fn bind(graph: &Graph, value: Value) -> Self {
                Self::new(graph, value)
            }

            fn value_in(&self, graph: &Graph, loc: Loc) -> Value {
                self.stage(graph, loc)
            }
        }

        impl Wire for Released<$ty> {
            const KIND: Kind = Kind::$kind;

            fn bind(graph: &Graph, value: Value) -> Self {
                Self($ty::new(graph, value))
            }

            fn value_in(&self, graph: &Graph, loc: Loc) -> Value {
                self.0.stage(graph, loc)
            }
        }
    };
}
released!(Tensor, Tensor, "features, though derived from examples,");
released!(Labels, Labels, "labels");

impl Tensor {
    /// Scales each row that is longer than `bound` down to that length, so that the influence of one row is
    /// bounded. `bound` must be positive.
    #[track_caller]
    pub fn clip_rows(&self, bound: impl Rate) -> Self {
        with_number(self, PrivacyOp::ClipRows, bound, Loc::caller())
    }

    /// Divides each row by its L1 norm. Two rows then differ by at most 2 in that norm, so that Laplace noise
    /// of scale `2/ε` gives each of them ε.
    #[track_caller]
    pub fn l1_rows(&self) -> Self {
        let (graph, loc) = (self.graph(), Loc::caller());
        Self::of_op(graph, PrivacyOp::L1Rows, &[self.stage(graph, loc)], loc)
    }

    /// `x + N(0, σ² I)`: as [`Params::noise`].
    #[track_caller]
    pub fn noise(&self, sigma: impl Rate) -> Self {
        with_number(self, PrivacyOp::Noise, sigma, Loc::caller())
    }

    /// `x +` Laplace noise of scale `b` in every entry, of variance `2 b²`; as [`Params::noise`].
    #[track_caller]
    pub fn laplace(&self, b: impl Rate) -> Self {
        with_number(self, PrivacyOp::Laplace, b, Loc::caller())
    }
}

/// An op on a tree and a number.
fn with_number<T: Tree>(tree: &T, op: PrivacyOp, number: impl Rate, loc: Loc) -> T {
    let (graph, value) = tree.parts(loc);
    let operands = [value, number.rate(loc).value_in(graph, loc)];
    T::of(graph, graph.op(op, &operands, loc))
}

macro_rules! clip_and_noise {
    ($ty:ty) => {
        impl $ty {
            /// `min(1, C / ‖x‖) · x`: scales the value down to the length `bound` if it is longer. `bound`
            /// must be positive. Unlike in [`sq_norm`](Self::sq_norm), running statistics count, because
            /// everything that gets noise must be bounded.
            #[track_caller]
            pub fn clip(&self, bound: impl Rate) -> Self {
                with_number(self, PrivacyOp::Clip, bound, Loc::caller())
            }

            /// `x + N(0, σ² I)`: Gaussian noise with standard deviation `sigma` in every entry.
            ///
            /// The value must be [clipped](Self::clip) first; otherwise linking the algorithm is an error.
            #[track_caller]
            pub fn noise(&self, sigma: impl Rate) -> Self {
                with_number(self, PrivacyOp::Noise, sigma, Loc::caller())
            }
        }
    };
}
clip_and_noise!(Params);
clip_and_noise!(Server<Params>);

impl Server<Params> {
    /// `x_t + N_t − N_{t−1}`, where `N_t` is the noise of a binary tree over the rounds of a pass of `cohort`
    /// (DP-FTRL): Gaussian noise with standard deviation `sigma` in each of those nodes that make up the pass's
    /// rounds until this one, of which there are at most `log₂ t + 1`. A server that adds up such values has the
    /// sum of all `x` with the noise `N_t` alone.
    ///
    /// `cohort` must be a cohort of [`reshuffled`](crate::ServerCx::reshuffled): each client is then in one leaf
    /// of a tree. The tree begins anew with each pass. The value must be a sum of what each client
    /// [clips](Params::clip). The noise of open nodes is kept as a state of the server.
    #[must_use]
    #[track_caller]
    pub fn tree_noise(&self, sigma: impl Rate, cohort: &Cohort) -> Self {
        let loc = Loc::caller();
        let (graph, value) = self.parts(loc);
        let sigma = sigma.rate(loc).value_in(graph, loc);
        let operands = [value, sigma, cohort.value];
        Self::of(graph, graph.op(PrivacyOp::TreeNoise, &operands, loc))
    }
}

macro_rules! clip_and_noise_of_numbers {
    ($ty:ty) => {
        impl $ty {
            /// The number, or `bound` or `-bound` if it is farther from 0. `bound` must be positive. A number
            /// that is 0 or 1 has the tightest bound around its middle: `(b - 0.5).clip(0.5)`.
            #[track_caller]
            pub fn clip(&self, bound: impl Rate) -> Self {
                number_with(self, PrivacyOp::Clip, bound, Loc::caller())
            }

            /// `x + N(0, σ²)`: Gaussian noise with standard deviation `sigma`.
            ///
            /// The number must be [clipped](Self::clip) first; otherwise linking the algorithm is an error.
            /// Noise on a literal or hyper-parameter is drawn anew wherever the result is used.
            #[track_caller]
            pub fn noise(&self, sigma: impl Rate) -> Self {
                number_with(self, PrivacyOp::Noise, sigma, Loc::caller())
            }
        }
    };
}
clip_and_noise_of_numbers!(Scalar);
clip_and_noise_of_numbers!(Server<Scalar>);

/// An op on two numbers.
fn number_with<T: Real>(x: &T, op: PrivacyOp, number: impl Rate, loc: Loc) -> T {
    x.of(
        Scalar::op(op, &[&x.to_scalar(), &number.rate(loc)], loc),
        loc,
    )
}

computed!(Released<Tensor>, Released<Labels>);
impl<T> sealed::Sealed for Released<T> {}
impl Upload for Released<Tensor> {}
impl Upload for Released<Labels> {}
