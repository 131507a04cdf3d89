//! Clip and noise as tensor ops.

use fedround_ir::Loc;
use fedround_ir::tensor::{Distribution, Op, TypeError, Val};

use super::lower::{Lower, Tree};

impl Lower<'_> {
    /// `min(1, C / ‖x‖)`, as `C / max(‖x‖, C)`, which is defined where `x` is zero.
    pub(super) fn clip_factor(&mut self, x: &Tree, bound: Val, loc: Loc) -> Result<Val, TypeError> {
        let square = self.dot(x, x, loc)?;
        let norm = self.graph.push(Op::Sqrt, &[square], loc)?;
        let above = self.graph.push(Op::Sub, &[norm, bound], loc)?;
        let above = self.graph.push(Op::Relu, &[above], loc)?;
        let longest = self.graph.push(Op::Add, &[above, bound], loc)?;
        self.graph.push(Op::Div, &[bound, longest], loc)
    }

    /// `x + σ · n` with `n` standard normal, a draw of its own for each leaf.
    pub(super) fn noised(&mut self, leaf: Val, sigma: Val, loc: Loc) -> Result<Val, TypeError> {
        let shape = self.graph.shape(leaf).to_vec();
        let stream = self.graph.random_streams();
        let draw = Op::Random(Distribution::Normal(0.0, 1.0), stream, shape);
        let draw = self.graph.push(draw, &[], loc)?;
        let noise = self.scale(sigma, draw, loc)?;
        self.graph.push(Op::Add, &[leaf, noise], loc)
    }
}
