//! Errors of the pass `link-hooks`.

use fedround_ir::Loc;

/// Why a hook cannot be bound.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LinkError {
    /// No layer defines `round`.
    #[error("no layer defines `round`; the innermost algorithm must")]
    NoRound,
    /// A hook is called that no layer defines.
    #[error(
        "{loc}: {layer} calls `{hook}`, which no layer defines; define it in {layer} or in its base"
    )]
    Undefined {
        /// The hook.
        hook: &'static str,
        /// The layer that calls it.
        layer: String,
        /// Where.
        loc: Loc,
    },
    /// A layer calls its base's hook, but no inner layer defines it.
    #[error(
        "{loc}: {layer} calls its base's `{hook}`, which no layer inside {layer} defines; define it in the base, or do not call it"
    )]
    NoBase {
        /// The hook.
        hook: &'static str,
        /// The layer that calls it.
        layer: String,
        /// Where.
        loc: Loc,
    },
    /// A hook that calls itself.
    #[error(
        "{loc}: `{hook}` calls itself: {path}; to reach the inner definition call it on the base"
    )]
    Recursion {
        /// The hook.
        hook: &'static str,
        /// The cycle of calls, such as `fedprox::regularizer → …`.
        path: String,
        /// The call that closes the cycle.
        loc: Loc,
    },
    /// `k.global_params()` where nothing was sent.
    #[error(
        "{loc}: `k.global_params()` in code of clients to whom no parameters were broadcast; broadcast them to this cohort first"
    )]
    NothingReceived {
        /// Where.
        loc: Loc,
    },
    /// `k.global_params()` where several parameters were sent, none of which is the model of the round.
    #[error(
        "{loc}: `k.global_params()` in code of clients to whom several parameters were broadcast, at {}; none of them is the argument of `round`, or the only one that is computed from it. Use the argument of the closure of `map` that you mean",
        .sent.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    )]
    SeveralReceived {
        /// Where they were sent.
        sent: Vec<Loc>,
        /// Where it is called.
        loc: Loc,
    },
    /// `server.current_cohort()` where no cohort was made.
    #[error(
        "{loc}: `server.current_cohort()` before any cohort of this round; draw one, as by `server.sample(self.fraction)`, or call the base's `round` first"
    )]
    NothingDrawn {
        /// Where.
        loc: Loc,
    },
}
