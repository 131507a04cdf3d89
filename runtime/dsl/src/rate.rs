//! Numbers from the client, the server or the spec, as arguments.

use fedround_ir::Loc;

use crate::number::Number;
use crate::wire::Wire;
use crate::{Scalar, Server};

/// A number that may come from any side: an `f64`, a [`Scalar`] or a `Server<Scalar>`, owned or borrowed. If
/// client code uses a number of the server, staging the algorithm is an error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number",
    label = "expected a `Scalar`, a `Server<Scalar>`, a hyper-parameter or a float such as `1.0`",
    note = "between two parameters or tensors, a number `c` chooses by `c.choose(&a, &b)`"
)]
pub trait Rate {
    /// The number.
    #[doc(hidden)]
    fn rate(self, loc: Loc) -> Scalar;
}

impl<N: Number> Rate for N {
    fn rate(self, loc: Loc) -> Scalar {
        self.number(loc)
    }
}

impl Rate for Server<Scalar> {
    fn rate(self, _: Loc) -> Scalar {
        Scalar::bind(&self.graph, self.value)
    }
}

impl Rate for &Server<Scalar> {
    fn rate(self, _: Loc) -> Scalar {
        Scalar::bind(&self.graph, self.value)
    }
}
