//! What a function of a model or a loss is given.

use fedround_ir::Loc;
use fedround_ir::fed::Value;

use crate::graph::Graph;
use crate::wire::Wire;
use crate::{Features, Labels, Scalar};

/// One to four features, labels or numbers: `&x`, or a tuple such as `(&x, &y)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what functions of models and losses take",
    label = "expected `&Features`, `&Labels`, `&Scalar` or a tuple of up to four of them"
)]
pub trait Inputs {
    #[doc(hidden)]
    fn graph(&self) -> Option<&Graph>;
    #[doc(hidden)]
    fn stage(&self, graph: &Graph, loc: Loc) -> Vec<Value>;
}

macro_rules! one {
    ($($ty:ty),*) => {$(
        impl Inputs for &$ty {
            fn graph(&self) -> Option<&Graph> {
                Some(<$ty>::graph(self))
            }
            fn stage(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
                vec![<$ty>::stage(self, graph, loc)]
            }
        }
    )*};
}
one!(Features, Labels);

impl Inputs for &Scalar {
    fn graph(&self) -> Option<&Graph> {
        Scalar::graph(self)
    }
    fn stage(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
        vec![self.value_in(graph, loc)]
    }
}

macro_rules! tuple {
    ($($ty:ident $index:tt),*) => {
        impl<$($ty: Inputs),*> Inputs for ($($ty,)*) {
            fn graph(&self) -> Option<&Graph> {
                None$(.or_else(|| self.$index.graph()))*
            }
            fn stage(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
                [$(self.$index.stage(graph, loc)),*].concat()
            }
        }
    };
}
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
