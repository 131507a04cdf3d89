//! Divides operations into those that the executor carries out itself and those that become part of a
//! tensor graph.

use fedround_ir::fed::{FedOp, OpKind, OptOp, PrivacyOp};

/// Who executes an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The executor, before the compute segment that contains the op. The op reads something that no
    /// tensor op changes, so that it may even be taken out of the function of an `opt.grad`.
    Read,
    /// The executor, at the position of the op. It concerns clients, communication, batches or state, or
    /// is a loop.
    Control,
    /// A tensor graph.
    Compute,
}

/// Who executes an op of this kind.
pub(super) fn role(kind: &OpKind) -> Role {
    match kind {
        OpKind::Fed(
            FedOp::RoundIndex
            | FedOp::NumClients
            | FedOp::NumExamples
            | FedOp::ClientNumber
            | FedOp::ClientState(..)
            | FedOp::ServerState(..)
            | FedOp::Seconds
            | FedOp::Uniform(_)
            | FedOp::Normal(_)
            | FedOp::Permutation(_)
            | FedOp::InitialParams(_)
            | FedOp::EveryClass
            | FedOp::Public(..)
            | FedOp::LocalClasses
            | FedOp::LabelCounts,
        )
        | OpKind::Opt(OptOp::OneBatch) => Role::Read,
        OpKind::Fed(
            FedOp::Sample
            | FedOp::AllClients
            | FedOp::Within
            | FedOp::Outside
            | FedOp::CurrentCohort
            | FedOp::Rotating
            | FedOp::Reshuffled
            | FedOp::Choose(_)
            | FedOp::Members
            | FedOp::CohortSize
            | FedOp::Restrict
            | FedOp::NthLargest
            | FedOp::Arrivals
            | FedOp::Dispatch
            | FedOp::Staleness
            | FedOp::Broadcast
            | FedOp::Map
            | FedOp::InTurn
            | FedOp::Matrix(..)
            | FedOp::Mix(_)
            | FedOp::Consensus
            | FedOp::Reduce(_)
            | FedOp::Gather
            | FedOp::Scatter
            | FedOp::Concat
            | FedOp::Positions
            | FedOp::Pairwise(_)
            | FedOp::Split(_)
            | FedOp::ClientLabels
            | FedOp::StartParams
            | FedOp::GlobalParams
            | FedOp::ServerStateOr(_)
            | FedOp::SetServerState(_)
            | FedOp::SetClientState(_)
            | FedOp::Personal(..)
            | FedOp::Encode(_)
            | FedOp::Call(_)
            | FedOp::Super(_),
        )
        | OpKind::Opt(
            OptOp::ForBatches
            | OptOp::Collect
            | OptOp::ForRows(_)
            | OptOp::SampleRows
            | OptOp::SmallestRows
            | OptOp::Repeat,
        )
        | OpKind::Privacy(PrivacyOp::TreeNoise | PrivacyOp::Claim(_)) => Role::Control,
        OpKind::Fed(FedOp::Hyper(_) | FedOp::ZeroInputs)
        | OpKind::Arith(_)
        | OpKind::Opt(OptOp::Grad)
        | OpKind::External(_)
        | OpKind::Tree(_)
        | OpKind::Privacy(
            PrivacyOp::Release(_)
            | PrivacyOp::Clip
            | PrivacyOp::Noise
            | PrivacyOp::ClipRows
            | PrivacyOp::Laplace
            | PrivacyOp::L1Rows,
        ) => Role::Compute,
    }
}
