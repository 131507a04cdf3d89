//! Gradient clipping; see [`Tree::clip_norm`](crate::Tree::clip_norm).

use fedround_ir::Loc;

use crate::real::Real;
use crate::{Params, Scalar};

/// `g · min(1, C / (‖g‖ + 10⁻⁶))`, as `torch.nn.utils.clip_grad_norm_`.
pub(crate) fn by_norm(g: &Params, max: &Scalar, loc: Loc) -> Params {
    g.graph.located(loc, || {
        let norm = g.sq_norm().sqrt();
        (max / (norm + 1e-6)).min(1.0) * g
    })
}
