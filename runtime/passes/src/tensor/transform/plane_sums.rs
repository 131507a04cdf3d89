//! `plane-sums`: sums of images for each channel are results of the pass that makes their terms.
//!
//! Batch normalisation needs means over all images and pixels, and the gradients of its parameters are such
//! sums. What is summed is often read by nothing else; written to memory and read again, it costs more time
//! than making it.

use std::collections::HashMap;
use std::sync::Arc;

use fedround_ir::Loc;
use fedround_ir::tensor::{Fused, Graph, GraphError, Node, Op, Val};

use super::dce::dce;
use super::def_use::readers;
use super::fuse_elementwise::groups::LARGE;
use super::rewrite::{Growing, Rewrite};

/// Takes sums over all dimensions but the second into fused ops.
///
/// # Errors
///
/// The graph is not well formed.
pub fn plane_sums(graph: &Graph) -> Result<Graph, GraphError> {
    let totals = Totals::of(graph);
    // The sums of the results of fused ops.
    let mut sums: HashMap<Val, Val> = HashMap::new();
    let joined = Rewrite::run(graph, |rewrite, node| {
        let (i, old) = (rewrite.at, &graph.nodes[rewrite.at]);
        if let Op::Fused(fused) = &node.op
            && old.outs.iter().any(|v| totals.by_root.contains_key(v))
        {
            return totals.join(&mut rewrite.new, fused, (old, &node), &mut sums);
        }
        let total = totals.root_of.get(&i);
        let total = total.and_then(|root| Some((&totals.by_root[root], *sums.get(root)?)));
        match total {
            Some((total, sum)) if i == total.last => total.finish(&mut rewrite.new, sum, node.loc),
            // Only the last op of a total is read.
            Some((_, sum)) => Ok(vec![sum]),
            None => rewrite.keep(node),
        }
    })?;
    Ok(dce(&joined))
}

/// A sum or mean over all dimensions but the second, of a result of a fused op.
struct Total {
    /// Whether nothing else reads the result.
    alone: bool,
    /// The node that gives it.
    last: usize,
    /// The shape that it gets in the end.
    shape: Vec<usize>,
    /// What the sum is divided by.
    count: usize,
}

impl Total {
    /// What the last op of the total gives, from the sum.
    fn finish(&self, graph: &mut Growing, sum: Val, at: Loc) -> Result<Vec<Val>, GraphError> {
        let mut total = sum;
        if self.count > 1 {
            let op = Op::MulScalar(1.0 / self.count as f64);
            total = graph.push(op, &[total], at)?;
        }
        if graph.shape(total) != self.shape {
            total = graph.push(Op::Reshape(self.shape.clone()), &[total], at)?;
        }
        Ok(vec![total])
    }
}

/// The totals of a graph.
#[derive(Default)]
struct Totals {
    by_root: HashMap<Val, Total>,
    /// For each op of a total, the value that is summed.
    root_of: HashMap<usize, Val>,
}

impl Totals {
    fn of(graph: &Graph) -> Self {
        let chains = Chains {
            graph,
            readers: readers(graph),
            uses: graph.use_counts(),
        };
        let mut totals = Self::default();
        for node in &graph.nodes {
            let Op::Fused(fused) = &node.op else {
                continue;
            };
            if fused.shape.len() != 4 || fused.shape.iter().product::<usize>() < LARGE {
                continue;
            }
            for root in &node.outs {
                let Some((ops, total)) = chains.total(fused, *root) else {
                    continue;
                };
                totals.root_of.extend(ops.into_iter().map(|i| (i, *root)));
                totals.by_root.insert(*root, total);
            }
        }
        totals
    }

    /// A fused op with its totals among its results. Gives the new value for each old result; for one that only
    /// its total read, the total, which stands for it until the last op of the total. `sums` gets the totals.
    fn join(
        &self,
        graph: &mut Growing,
        fused: &Fused,
        (old, node): (&Node, &Node),
        sums: &mut HashMap<Val, Val>,
    ) -> Result<Vec<Val>, GraphError> {
        let mut new = Fused {
            outputs: vec![],
            leading_sums: vec![],
            ..fused.clone()
        };
        let (mut outputs, mut totals, mut leading) = (vec![], vec![], vec![]);
        let all_sums = fused.outputs.len() + fused.sums.len();
        for (i, out) in old.outs.iter().enumerate() {
            let (list, kept, value) = match i.checked_sub(all_sums) {
                None if i >= fused.outputs.len() => continue,
                None => (&mut new.outputs, &mut outputs, fused.outputs[i]),
                Some(i) if i >= fused.leading_sums.len() => continue,
                Some(i) => (&mut new.leading_sums, &mut leading, fused.leading_sums[i]),
            };
            let total = self.by_root.get(out);
            if total.is_none_or(|total| !total.alone) {
                list.push(value);
                kept.push(*out);
            }
            if total.is_some() {
                new.channel_sums.push(value);
                totals.push(*out);
            }
        }
        // In the order of the new op's results.
        let unchanged = &old.outs[fused.outputs.len()..all_sums];
        let channels = &old.outs[all_sums + fused.leading_sums.len()..];
        let lists = [&outputs[..], unchanged, &leading, channels];
        let kept: Vec<Val> = lists.concat();
        let results = graph.push_multi(Op::Fused(Arc::new(new)), &node.ins, node.loc)?;
        let (own, of_totals) = results.split_at(kept.len());
        sums.extend(totals.into_iter().zip(of_totals.iter().copied()));
        let map: HashMap<Val, Val> = kept.into_iter().zip(own.iter().copied()).collect();
        let result = |v: &Val| map.get(v).or(sums.get(v)).copied();
        let found: Option<Vec<Val>> = old.outs.iter().map(result).collect();
        let (op, val) = ("fused", old.outs[0]);
        found.ok_or(GraphError::Undefined { op, val })
    }
}

struct Chains<'a> {
    graph: &'a Graph,
    /// The nodes that read each value.
    readers: Vec<Vec<usize>>,
    /// How many read each value, outputs included.
    uses: Vec<usize>,
}

impl Chains<'_> {
    /// The ops that sum a result of a fused op, and what they give.
    fn total(&self, fused: &Fused, root: Val) -> Option<(Vec<usize>, Total)> {
        let channels = fused.shape[1];
        let (mut ops, mut v, mut count) = (vec![], root, 1);
        let alone = self.uses[root.0 as usize] == 1;
        if self.graph.shape(root) == fused.shape {
            let [images, _, height, width] = fused.shape[..] else {
                return None;
            };
            let planes = Op::Reshape(vec![images, channels, height * width]);
            let mut readers = self.readers[root.0 as usize].iter();
            let first = *readers.find(|i| self.graph.nodes[**i].op == planes)?;
            ops.push(first);
            v = self.graph.nodes[first].outs[0];
        } else if self.graph.shape(root) != fused.leading_shape() || !alone {
            return None;
        }
        while self.graph.type_of(v).len() > channels {
            let ([i], 1) = (&self.readers[v.0 as usize][..], self.uses[v.0 as usize]) else {
                return None;
            };
            let node = &self.graph.nodes[*i];
            match node.op {
                Op::SumDim(d) if d != 1 => {}
                Op::MeanDim(d) if d != 1 => count *= self.graph.shape(v)[d],
                _ => return None,
            }
            ops.push(*i);
            v = node.outs[0];
        }
        // Of one image of one pixel, the total would be a view.
        let last = *ops.last()?;
        let is_view = matches!(self.graph.nodes[last].op, Op::Reshape(_));
        let shape = self.graph.shape(v).to_vec();
        let total = Total {
            alone,
            last,
            shape,
            count,
        };
        (!is_view).then_some((ops, total))
    }
}
