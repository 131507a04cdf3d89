//! The types of numbers that operators accept.

use fedround_ir::Loc;

use crate::{Index, Scalar};

/// A number of any of these types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number",
    label = "expected a `Scalar`, a hyper-parameter, or a number such as `1.0` or `2`"
)]
pub trait Number {
    /// The number.
    fn number(self, loc: Loc) -> Scalar;
}
impl Number for Scalar {
    fn number(self, _: Loc) -> Scalar {
        self
    }
}
impl Number for &Scalar {
    fn number(self, _: Loc) -> Scalar {
        self.clone()
    }
}
/// `f64` is the only float: with `f32` as well, rustc could not infer the type of the literal in
/// `(0.5 * w).sq_norm()`.
impl Number for f64 {
    fn number(self, loc: Loc) -> Scalar {
        Scalar::constant(self, loc)
    }
}

pub(crate) fn number(n: impl Number, loc: Loc) -> Scalar {
    n.number(loc)
}

/// A number that is known while the graph is built, such as that of a loop's turn.
impl Number for usize {
    fn number(self, loc: Loc) -> Scalar {
        Index::from(self).number(loc)
    }
}

impl Number for Index {
    fn number(self, loc: Loc) -> Scalar {
        Scalar::count(self, loc)
    }
}
