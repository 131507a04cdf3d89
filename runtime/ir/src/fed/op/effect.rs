//! What ops do besides their results.

/// What happens besides an op's results; see [`OpKind::effect`](super::OpKind::effect).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The same operands give the same results: may be merged with its twin and dropped.
    Pure,
    /// Reads a state: may be dropped when unused, never merged.
    Reads,
    /// Draws at random: as [`Effect::Reads`], and anew each time, so that it stays in its loop.
    Draws,
    /// Has regions; may be dropped when unused and everything inside may.
    Regions,
    /// Changes a state, or may once it is linked: stays.
    Writes,
}
