//! `channel-sums`: the gradient of a convolution's bias is one sum over rows.
//!
//! It sums `[n, c, h, w]` to `[c]`: over the pixels of each plane, then over the images. GPUs keep what
//! convolutions and pools make with the channels last, so that the planes are no rows there: making rows of
//! them copies all elements, and each of the sums is a kernel. With the channels last in the graph, too,
//! `[n·h·w, c]` is a view, and its only sum may be one kernel with the update of the bias.

use fedround_ir::tensor::{Graph, GraphError, Node, Op, Val};

use super::dce::dce;
use super::rewrite::{Growing, Rewrite};

/// Replaces the two sums of a gradient that comes from a convolution or a pool by one.
///
/// # Errors
///
/// The graph is not well formed.
pub fn channel_sums(graph: &Graph) -> Result<Graph, GraphError> {
    let joined = Rewrite::run(graph, |rewrite, node| {
        let new = &mut rewrite.new;
        // What the sums were reshaped to is reshaped from the new sum: nothing is between the two.
        if let Some(sum) = reshaped_sum(new, &node) {
            return Ok(vec![new.push(node.op, &[sum], node.loc)?]);
        }
        let Some((of, lead)) = planes(new, &node) else {
            return rewrite.keep(node);
        };
        let shape = new.shape(of).to_vec();
        let (channels, pixels) = (lead + 1, [lead + 2, lead + 3]);
        let order = (0..=lead).chain(pixels).chain([channels]).collect();
        let last = new.push(Op::Permute(order), &[of], node.loc)?;
        let mut rows = shape[..lead].to_vec();
        rows.extend([
            shape[lead] * shape[pixels[0]] * shape[pixels[1]],
            shape[channels],
        ]);
        let rows = new.push(Op::Reshape(rows), &[last], node.loc)?;
        let sum = new.push(Op::SumDim(lead), &[rows], node.loc)?;
        let mut to = shape[..lead].to_vec();
        to.extend([1, shape[channels], 1]);
        Ok(vec![new.push(Op::Reshape(to), &[sum], node.loc)?])
    })?;
    Ok(dce(&joined))
}

/// What a sum over images of sums over the pixels of planes is of, and how many dimensions are before the
/// images: `Σ₀ Σ₂ reshape(x)`, or with the clients before.
fn planes(graph: &Growing, node: &Node) -> Option<(Val, usize)> {
    let Op::SumDim(lead) = node.op else {
        return None;
    };
    let rows = graph.source(node.ins[0], |op| *op == Op::SumDim(lead + 2))?;
    let of = graph.source(rows, |op| matches!(op, Op::Reshape(_)))?;
    let (from, to) = (graph.shape(of), graph.shape(rows));
    let planes = from.len() == lead + 4
        && to.len() == lead + 3
        && from[..lead + 2] == to[..lead + 2]
        && has_channels_last(graph, of);
    planes.then_some((of, lead))
}

/// Whether a device has the channels last: of what a convolution or a pool gives, for each client or all.
pub(super) fn has_channels_last(graph: &Growing, v: Val) -> bool {
    match graph.producer(v) {
        Some(node) => match node.op {
            Op::Conv2d(_)
            | Op::Conv2dInputGrad(..)
            | Op::MaxPool2d(_)
            | Op::MaxPool2dGrad(_)
            | Op::AvgPool2d(_)
            | Op::AvgPool2dGrad(_) => true,
            Op::Reshape(_) => {
                let (from, to) = (graph.shape(node.ins[0]), graph.shape(v));
                from.len() + 1 == to.len()
                    && from[1..] == to[2..]
                    && has_channels_last(graph, node.ins[0])
            }
            _ => false,
        },
        None => false,
    }
}

/// The sum that a reshape of its reshape is of.
fn reshaped_sum(graph: &Growing, node: &Node) -> Option<Val> {
    let reshaped = |node: &Node| matches!(node.op, Op::Reshape(_)).then(|| node.ins[0]);
    let sum = reshaped(graph.producer(reshaped(node)?)?)?;
    let is_sum = |node: &Node| matches!(node.op, Op::SumDim(_));
    graph.producer(sum).is_some_and(is_sum).then_some(sum)
}
