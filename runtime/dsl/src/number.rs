//! Numbers that operators take, however they are written.

use fedround_ir::Loc;

use crate::{Index, Scalar};

/// A number of any spelling, with the location of the operator that reads it.
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
/// Of the plain numbers `f64` alone: with `f32` as well rustc could not tell the type of the literal
/// in `(0.5 * w).sq_norm()`.
impl Number for f64 {
    fn number(self, loc: Loc) -> Scalar {
        Scalar::constant(self, loc)
    }
}

pub(crate) fn number(n: impl Number, loc: Loc) -> Scalar {
    n.number(loc)
}

impl Number for Index {
    fn number(self, loc: Loc) -> Scalar {
        Scalar::count(self, loc)
    }
}
