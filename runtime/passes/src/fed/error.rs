//! Errors of the fed passes.

use fedround_ir::Loc;

/// Why a slot cannot be bound.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LinkError {
    /// No layer defines the server's loop body.
    #[error("no layer defines `round`; the innermost algorithm must")]
    NoRound,
    /// A call of a slot that no layer defines.
    #[error(
        "{loc}: {layer} calls `{slot}`, which no layer defines; define it in {layer} or in its base"
    )]
    Undefined {
        /// The slot.
        slot: &'static str,
        /// The layer that calls it.
        layer: String,
        /// Where.
        loc: Loc,
    },
    /// A call of the base's slot that no inner layer defines.
    #[error(
        "{loc}: {layer} calls its base's `{slot}`, which no layer inside {layer} defines; define it in the base, or do not call it"
    )]
    NoBase {
        /// The slot.
        slot: &'static str,
        /// The layer that calls it.
        layer: String,
        /// Where.
        loc: Loc,
    },
    /// A slot that calls itself.
    #[error(
        "{loc}: `{slot}` calls itself: {path}; to reach the inner definition call it on the base"
    )]
    Recursion {
        /// The slot.
        slot: &'static str,
        /// The way around, as `fed_prox::penalty → …`.
        path: String,
        /// Where the circle closes.
        loc: Loc,
    },
    /// `k.received()` where nothing was sent.
    #[error(
        "{loc}: `k.received()` in code of clients to whom no parameters were broadcast; broadcast them to this cohort first"
    )]
    NothingReceived {
        /// Where.
        loc: Loc,
    },
    /// `server.drawn()` where no cohort was made.
    #[error(
        "{loc}: `server.drawn()` before any cohort of this round; draw one, as by `server.sample(self.fraction)`, or call the base's `round` first"
    )]
    NothingDrawn {
        /// Where.
        loc: Loc,
    },
}
