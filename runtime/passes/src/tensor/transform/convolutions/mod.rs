//! `unfold-convolutions`, `split-convolutions`: other forms of grouped convolutions. Convolutions of
//! several clients, each with its own weights, are grouped ones.
//!
//! The device and the shapes decide which form is fastest, so the caller chooses. All forms compute the
//! same sums, in different orders.

mod split;
mod unfold;

use fedround_ir::Loc;
use fedround_ir::tensor::{Conv2d, Graph, GraphError, Node, Op, TypeError, Val};

use super::rewrite::{Growing, Rewrite};

/// A form of a convolution or of a gradient of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConvAlgorithm {
    /// One op.
    Grouped,
    /// Windows laid out as columns (`im2col`), and a matrix product for each group.
    Unfold,
    /// One op for each group.
    Split,
}

impl ConvAlgorithm {
    /// All, in the order of declaration.
    pub const ALL: [Self; 3] = [Self::Grouped, Self::Unfold, Self::Split];

    /// Its name in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grouped => "grouped",
            Self::Unfold => "unfold",
            Self::Split => "split",
        }
    }
}

/// Puts each convolution, and each gradient of one, into the form that `choose` gives for its op and
/// the shapes of its two factors.
///
/// # Errors
///
/// The graph is not well formed.
pub fn convolutions(
    graph: &Graph,
    mut choose: impl FnMut(&Op, [&[usize]; 2]) -> ConvAlgorithm,
) -> Result<Graph, GraphError> {
    Rewrite::run(graph, |rewrite, node| {
        let (Some(_), &[a, b, ..]) = (options(&node.op), &node.ins[..]) else {
            return rewrite.keep(node);
        };
        let shapes = [rewrite.new.shape(a), rewrite.new.shape(b)];
        let lowering = choose(&node.op, shapes);
        let mut build = Build {
            new: &mut rewrite.new,
            at: node.loc,
        };
        let lowered = match lowering {
            ConvAlgorithm::Grouped => None,
            ConvAlgorithm::Unfold => unfold::lower(&mut build, &node)?,
            ConvAlgorithm::Split => split::lower(&mut build, &node)?,
        };
        match lowered {
            Some(y) => Ok(vec![y]),
            None => rewrite.keep(node),
        }
    })
}

/// The options of a convolution or of a gradient of one.
pub fn options(op: &Op) -> Option<&Conv2d> {
    match op {
        Op::Conv2d(o) | Op::Conv2dInputGrad(o, _) | Op::Conv2dWeightGrad(o, _) => Some(o),
        _ => None,
    }
}

/// Appends nodes.
struct Build<'a> {
    new: &'a mut Growing,
    at: Loc,
}

impl Build<'_> {
    fn push(&mut self, op: Op, ins: &[Val]) -> Result<Val, TypeError> {
        self.new.push(op, ins, self.at)
    }

    fn reshape(&mut self, v: Val, to: impl Into<Vec<usize>>) -> Result<Val, TypeError> {
        self.push(Op::Reshape(to.into()), &[v])
    }

    fn permute(&mut self, v: Val, axes: impl Into<Vec<usize>>) -> Result<Val, TypeError> {
        self.push(Op::Permute(axes.into()), &[v])
    }

    fn slice(&mut self, v: Val, dim: usize, from: usize, to: usize) -> Result<Val, TypeError> {
        let shape = self.new.shape(v).iter();
        let mut ranges: Vec<(usize, usize)> = shape.map(|&n| (0, n)).collect();
        ranges[dim] = (from, to);
        self.push(Op::Slice(ranges), &[v])
    }
}

/// Shapes of a convolution: `x: [n, c, h, w]`, `w: [o, c / groups, kh, kw]`, `y: [n, o, oh, ow]`.
struct Sizes {
    options: Conv2d,
    x: [usize; 4],
    w: [usize; 4],
    y: [usize; 4],
}

impl Sizes {
    /// The sizes of a convolution by its node, whose result and factors are those that the dialect says.
    fn of(new: &Growing, node: &Node) -> Option<Self> {
        let operand = |i: usize| -> Option<[usize; 4]> { four(new.shape(*node.ins.get(i)?)) };
        let (options, x, w) = match &node.op {
            Op::Conv2d(o) => (*o, operand(0)?, operand(1)?),
            Op::Conv2dInputGrad(o, x) => (*o, four(x)?, operand(0)?),
            Op::Conv2dWeightGrad(o, w) => (*o, operand(0)?, four(w)?),
            _ => return None,
        };
        let windows = |i: usize| {
            let extent = options.dilation[i] * (w[i + 2] - 1) + 1;
            (x[i + 2] + 2 * options.padding[i] - extent) / options.stride[i] + 1
        };
        let y = [x[0], w[0], windows(0), windows(1)];
        Some(Self { options, x, w, y })
    }
}

fn four(shape: &[usize]) -> Option<[usize; 4]> {
    shape.try_into().ok()
}

#[cfg(test)]
mod tests;
