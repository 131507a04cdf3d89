//! Which ops the engine carries out, and which tensors compute.

use fedround_ir::fed::{FedOp, OpKind, OptOp, PrivacyOp};

/// Ops that touch clients, wires, batches or state, and loops.
pub(super) fn is_control(kind: &OpKind) -> bool {
    match kind {
        OpKind::Fed(
            FedOp::Sample
            | FedOp::Everyone
            | FedOp::Within
            | FedOp::Outside
            | FedOp::Drawn
            | FedOp::Rotating
            | FedOp::Broadcast
            | FedOp::Map
            | FedOp::Reduce(_)
            | FedOp::Gather
            | FedOp::Scatter
            | FedOp::Concat
            | FedOp::Positions
            | FedOp::ClientLabels
            | FedOp::EveryClass
            | FedOp::LocalClasses
            | FedOp::RoundIndex
            | FedOp::NumClients
            | FedOp::NumExamples
            | FedOp::GlobalParams
            | FedOp::ServerState(..)
            | FedOp::SetServerState(_)
            | FedOp::ClientState(..)
            | FedOp::SetClientState(_)
            | FedOp::Personal(..)
            | FedOp::Call(_)
            | FedOp::Super(_),
        )
        | OpKind::Opt(
            OptOp::ForBatches
            | OptOp::OneBatch
            | OptOp::Collect
            | OptOp::ForRows(_)
            | OptOp::DrawRows
            | OptOp::LeastRows
            | OptOp::Repeat,
        )
        | OpKind::Privacy(PrivacyOp::Claim(_)) => true,
        OpKind::Fed(FedOp::Hyper(_) | FedOp::Blank)
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
        ) => false,
    }
}

/// Ops that read what no tensor op changes: they are carried out before the segment that they
/// stand in, also from within the function of an `opt.grad`.
pub(super) fn is_read(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Fed(
            FedOp::RoundIndex
                | FedOp::NumClients
                | FedOp::NumExamples
                | FedOp::ClientState(..)
                | FedOp::ServerState(..)
                | FedOp::EveryClass
                | FedOp::LocalClasses
        ) | OpKind::Opt(OptOp::OneBatch)
    )
}
