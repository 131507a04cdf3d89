//! The arguments of functions of models and of losses.

use fedround_ir::Loc;
use fedround_ir::fed::Value;

use crate::graph::Graph;
use crate::wire::Wire;
use crate::{Labels, Released, Scalar, Tensor};

/// One to four tensors, labels or numbers: `&x`, or a tuple such as `(&x, &y)`. The first must not be a
/// number. [`Released`] tensors and labels are taken as they are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what functions of models and losses take",
    label = "expected `&Tensor`, `&Labels`, a released one, or a tuple that begins with one of them",
    note = "write plain numbers as `&Scalar::from(0.5)`, and read values of the server by `s.get(&z)` in `server.run`"
)]
pub trait Inputs {
    #[doc(hidden)]
    fn graph(&self) -> &Graph;
    #[doc(hidden)]
    fn stage(&self, graph: &Graph, loc: Loc) -> Vec<Value>;
}

/// One of several [`Inputs`]: `&Tensor`, `&Labels`, a [`Released`] one, or `&Scalar`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what functions of models and losses take",
    label = "expected `&Tensor`, `&Labels`, a released one, or `&Scalar`",
    note = "write plain numbers as `&Scalar::from(0.5)`, and read values of the server by `s.get(&z)` in `server.run`"
)]
pub trait Input {
    #[doc(hidden)]
    fn stage_one(&self, graph: &Graph, loc: Loc) -> Value;
}

macro_rules! rows {
    ($($ty:ty => $rows:ident),*) => {$(
        impl Inputs for &$ty {
            fn graph(&self) -> &Graph {
                $rows::graph(self)
            }
            fn stage(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
                vec![self.stage_one(graph, loc)]
            }
        }
        impl Input for &$ty {
            fn stage_one(&self, graph: &Graph, loc: Loc) -> Value {
                $rows::stage(self, graph, loc)
            }
        }
    )*};
}
rows!(
    Tensor => Tensor,
    Labels => Labels,
    Released<Tensor> => Tensor,
    Released<Labels> => Labels
);

impl Input for &Scalar {
    fn stage_one(&self, graph: &Graph, loc: Loc) -> Value {
        self.value_in(graph, loc)
    }
}

macro_rules! tuple {
    ($($ty:ident $index:tt),*) => {
        impl<First: Inputs, $($ty: Input),*> Inputs for (First, $($ty),*) {
            fn graph(&self) -> &Graph {
                self.0.graph()
            }
            fn stage(&self, graph: &Graph, loc: Loc) -> Vec<Value> {
                let mut values = self.0.stage(graph, loc);
                values.extend([$(self.$index.stage_one(graph, loc)),*]);
                values
            }
        }
    };
}
tuple!(A 1);
tuple!(A 1, B 2);
tuple!(A 1, B 2, C 3);
