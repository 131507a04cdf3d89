//! `rematerialize`: activations that are cheap to compute again are not kept for the backward pass.
//!
//! The gradient of a batch norm needs the centred input, and that of the convolution after it the rectified
//! output, which is two operations away from the centred input. Where memory is at its peak, both are alive
//! for every layer. Here the output is dropped after its last use before the peak, and the pass that made it
//! runs once more before its first use after it:
//!
//! ```text
//! %y = tensor.fused[mul($0, $1); add($3, $2); relu($4); give $5] %d, %s, %b
//! %z = tensor.conv2d %y, %w
//! ...                                            // the peak
//! %again = tensor.fused[...] %d, %s, %b
//! %dw = tensor.conv2d_weight_grad %again, %dz
//! ```
//!
//! The same pass over the same operands gives the same bits. Only what is alive anyway is read: no operand
//! of a pass that runs again is kept longer for it.

use std::collections::HashMap;

use fedround_ir::tensor::{Graph, GraphError, Node, Op, Val};

use super::rewrite::Rewrite;
use crate::tensor::{Cost, cost};

/// The elements of a tensor that leaves the second-level cache before the backward pass needs it.
const LARGE: usize = 1 << 18;

/// The most steps of a pass that runs again.
const FEW: usize = 8;

/// Computes large activations again after the peak of memory, as long as that lowers the peak.
///
/// # Errors
///
/// The graph is not well formed.
pub fn rematerialize(graph: &Graph) -> Result<Graph, GraphError> {
    let mut best = graph.clone();
    let mut costs = cost(graph);
    loop {
        let next = after_the_peak(&best, &costs)?;
        let lower = cost(&next);
        if lower.peak >= costs.peak {
            return Ok(best);
        }
        (best, costs) = (next, lower);
    }
}

/// Computes activations that are alive at the peak again after it.
fn after_the_peak(graph: &Graph, costs: &Cost) -> Result<Graph, GraphError> {
    let nodes = costs.nodes.iter().enumerate();
    let Some((peak, _)) = nodes.max_by_key(|(_, node)| node.live) else {
        return Ok(graph.clone());
    };
    let again = passes(graph, peak);
    let mut copies = HashMap::new();
    Rewrite::run(graph, |rewrite, mut node| {
        if rewrite.at > peak {
            for (v, old) in node.ins.iter_mut().zip(&graph.nodes[rewrite.at].ins) {
                if again.contains_key(old) {
                    *v = copy(rewrite, *old, &again, &mut copies)?;
                }
            }
        }
        rewrite.keep(node)
    })
}

/// The activations that are computed again, each with the node that makes it.
fn passes(graph: &Graph, peak: usize) -> HashMap<Val, &Node> {
    let last = graph.last_uses();
    let mut stays = vec![false; graph.types.len()];
    let mut first_after = vec![None; graph.types.len()];
    for (i, node) in graph.nodes.iter().enumerate().skip(peak) {
        for v in &node.ins {
            if i == peak {
                stays[v.0 as usize] = true;
            } else {
                first_after[v.0 as usize].get_or_insert(i);
            }
        }
    }
    for (_, v) in &graph.outputs {
        stays[v.0 as usize] = true;
    }
    let made = graph.nodes[..peak].iter().filter_map(|node| {
        let &[v] = node.outs.as_slice() else {
            return None;
        };
        let len = graph.type_of(v).len();
        let needed = first_after[v.0 as usize]?;
        let is_there = |o: &Val| {
            graph.type_of(*o).len() <= len / 64 || last[o.0 as usize].is_some_and(|at| at >= needed)
        };
        let again = len >= LARGE
            && !stays[v.0 as usize]
            && is_cheap(&node.op)
            && node.ins.iter().all(is_there);
        again.then_some((v, node))
    });
    made.collect()
}

/// Whether an op is a pass of a few additions, multiplications and comparisons.
fn is_cheap(op: &Op) -> bool {
    let Op::Fused(fused) = op else {
        return false;
    };
    let cheap = |op: &Op| {
        matches!(
            op,
            Op::Add
                | Op::Sub
                | Op::Mul
                | Op::Neg
                | Op::AddScalar(_)
                | Op::MulScalar(_)
                | Op::Relu
                | Op::Clamp(..)
                | Op::Compare(_)
                | Op::CompareScalar(..)
                | Op::Where
        )
    };
    fused.steps.len() <= FEW && fused.steps.iter().all(|(op, _)| cheap(op))
}

/// Runs the pass that made an activation once more, the first time.
fn copy(
    rewrite: &mut Rewrite,
    v: Val,
    again: &HashMap<Val, &Node>,
    copies: &mut HashMap<Val, Val>,
) -> Result<Val, GraphError> {
    let Some(node) = again.get(&v) else {
        return rewrite.renamed("rematerialize", v);
    };
    if let Some(copied) = copies.get(&v) {
        return Ok(*copied);
    }
    let ins = node.ins.iter().map(|o| copy(rewrite, *o, again, copies));
    let ins = ins.collect::<Result<Vec<Val>, _>>()?;
    let copied = rewrite.new.push(node.op.clone(), &ins, node.loc)?;
    copies.insert(v, copied);
    Ok(copied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedround_ir::tensor::parse;

    /// Two activations, of which the second adds the first, a layer after each, and what the backward pass
    /// reads: the activations, and what they are of.
    const STEP: &str = "// fedround tensor v1
tensor.graph @step(%d: f32[16x16x32x32], %e: f32[16x16x32x32], %w: f32[16x16x1x1]) {
  %0 = tensor.fused[relu($0); give $1] %d : f32[16x16x32x32]
  %1 = tensor.conv2d[stride [1, 1], padding [0, 0]] %0, %w : f32[16x16x32x32]
  %2 = tensor.fused[add($0, $1); relu($2); give $3] %e, %0 : f32[16x16x32x32]
  %3 = tensor.conv2d[stride [1, 1], padding [0, 0]] %2, %w : f32[16x16x32x32]
  %4 = tensor.mul %1, %3 : f32[16x16x32x32]
  %5 = tensor.conv2d[stride [1, 1], padding [0, 0]] %4, %w : f32[16x16x32x32]
  %6 = tensor.conv2d[stride [1, 1], padding [0, 0]] %5, %w : f32[16x16x32x32]
  %7 = tensor.mul %4, %6 : f32[16x16x32x32]
  %8 = tensor.conv2d_weight_grad[stride [1, 1], padding [0, 0]] %2, %7 : f32[16x16x1x1]
  %9 = tensor.conv2d_weight_grad[stride [1, 1], padding [0, 0]] %0, %7 : f32[16x16x1x1]
  %10 = tensor.mul %d, %e : f32[16x16x32x32]
  return second = %8
  return first = %9
  return last = %10
}
";

    fn names(text: &str) -> Vec<&'static str> {
        let (_, graph) = parse(text).unwrap().into_iter().next().unwrap();
        let after = rematerialize(&graph).unwrap();
        after.verify().unwrap();
        after.nodes[5..].iter().map(|n| n.op.name()).collect()
    }

    /// The second needs the first, which is computed before it and once.
    #[test]
    fn activations_are_computed_again_for_the_backward_pass() {
        let grad = "conv2d_weight_grad";
        let expected = [
            "conv2d", "conv2d", "mul", "fused", "fused", grad, grad, "mul",
        ];
        assert_eq!(names(STEP), expected);
    }

    #[test]
    fn nothing_is_kept_for_it() {
        // Nothing else needs what the activations are of.
        let kept = STEP.replace("%10 = tensor.mul %d, %e", "%10 = tensor.mul %7, %7");
        assert!(!names(&kept).contains(&"fused"));
    }

    #[test]
    fn functions_that_take_time_are_not() {
        assert!(!names(&STEP.replace("relu", "exp")).contains(&"fused"));
    }

    #[test]
    fn small_activations_are_not() {
        assert!(!names(&STEP.replace("f32[16x16x32x32]", "f32[16x16x32x16]")).contains(&"fused"));
    }
}
