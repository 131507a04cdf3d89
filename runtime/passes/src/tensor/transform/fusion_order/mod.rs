//! `fusion-order`: ops stand where a backend that fuses what follows one another finds them.
//!
//! burn-fusion makes kernels of neighbours: of a matrix product and the elementwise ops after it, and of
//! elementwise ops around a sum. A view of what a kernel reads or makes ends it, and so does an op of
//! another kind. The order is therefore:
//!
//! 1. views of inputs come first;
//! 2. after each product, layer or sum over rows come the elementwise ops that then have all they need,
//!    with the elementwise ops that only they wait for before them;
//! 3. sums over other dimensions than the last, which are gradients of biases, come after the products
//!    that read the same value, as they would end the kernel in which it is made;
//! 4. a view that is a result comes right after what it views, and ends its kernel;
//! 5. where nothing else ends a kernel before an unrelated one, a view of its result does: a `permute`
//!    of the dimensions as they are. Kernels that are open side by side are searched together, and
//!    burn-fusion may then run their ops one by one.

mod order;

use std::collections::{HashMap, HashSet};

use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, GraphError, Node, Op, Val};

use self::order::{Kind, kind, order};
use super::rewrite::{Growing, Rewrite};

/// Puts the nodes in that order.
///
/// # Errors
///
/// A value is read that no node defines.
pub fn fusion_order(graph: &Graph) -> Result<Graph, GraphError> {
    let (placed, begins) = order(graph);
    let nodes = placed.into_iter().map(|i| graph.nodes[i].clone());
    let ordered = Graph {
        nodes: nodes.collect(),
        ..graph.clone()
    };
    let mut open = Open::default();
    Rewrite::run(&ordered, |rewrite, mut node| {
        let place = rewrite.at;
        let kind = kind(&ordered, place);
        let unrelated = match kind {
            Kind::Joins => begins.contains(&place),
            Kind::View | Kind::Start | Kind::LateStart => !open.has_one_of(&node.ins),
        };
        if unrelated {
            open.end(&mut rewrite.new, node.loc)?;
        }
        for v in &mut node.ins {
            *v = open.views.get(v).copied().unwrap_or(*v);
        }
        if kind == Kind::LateStart {
            let next = place + 1;
            let shape = |i: usize| ordered.shape(ordered.nodes[i].outs[0]);
            let is_followed = next < ordered.nodes.len()
                && !begins.contains(&next)
                && self::kind(&ordered, next) == Kind::Joins
                && shape(next) == shape(place);
            open.begin_sum(&mut rewrite.new, &mut node, is_followed)?;
        }
        let (op, ins) = (node.op.clone(), node.ins.clone());
        let outs = rewrite.keep(node)?;
        match kind {
            Kind::Joins if !matches!(op, Op::LogSoftmax(_)) => {
                let shape = |v: Val| rewrite.new.shape(v);
                let computes = match open.last.filter(|_| !open.touched.is_empty()) {
                    Some(last) => open.computes && shape(last) == shape(outs[0]),
                    None => true,
                };
                open.join(&ins, outs[0], computes && op.is_elementwise());
            }
            Kind::LateStart => open.join(&ins, outs[0], false),
            // The executor begins a kernel with it.
            Kind::Joins => open.begin(&[], outs[0]),
            Kind::Start if may_be_joined(&op) => open.begin(&ins, outs[0]),
            Kind::Start | Kind::View => open.touched.clear(),
        }
        Ok(outs)
    })
}

/// Whether burn-fusion takes the elementwise ops that follow into the op's kernel.
fn may_be_joined(op: &Op) -> bool {
    matches!(op, Op::MatMul | Op::Cat(_) | Op::Gather(_) | Op::Select(_))
}

/// The kernel that the next op may join.
#[derive(Default)]
struct Open {
    /// What its ops read and make; nothing if it has ended.
    touched: HashSet<Val>,
    /// What it made last.
    last: Option<Val>,
    /// Whether it has elementwise ops of one shape alone, so that a sum may join.
    computes: bool,
    /// The views that ended kernels, by what they view.
    views: HashMap<Val, Val>,
}

impl Open {
    fn has_one_of(&self, values: &[Val]) -> bool {
        values.iter().any(|v| self.touched.contains(v))
    }

    fn begin(&mut self, ins: &[Val], out: Val) {
        self.touched.clear();
        self.join(ins, out, false);
    }

    /// Has a sum follow what the kernel makes, or else begins one with it: burn-fusion takes the ops after a
    /// sum into its kernel only if one comes before it, here a product with 1, and ends the kernel before at
    /// a view, here of the dimensions as they are.
    fn begin_sum(
        &mut self,
        graph: &mut Growing,
        node: &mut Node,
        is_followed: bool,
    ) -> Result<(), GraphError> {
        let of = node.ins[0];
        if !self.computes || self.touched.is_empty() || self.last != Some(of) {
            let as_they_are = (0..graph.shape(of).len()).collect();
            let view = graph.push(Op::Permute(as_they_are), &[of], node.loc)?;
            node.ins[0] = match is_followed {
                true => graph.push(Op::MulScalar(1.0), &[view], node.loc)?,
                false => view,
            };
            self.touched.clear();
        }
        Ok(())
    }

    fn join(&mut self, ins: &[Val], out: Val, computes: bool) {
        self.computes = computes;
        self.touched.extend(ins.iter().chain([&out]));
        self.last = Some(out);
    }

    /// Ends it by a view of what it made last.
    fn end(&mut self, graph: &mut Growing, loc: Loc) -> Result<(), GraphError> {
        if let Some(last) = self.last.take().filter(|_| !self.touched.is_empty()) {
            let as_they_are = (0..graph.shape(last).len()).collect();
            let view = graph.push(Op::Permute(as_they_are), &[last], loc)?;
            self.views.insert(last, view);
        }
        self.touched.clear();
        Ok(())
    }
}
