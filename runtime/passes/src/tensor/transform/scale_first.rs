//! `scale-first`: a factor of a total is one of its terms.
//!
//! The loss is often `−mean(x)`. The product is a kernel of one element, while that with the terms is
//! part of the kernel that computes them: `c · mean(x)` becomes `mean(c · x)`.

use fedround_ir::tensor::{Graph, GraphError, Op};

use super::dce::dce;
use super::rewrite::Rewrite;

/// Moves factors of sums and means that nothing else reads before them.
///
/// # Errors
///
/// The graph is not well formed.
pub fn scale_first(graph: &Graph) -> Result<Graph, GraphError> {
    let uses = graph.use_counts();
    let scaled = Rewrite::run(graph, |rewrite, node| {
        let mut ins = graph.nodes[rewrite.at].ins.iter();
        let alone = ins.all(|v| uses[v.0 as usize] == 1);
        if !alone || !matches!(node.op, Op::Neg | Op::MulScalar(_)) {
            return rewrite.keep(node);
        }
        let (total, x) = match rewrite.new.producer(node.ins[0]) {
            Some(total) if matches!(total.op, Op::Sum | Op::Mean) => {
                (total.op.clone(), total.ins[0])
            }
            _ => return rewrite.keep(node),
        };
        if rewrite.new.producer(x).is_none() {
            return rewrite.keep(node);
        }
        let scaled = rewrite.new.push(node.op, &[x], node.loc)?;
        Ok(vec![rewrite.new.push(total, &[scaled], node.loc)?])
    })?;
    Ok(dce(&scaled))
}
