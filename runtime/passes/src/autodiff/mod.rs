//! Reverse-mode automatic differentiation as a pass.

mod error;
pub mod rules;
mod tiles;

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, Op, Val};

pub use error::GradError;
use tiles::Tiles;

/// [`grad`] of the loss multiplied by `scale`, divided by `scale` again. The result is the same, except
/// that intermediate values round to 0 or ∞ elsewhere.
pub(crate) fn grad_scaled(
    graph: &mut Graph,
    loss: Val,
    wrt: &[Val],
    scale: Option<f64>,
    loc: Loc,
) -> Result<Vec<Val>, GradError> {
    let Some(scale) = scale else {
        return grad(graph, loss, wrt, loc);
    };
    let scaled = graph.push(Op::MulScalar(scale), &[loss], loc)?;
    let grads = grad(graph, scaled, wrt, loc)?.into_iter();
    let back = grads.map(|g| graph.push(Op::MulScalar(1.0 / scale), &[g], loc));
    Ok(back.collect::<Result<_, _>>()?)
}

/// Appends the gradients of the scalar `loss` with respect to `wrt` to `graph`, and returns them in that
/// order. Values that `loss` does not depend on have a gradient of zeros.
///
/// The walk covers all nodes that are present, including those of earlier gradients, so that gradients
/// of gradients need no special treatment.
///
/// # Errors
///
/// An op between `wrt` and `loss` has no rule, or `loss` has more than one element.
pub fn grad(graph: &mut Graph, loss: Val, wrt: &[Val], loc: Loc) -> Result<Vec<Val>, GradError> {
    if graph.type_of(loss).len() != 1 {
        return Err(GradError::NotScalar {
            shape: graph.shape(loss).to_vec(),
            loc,
        });
    }
    let active = depends_on(graph, wrt);
    let mut tiles = Tiles::of(graph);
    let mut adjoint: Vec<Option<Val>> = vec![None; graph.types.len()];
    adjoint[loss.0 as usize] =
        Some(graph.push(Op::Full(1.0, graph.shape(loss).to_vec()), &[], loc)?);
    for i in (0..graph.nodes.len()).rev() {
        let node = graph.nodes[i].clone();
        // Nodes that the walk itself appends come after `loss` and have no adjoint.
        let Some(&out) = node.outs.first().filter(|v| (v.0 as usize) < adjoint.len()) else {
            continue;
        };
        if let Some(joined) = tiles.gradient(graph, out)? {
            adjoint[out.0 as usize] = Some(joined);
        }
        let Some(g) = adjoint[out.0 as usize] else {
            continue;
        };
        let wanted: Vec<bool> = node.ins.iter().map(|v| active[v.0 as usize]).collect();
        if !wanted.contains(&true) {
            continue;
        }
        if let Op::Slice(ranges) = &node.op
            && tiles.take(node.ins[0], ranges, g)
        {
            continue;
        }
        for (&input, part) in node.ins.iter().zip(rules::apply(graph, &node, g, &wanted)?) {
            let Some(part) = part else { continue };
            let slot = &mut adjoint[input.0 as usize];
            *slot = Some(match *slot {
                None => part,
                Some(sum) => graph.push(Op::Add, &[sum, part], node.loc)?,
            });
        }
    }
    let gradient = |&v: &Val| match tiles.gradient(graph, v)?.or(adjoint[v.0 as usize]) {
        Some(g) => Ok(g),
        None => Ok(graph.push(Op::Full(0.0, graph.shape(v).to_vec()), &[], loc)?),
    };
    wrt.iter().map(gradient).collect()
}

/// Whether each value depends on one of `roots`.
fn depends_on(graph: &Graph, roots: &[Val]) -> Vec<bool> {
    let mut active = vec![false; graph.types.len()];
    for root in roots {
        active[root.0 as usize] = true;
    }
    for node in &graph.nodes {
        if node.ins.iter().any(|v| active[v.0 as usize]) {
            for out in &node.outs {
                active[out.0 as usize] = true;
            }
        }
    }
    active
}
