//! Which ops the engine carries out, and which tensors compute.

use fedround_ir::fed::OpKind;

/// Ops that touch clients, wires, batches or state, and loops.
pub(super) fn is_control(kind: &OpKind) -> bool {
    match kind {
        OpKind::Sample
        | OpKind::Everyone
        | OpKind::Within
        | OpKind::Outside
        | OpKind::Drawn
        | OpKind::Rotating
        | OpKind::Broadcast
        | OpKind::Map
        | OpKind::Reduce(_)
        | OpKind::Gather
        | OpKind::Scatter
        | OpKind::Concat
        | OpKind::Positions
        | OpKind::ClientLabels
        | OpKind::EveryClass
        | OpKind::LocalClasses
        | OpKind::RoundIndex
        | OpKind::NumClients
        | OpKind::NumExamples
        | OpKind::GlobalParams
        | OpKind::ServerState(..)
        | OpKind::SetServerState(_)
        | OpKind::ClientState(..)
        | OpKind::SetClientState(_)
        | OpKind::Personal(..)
        | OpKind::ForBatches
        | OpKind::OneBatch
        | OpKind::Collect
        | OpKind::ForRows(_)
        | OpKind::DrawRows
        | OpKind::LeastRows
        | OpKind::Repeat
        | OpKind::Claim(_)
        | OpKind::Call(_)
        | OpKind::Super(_) => true,
        OpKind::Hyper(_)
        | OpKind::Const(_)
        | OpKind::IndexConst(_)
        | OpKind::Real
        | OpKind::Add
        | OpKind::Sub
        | OpKind::Mul
        | OpKind::Div
        | OpKind::Pow
        | OpKind::Neg
        | OpKind::Math(_)
        | OpKind::Select
        | OpKind::Grad
        | OpKind::Column(..)
        | OpKind::Apply(_)
        | OpKind::Loss(_)
        | OpKind::Function(_)
        | OpKind::Blank
        | OpKind::TreeAdd
        | OpKind::TreeSub
        | OpKind::TreeScale
        | OpKind::TreeDot
        | OpKind::TreeSqNorm
        | OpKind::TreeReplaceParts(_)
        | OpKind::Release(_)
        | OpKind::Clip
        | OpKind::Noise
        | OpKind::ClipRows
        | OpKind::Laplace
        | OpKind::TreeMul
        | OpKind::TreeDiv
        | OpKind::TreeMath(_)
        | OpKind::TreeLayerSum
        | OpKind::TreeAddScalar
        | OpKind::TreeClamp
        | OpKind::TreeSelect => false,
    }
}

/// Ops that read what no tensor op changes: they are carried out before the segment that they
/// stand in, also from within the function of an `opt.grad`.
pub(super) fn is_read(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::RoundIndex
            | OpKind::NumClients
            | OpKind::NumExamples
            | OpKind::ClientState(..)
            | OpKind::ServerState(..)
            | OpKind::OneBatch
            | OpKind::EveryClass
            | OpKind::LocalClasses
    )
}
