//! What may leave a client, and what hides single clients: release, clip, noise and claims.

use std::ops::Deref;

use fedround_ir::Loc;
use fedround_ir::fed::{Kind, PrivacyOp, Value};

use crate::graph::Graph;
use crate::tree::Tree;
use crate::wire::{Upload, Wire, computed, sealed};
use crate::{Labels, Params, Scalar, Server, Tensor};

/// A tensor or labels that may leave their client, as the spec says; see [`Tensor::release`]. On
/// the wire, and on the server, they stay released. What client code computes from them is not.
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

fn clip<T: Tree>(tree: &T, bound: &Scalar, loc: Loc) -> T {
    let (graph, value) = tree.parts(loc);
    let operands = [value, bound.value_in(graph, loc)];
    T::of(graph, graph.op(PrivacyOp::Clip, &operands, loc))
}

impl Tensor {
    /// Each row scaled down, where it is longer, to the length `bound`, which must be positive: what
    /// one row can change is then bounded.
    #[track_caller]
    pub fn clip_rows(&self, bound: impl Into<Scalar>) -> Self {
        let (graph, loc) = (self.graph(), Loc::caller());
        let operands = [self.stage(graph, loc), bound.into().value_in(graph, loc)];
        Self::bind(graph, graph.op(PrivacyOp::ClipRows, &operands, loc))
    }

    /// Each row divided by the sum of its absolute values, which is at most 1 then: two rows differ
    /// by at most 2 in the L1 norm, so that Laplace noise of scale `2/ε` gives each of them ε.
    #[track_caller]
    pub fn l1_rows(&self) -> Self {
        let (graph, loc) = (self.graph(), Loc::caller());
        let row = self.stage(graph, loc);
        Self::bind(graph, graph.op(PrivacyOp::L1Rows, &[row], loc))
    }

    /// `x + N(0, σ² I)`: as [`Params::noise`].
    #[track_caller]
    pub fn noise(&self, sigma: impl Into<Scalar>) -> Self {
        noise(self, &sigma.into(), Loc::caller())
    }

    /// `x +` Laplace noise of scale `b` in every entry, of variance `2 b²`; as [`Params::noise`].
    #[track_caller]
    pub fn laplace(&self, b: impl Into<Scalar>) -> Self {
        let (graph, loc) = (self.graph(), Loc::caller());
        let operands = [self.stage(graph, loc), b.into().value_in(graph, loc)];
        Self::bind(graph, graph.op(PrivacyOp::Laplace, &operands, loc))
    }
}

fn noise<T: Tree>(tree: &T, sigma: &Scalar, loc: Loc) -> T {
    let (graph, value) = tree.parts(loc);
    let operands = [value, sigma.value_in(graph, loc)];
    T::of(graph, graph.op(PrivacyOp::Noise, &operands, loc))
}

macro_rules! clip_and_noise {
    ($ty:ty) => {
        impl $ty {
            /// `min(1, C / ‖x‖) · x`: scaled down, where it is longer, to the length `bound`, which
            /// must be positive. Running statistics count, unlike in [`sq_norm`](Self::sq_norm): what
            /// is noised must be bounded.
            #[track_caller]
            pub fn clip(&self, bound: impl Into<Scalar>) -> Self {
                clip(self, &bound.into(), Loc::caller())
            }

            /// `x + N(0, σ² I)`: Gaussian noise with standard deviation `sigma` in every entry.
            ///
            /// Noise on what is not [clipped](Self::clip) is an error when the algorithm is linked.
            #[track_caller]
            pub fn noise(&self, sigma: impl Into<Scalar>) -> Self {
                noise(self, &sigma.into(), Loc::caller())
            }
        }
    };
}
clip_and_noise!(Params);
clip_and_noise!(Server<Params>);

computed!(Released<Tensor>, Released<Labels>);
impl<T> sealed::Sealed for Released<T> {}
impl Upload for Released<Tensor> {}
impl Upload for Released<Labels> {}
