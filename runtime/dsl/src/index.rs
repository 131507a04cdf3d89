//! Counts that are known before a round runs: constants and hyper-parameters.

use fedround_ir::Loc;
use fedround_ir::fed::{ArithOp, BuildError, HyperValue, Value};

use crate::graph::Graph;

/// A count that is known before a round runs: a constant or a hyper-parameter.
#[derive(Clone, Debug)]
pub struct Index {
    repr: Repr,
    loc: Loc,
}

#[derive(Clone, Debug)]
enum Repr {
    Const(i64),
    Hyper(&'static str, usize),
}

impl Index {
    pub(crate) fn hyper(name: &'static str, n: usize, loc: Loc) -> Self {
        Self {
            repr: Repr::Hyper(name, n),
            loc,
        }
    }

    pub(crate) fn constant(n: usize, loc: Loc) -> Self {
        let repr = Repr::Const(i64::try_from(n).unwrap_or(i64::MAX));
        Self { repr, loc }
    }

    /// The count itself, in this program. A hyper-parameter of another value makes another graph then.
    pub fn count(&self) -> usize {
        match self.repr {
            Repr::Const(n) => usize::try_from(n).unwrap_or(0),
            Repr::Hyper(_, n) => n,
        }
    }

    /// Whether it is the same constant or hyper-parameter.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (&self.repr, &other.repr) {
            (Repr::Const(a), Repr::Const(b)) => a == b,
            (Repr::Hyper(a, _), Repr::Hyper(b, _)) => a == b,
            _ => false,
        }
    }

    pub(crate) fn value_in(&self, graph: &Graph) -> Value {
        match self.repr {
            Repr::Const(n) => {
                let count = usize::try_from(n).unwrap_or_else(|_| {
                    graph.with(|builder| {
                        builder.error(BuildError::Negative {
                            found: n,
                            loc: self.loc,
                        })
                    });
                    0
                });
                graph.op(ArithOp::IndexConst(count), &[], self.loc)
            }
            Repr::Hyper(name, n) => graph.hyper(name, HyperValue::Int(n), self.loc),
        }
    }
}

/// A number that may be a count: a literal, a `usize`, or a hyper-parameter of type `usize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a count that is known before a round",
    label = "expected a literal such as `5`, a `usize` or a `usize` hyper-parameter",
    note = "the turns of a loop, the size of a batch and the length of a list are known when the graph is built",
    note = "for a computed number of turns, run the most turns and mask those that are too many: `w = (&n - &i).choose(&next, &w); i += 1.0;`"
)]
pub trait Count {
    /// The count.
    #[doc(hidden)]
    #[track_caller]
    fn into_index(self) -> Index;
}

impl Count for Index {
    fn into_index(self) -> Index {
        self
    }
}

impl Count for usize {
    fn into_index(self) -> Index {
        Index::from(self)
    }
}

impl Count for i32 {
    fn into_index(self) -> Index {
        Index::from(self)
    }
}

/// A count as a number, as in `self.lr * self.epochs`.
impl From<usize> for Index {
    #[track_caller]
    fn from(n: usize) -> Self {
        Self::constant(n, Loc::caller())
    }
}

/// A literal such as `5` where a count is expected; a negative one is reported by `stage` where it is
/// an operand of the graph, and is 0 elsewhere.
impl From<i32> for Index {
    #[track_caller]
    fn from(n: i32) -> Self {
        Self {
            repr: Repr::Const(i64::from(n)),
            loc: Loc::caller(),
        }
    }
}
