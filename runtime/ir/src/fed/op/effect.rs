//! Effects of operations besides their results. Passes use them to decide what may be moved or removed.

/// What an op does besides computing results; see [`OpKind::effect`](super::OpKind::effect).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing. Equal ops with equal operands may be merged, and unused ones dropped.
    Pure,
    /// It reads a state. It may be dropped if it is unused, but not merged.
    Reads,
    /// It draws at random. As [`Effect::Reads`]; it also stays in its loop, because each step draws anew.
    Draws,
    /// It has regions. It may be dropped if it is unused and everything inside may be dropped.
    Regions,
    /// It changes a state, or may do so once it is linked. It is never dropped.
    Writes,
}
