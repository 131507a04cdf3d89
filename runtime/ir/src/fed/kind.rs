//! What a pass may know of an op without reading its doc: name, place and effect.

use super::{Dp, Math, OpKind, Place, Reduce};

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
    /// Its name in text, such as `tree.sq_norm`.
    pub fn name(&self) -> String {
        match self {
            Self::Loss(name) => return format!("loss.{name}"),
            Self::Hyper(_) => "fed.hyper",
            Self::Const(_) => "arith.const",
            Self::IndexConst(_) => "arith.index_const",
            Self::Add => "arith.add",
            Self::Sub => "arith.sub",
            Self::Mul => "arith.mul",
            Self::Div => "arith.div",
            Self::Pow => "arith.pow",
            Self::Neg => "arith.neg",
            Self::Math(Math::Sqrt) => "arith.sqrt",
            Self::Math(Math::Exp) => "arith.exp",
            Self::Math(Math::Log) => "arith.log",
            Self::Math(Math::Cos) => "arith.cos",
            Self::Math(Math::Floor) => "arith.floor",
            Self::Select => "arith.select",
            Self::RoundIndex => "fed.round_index",
            Self::Sample => "fed.sample",
            Self::Everyone => "fed.everyone",
            Self::Broadcast => "fed.broadcast",
            Self::Map => "fed.map",
            Self::Reduce(Reduce::Sum) => "fed.sum",
            Self::Reduce(Reduce::Mean) => "fed.mean",
            Self::Reduce(Reduce::WeightedMean) => "fed.weighted_mean",
            Self::NumExamples => "fed.num_examples",
            Self::Received => "fed.received",
            Self::ServerState(..) => "fed.server_state",
            Self::SetServerState(_) => "fed.set_server_state",
            Self::ClientState(..) => "fed.client_state",
            Self::SetClientState(_) => "fed.set_client_state",
            Self::ForBatches => "opt.for_batches",
            Self::OneBatch => "opt.batch",
            Self::Repeat => "opt.repeat",
            Self::Grad => "opt.grad",
            Self::BatchX => "batch.x",
            Self::BatchY => "batch.y",
            Self::Predict => "nn.predict",
            Self::TreeAdd => "tree.add",
            Self::TreeSub => "tree.sub",
            Self::TreeScale => "tree.scale",
            Self::TreeDot => "tree.dot",
            Self::TreeSqNorm => "tree.sq_norm",
            Self::TreeMul => "tree.mul",
            Self::TreeDiv => "tree.div",
            Self::TreeSqrt => "tree.sqrt",
            Self::TreeAddScalar => "tree.add_scalar",
            Self::TreeClamp => "tree.clamp",
            Self::TreeSelect => "tree.select",
            Self::TreeWithParts(_) => "tree.with_parts",
            Self::Personal(..) => "fed.personal",
            Self::Release(_) => "priv.release",
            Self::Clip => "priv.clip",
            Self::Noise => "priv.noise",
            Self::Claim(_) => "priv.claim",
            Self::Call(_) => "fed.call",
            Self::Super(_) => "fed.super",
        }
        .to_owned()
    }

    /// The only place where it may run; nothing where it may run on both.
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::Sample
            | Self::Everyone
            | Self::Broadcast
            | Self::Map
            | Self::Reduce(_)
            | Self::ServerState(..)
            | Self::SetServerState(_)
            | Self::Claim(_) => Some(Place::Server),
            Self::NumExamples
            | Self::Received
            | Self::ClientState(..)
            | Self::SetClientState(_)
            | Self::Personal(..)
            | Self::Release(_)
            | Self::ForBatches
            | Self::OneBatch
            | Self::Grad
            | Self::BatchX
            | Self::BatchY
            | Self::Predict
            | Self::Loss(_) => Some(Place::Client),
            Self::Call(slot) | Self::Super(slot) => Some(slot.place()),
            Self::Hyper(_)
            | Self::Const(_)
            | Self::IndexConst(_)
            | Self::Add
            | Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Pow
            | Self::Neg
            | Self::Math(_)
            | Self::Select
            | Self::RoundIndex
            | Self::Repeat
            | Self::TreeAdd
            | Self::TreeSub
            | Self::TreeScale
            | Self::TreeDot
            | Self::TreeSqNorm
            | Self::TreeWithParts(_)
            | Self::Clip
            | Self::Noise
            | Self::TreeMul
            | Self::TreeDiv
            | Self::TreeSqrt
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
            Self::Sample | Self::OneBatch | Self::Noise => Effect::Draws,
            Self::Map | Self::ForBatches | Self::Repeat | Self::Grad => Effect::Regions,
            Self::Hyper(_)
            | Self::Const(_)
            | Self::IndexConst(_)
            | Self::Add
            | Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Pow
            | Self::Neg
            | Self::Math(_)
            | Self::Select
            | Self::RoundIndex
            | Self::Everyone
            | Self::Broadcast
            | Self::Reduce(_)
            | Self::NumExamples
            | Self::Received
            | Self::BatchX
            | Self::BatchY
            | Self::Predict
            | Self::Loss(_)
            | Self::TreeAdd
            | Self::TreeSub
            | Self::TreeScale
            | Self::TreeDot
            | Self::TreeSqNorm
            | Self::TreeWithParts(_)
            | Self::Release(_)
            | Self::Clip
            | Self::TreeMul
            | Self::TreeDiv
            | Self::TreeSqrt
            | Self::TreeAddScalar
            | Self::TreeClamp
            | Self::TreeSelect => Effect::Pure,
        }
    }

    /// Whether its result is known before a round runs, on the server and on every client alike:
    /// the only values that code on a client may take from the server without a broadcast.
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Hyper(_) | Self::Const(_) | Self::IndexConst(_))
    }
}
