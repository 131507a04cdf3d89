//! What goes wrong when a module is built.

use crate::Loc;

/// A wrong sequence of builder calls, or a value that cannot be staged.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BuildError {
    /// An op outside every function.
    #[error("{loc}: {op} is staged outside every hook; stage ops in a hook's body")]
    NoRegion {
        /// The op.
        op: String,
        /// Where.
        loc: Loc,
    },
    /// A region was closed that was never opened, or a function while a region was open.
    #[error("{loc}: a region ends that never began")]
    Unbalanced {
        /// Where.
        loc: Loc,
    },
    /// A negative count.
    #[error("{loc}: a count must be at least 0, found {found}")]
    Negative {
        /// The count.
        found: i64,
        /// Where.
        loc: Loc,
    },
    /// A loop that gives an optimizer other settings than it had before.
    #[error(
        "{loc}: the loop assigns an optimizer of other settings than the variable had before it, and settings are not carried from turn to turn; for another step size use `step_at`, and for another optimizer another variable; if both have the same computed number, give it a name before the loop"
    )]
    OtherOptimizer {
        /// Where.
        loc: Loc,
    },
    /// A column that code on the server does not have.
    #[error(
        "{loc}: the model's loss is of `{column}`, which the server does not have; use `k.apply` and a loss of what clients release"
    )]
    NoColumn {
        /// The column.
        column: String,
        /// Where.
        loc: Loc,
    },
    /// A phase that no hook `round` declares, where one of nearly the same name is declared.
    #[error("{loc}: no phase is called `{name}` (did you mean `{nearest}`?)")]
    UnknownPhase {
        /// The name.
        name: String,
        /// The declared one.
        nearest: String,
        /// Where.
        loc: Loc,
    },
    /// A phase that is declared again, with another number of rounds.
    #[error(
        "{loc}: phase `{name}` has {found} rounds here and {expected} where it was declared first; give another phase another name"
    )]
    PhaseLength {
        /// The name.
        name: String,
        /// Its rounds at first.
        expected: usize,
        /// Its rounds here.
        found: usize,
        /// Where.
        loc: Loc,
    },
    /// Two things whose names in the module are the same.
    #[error("{loc}: {first} and {second} would both be `{name}`; give one of them another name")]
    SameName {
        /// The name in the module.
        name: String,
        /// The one that was named first.
        first: String,
        /// The one that is named here.
        second: String,
        /// Where.
        loc: Loc,
    },
    /// A value of another algorithm's graph.
    #[error(
        "{loc}: {op} mixes values of two algorithms; stage it from one algorithm's arguments only"
    )]
    Foreign {
        /// The op.
        op: &'static str,
        /// Where.
        loc: Loc,
    },
}
