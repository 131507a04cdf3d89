//! What a pass may know of an op without reading its doc: place and effect.

use super::{Dp, OpKind, Place};

/// What happens besides an op's results; see [`OpKind::effect`].
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

impl Dp {
    /// Its name in text: `local` or `central`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Central => "central",
        }
    }
}

impl OpKind {
    /// The only place where it may run; nothing where it may run on both.
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::Sample
            | Self::Everyone
            | Self::Within
            | Self::Outside
            | Self::Drawn
            | Self::Rotating
            | Self::Broadcast
            | Self::Map
            | Self::Reduce(_)
            | Self::Gather
            | Self::Scatter
            | Self::Concat
            | Self::Positions
            | Self::ClientLabels
            | Self::ServerState(..)
            | Self::SetServerState(_)
            | Self::Claim(_) => Some(Place::Server),
            Self::NumExamples
            | Self::GlobalParams
            | Self::ClientState(..)
            | Self::SetClientState(_)
            | Self::Personal(..)
            | Self::Release(_)
            | Self::LocalClasses
            | Self::ForBatches
            | Self::OneBatch
            | Self::Collect
            | Self::Column(..) => Some(Place::Client),
            Self::Call(hook) | Self::Super(hook) => Some(hook.place()),
            Self::Hyper(_)
            | Self::Const(_)
            | Self::IndexConst(_)
            | Self::Real
            | Self::Add
            | Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Pow
            | Self::Neg
            | Self::Math(_)
            | Self::Select
            | Self::RoundIndex
            | Self::NumClients
            | Self::EveryClass
            | Self::Blank
            | Self::ForRows(_)
            | Self::DrawRows
            | Self::LeastRows
            | Self::Repeat
            | Self::Grad
            | Self::Apply(_)
            | Self::Loss(_)
            | Self::Function(_)
            | Self::TreeAdd
            | Self::TreeSub
            | Self::TreeScale
            | Self::TreeDot
            | Self::TreeSqNorm
            | Self::TreeReplaceParts(_)
            | Self::Clip
            | Self::ClipRows
            | Self::Noise
            | Self::Laplace
            | Self::TreeMul
            | Self::TreeDiv
            | Self::TreeMath(_)
            | Self::TreeLayerSum
            | Self::TreeAddScalar
            | Self::TreeClamp
            | Self::TreeSelect => None,
        }
    }

    /// What it does besides its results.
    pub fn effect(&self) -> Effect {
        match self {
            Self::SetServerState(_)
            | Self::SetClientState(_)
            | Self::Claim(_)
            | Self::Call(_)
            | Self::Super(_) => Effect::Writes,
            Self::ServerState(..) | Self::ClientState(..) | Self::Personal(..) => Effect::Reads,
            Self::Sample | Self::OneBatch | Self::DrawRows | Self::Noise | Self::Laplace => {
                Effect::Draws
            }
            Self::Map
            | Self::ForBatches
            | Self::Collect
            | Self::ForRows(_)
            | Self::Repeat
            | Self::Grad => Effect::Regions,
            Self::Hyper(_)
            | Self::Const(_)
            | Self::IndexConst(_)
            | Self::Real
            | Self::Add
            | Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Pow
            | Self::Neg
            | Self::Math(_)
            | Self::Select
            | Self::RoundIndex
            | Self::NumClients
            | Self::Everyone
            | Self::Within
            | Self::Outside
            | Self::Drawn
            | Self::Rotating
            | Self::Broadcast
            | Self::Reduce(_)
            | Self::Gather
            | Self::Scatter
            | Self::Concat
            | Self::Positions
            | Self::EveryClass
            | Self::LocalClasses
            | Self::Blank
            | Self::ClientLabels
            | Self::NumExamples
            | Self::GlobalParams
            | Self::LeastRows
            | Self::Column(..)
            | Self::Apply(_)
            | Self::Loss(_)
            | Self::Function(_)
            | Self::TreeAdd
            | Self::TreeSub
            | Self::TreeScale
            | Self::TreeDot
            | Self::TreeSqNorm
            | Self::TreeReplaceParts(_)
            | Self::Release(_)
            | Self::Clip
            | Self::ClipRows
            | Self::TreeMul
            | Self::TreeDiv
            | Self::TreeMath(_)
            | Self::TreeLayerSum
            | Self::TreeAddScalar
            | Self::TreeClamp
            | Self::TreeSelect => Effect::Pure,
        }
    }

    /// Whether it is about a whole cohort, and so stands outside of code for one client.
    pub fn is_collective(&self) -> bool {
        matches!(
            self,
            Self::Sample
                | Self::Everyone
                | Self::Within
                | Self::Outside
                | Self::Drawn
                | Self::Rotating
                | Self::Broadcast
                | Self::Map
                | Self::Reduce(_)
                | Self::Gather
                | Self::Scatter
                | Self::Concat
                | Self::Positions
                | Self::Claim(_)
        )
    }

    /// Whether its result is known before a round runs, on the server and on every client alike:
    /// the only values that code on a client may take from the server without a broadcast.
    pub fn is_constant(&self) -> bool {
        matches!(
            self,
            Self::Hyper(_) | Self::Const(_) | Self::IndexConst(_) | Self::Real
        )
    }
}
