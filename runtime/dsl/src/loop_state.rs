//! Variables that a staged loop carries from one iteration to the next.

use fedround_ir::Loc;
use fedround_ir::fed::Value;

use crate::graph::{Graph, next};
use crate::wire::Wire;
use crate::{Params, Scalar, Server, Tensor};

/// A variable that a staged loop may assign: parameters, features, a number, one of them placed on
/// the server, or a bundle of such values: a tuple, a `Vec`, an optimizer with its state.
#[diagnostic::on_unimplemented(
    message = "a variable of type `{Self}` cannot be assigned in a staged loop",
    label = "expected `Params`, `Scalar`, one of them on the server, an optimizer, or a tuple or `Vec` of these",
    note = "declare it inside the loop, or carry parameters and numbers only; a number starts as `Scalar::from(0.0)`, not as `0.0`"
)]
pub trait LoopState: Clone {
    /// Its graph, if it has one yet.
    #[doc(hidden)]
    fn graph(&self) -> Option<Graph>;
    /// Its values, staged now if they were not before.
    #[doc(hidden)]
    fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value>;
    /// The same with other values.
    #[doc(hidden)]
    fn rebind(&self, graph: &Graph, values: &mut dyn Iterator<Item = Value>) -> Self;
    /// Whether a loop may assign `next`: what it does not carry is as it was.
    #[doc(hidden)]
    fn fits(&self, _next: &Self) -> bool {
        true
    }
}

macro_rules! wired {
    ($($ty:ty: $graph:expr),*) => {$(
        impl LoopState for $ty {
            fn graph(&self) -> Option<Graph> {
                $graph(self)
            }
            fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
                vec![self.value_in(graph, loc)]
            }
            fn rebind(&self, graph: &Graph, values: &mut dyn Iterator<Item = Value>) -> Self {
                Self::bind(graph, next(values))
            }
        }
    )*};
}
wired!(
    Params: |w: &Self| Some(w.graph.clone()),
    Scalar: |x: &Self| Self::graph(x).cloned(),
    Tensor: |x: &Self| Some(Self::graph(x).clone())
);

impl<T: Wire> LoopState for Server<T> {
    fn graph(&self) -> Option<Graph> {
        Some(self.graph.clone())
    }
    fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
        graph.same(&self.graph, "a loop", loc);
        vec![self.value]
    }
    fn rebind(&self, graph: &Graph, values: &mut dyn Iterator<Item = Value>) -> Self {
        Self::new(graph, next(values))
    }
}

impl<T: LoopState> LoopState for Vec<T> {
    fn graph(&self) -> Option<Graph> {
        self.iter().find_map(LoopState::graph)
    }
    fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
        self.iter().flat_map(|x| x.values(graph, loc)).collect()
    }
    fn rebind(&self, graph: &Graph, values: &mut dyn Iterator<Item = Value>) -> Self {
        self.iter().map(|x| x.rebind(graph, values)).collect()
    }
    fn fits(&self, next: &Self) -> bool {
        self.iter().zip(next).all(|(x, next)| x.fits(next))
    }
}

impl LoopState for () {
    fn graph(&self) -> Option<Graph> {
        None
    }
    fn values(&self, _: &Graph, _: Loc) -> Vec<Value> {
        Vec::new()
    }
    fn rebind(&self, _: &Graph, _: &mut dyn Iterator<Item = Value>) -> Self {}
}

macro_rules! tuple {
    ($($ty:ident $index:tt),*) => {
        impl<$($ty: LoopState),*> LoopState for ($($ty,)*) {
            fn graph(&self) -> Option<Graph> {
                None$(.or_else(|| self.$index.graph()))*
            }
            fn values(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
                let mut values = Vec::new();
                $(values.extend(self.$index.values(graph, loc));)*
                values
            }
            fn rebind(&self, graph: &Graph, values: &mut dyn Iterator<Item = Value>) -> Self {
                ($(self.$index.rebind(graph, values),)*)
            }
            fn fits(&self, next: &Self) -> bool {
                true $(&& self.$index.fits(&next.$index))*
            }
        }
    };
}
tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
