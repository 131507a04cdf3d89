//! Which elementwise ops share a pass, and in which order the passes run.

use std::collections::{HashMap, HashSet};

use fedround_ir::tensor::{DType, Graph, Node, Op, Val};

/// The shape over which a node can be fused, if it can.
pub(super) fn shape_of<'g>(graph: &'g Graph, node: &Node) -> Option<&'g [usize]> {
    let floats = |v: &Val| matches!(graph.type_of(*v).dtype, DType::F32 | DType::Bool);
    match node.op {
        // A sum runs over its operand's shape.
        Op::Sum | Op::Dot => Some(graph.shape(node.ins[0])),
        _ if node.op.is_elementwise() && node.ins.iter().all(floats) => {
            let shape = graph.shape(node.outs[0]);
            let repeats = node.ins.iter().all(|v| in_one_run(graph.shape(*v), shape));
            repeats.then_some(shape)
        }
        _ => None,
    }
}

/// Whether a shape repeats to another such that the dimensions that do not are neighbours, as the
/// kernels want it.
fn in_one_run(from: &[usize], to: &[usize]) -> bool {
    if from.len() != to.len() {
        return from == [1];
    }
    let kept = |i: &usize| from[*i] == to[*i] && to[*i] != 1;
    let (Some(first), Some(last)) = ((0..to.len()).find(kept), (0..to.len()).rfind(kept)) else {
        return true;
    };
    (first..=last).all(|i| from[i] == to[i])
}

/// For each node, the group that it is in: the index of the group's first node.
pub(super) fn groups(graph: &Graph) -> Vec<usize> {
    let mut group: Vec<usize> = (0..graph.nodes.len()).collect();
    let producer = producers(graph);
    let mut feeds = vec![vec![]; graph.nodes.len()];
    for (i, node) in graph.nodes.iter().enumerate() {
        for v in &node.ins {
            if let Some(&p) = producer.get(v) {
                feeds[i].push(p);
            }
        }
    }
    let readers = readers(graph);
    for (i, node) in graph.nodes.iter().enumerate() {
        let Some(shape) = shape_of(graph, node) else {
            continue;
        };
        // Ops that read one tensor are worth one pass too, as `w − w₀` and `w − η g` are; those that
        // read one number would only wait for each other.
        let related = node.ins.iter().flat_map(|v| {
            let whole = graph.shape(*v) == shape && graph.type_of(*v).len() > 1;
            let siblings = readers.get(v).into_iter().flatten().filter(move |_| whole);
            producer.get(v).into_iter().chain(siblings).copied()
        });
        let mut candidates: Vec<usize> = related.filter(|&j| j < i).map(|j| group[j]).collect();
        candidates.sort_unstable();
        candidates.dedup();
        for other in candidates {
            let own = group[i];
            let fits = own != other
                && shape_of(graph, &graph.nodes[other]) == Some(shape)
                && legal(graph, &feeds, &group, own, other);
            if fits {
                let (into, from) = (own.min(other), own.max(other));
                group
                    .iter_mut()
                    .filter(|g| **g == from)
                    .for_each(|g| *g = into);
            }
        }
    }
    // Fused code neither stores masks nor reads stored ones: such a group is taken apart.
    let masks = |i: usize| {
        let node = &graph.nodes[i];
        let is_mask = |v: &&Val| graph.type_of(**v).dtype == DType::Bool;
        let stored = node.outs.iter().filter(is_mask).any(|v| {
            let mut read = readers.get(v).into_iter().flatten();
            read.any(|&j| group[j] != group[i]) || graph.outputs.iter().any(|(_, o)| o == v)
        });
        let read = node.ins.iter().filter(is_mask).any(|v| {
            let from = producer.get(v).map(|&p| group[p]);
            from != Some(group[i])
        });
        stored || read
    };
    let apart: HashSet<usize> = (0..group.len())
        .filter(|&i| masks(i))
        .map(|i| group[i])
        .collect();
    let split = group.iter().enumerate();
    split
        .map(|(i, &g)| if apart.contains(&g) { i } else { g })
        .collect()
}

/// Whether groups could run one after the other, were group `b` part of group `a`.
fn legal(graph: &Graph, feeds: &[Vec<usize>], group: &[usize], a: usize, b: usize) -> bool {
    let unit = |n: usize| if group[n] == b { a } else { group[n] };
    let mut reads: Vec<HashSet<usize>> = vec![HashSet::new(); group.len()];
    for (n, from) in feeds.iter().enumerate() {
        for &p in from {
            if unit(p) != unit(n) {
                reads[unit(n)].insert(unit(p));
            } else if unit(n) == a && matches!(graph.nodes[p].op, Op::Sum | Op::Dot) {
                // A sum is complete only after the pass.
                return false;
            }
        }
    }
    // The merged group must not read, through others, what it gives.
    let mut seen = vec![false; group.len()];
    let mut todo: Vec<usize> = reads[a].iter().copied().collect();
    while let Some(n) = todo.pop() {
        if n == a {
            return false;
        }
        if !std::mem::replace(&mut seen[n], true) {
            todo.extend(&reads[n]);
        }
    }
    true
}

fn producers(graph: &Graph) -> HashMap<Val, usize> {
    let nodes = graph.nodes.iter().enumerate();
    nodes
        .flat_map(|(i, n)| n.outs.iter().map(move |v| (*v, i)))
        .collect()
}

fn readers(graph: &Graph) -> HashMap<Val, Vec<usize>> {
    let mut readers: HashMap<Val, Vec<usize>> = HashMap::new();
    for (i, node) in graph.nodes.iter().enumerate() {
        for v in &node.ins {
            readers.entry(*v).or_default().push(i);
        }
    }
    readers
}

/// Groups and single nodes in an order in which each comes after what it reads; ties keep the
/// graph's order.
pub(super) fn order(graph: &Graph, group: &[usize]) -> Vec<Vec<usize>> {
    let producer = producers(graph);
    let mut units: Vec<Vec<usize>> = vec![vec![]; graph.nodes.len()];
    for (i, &g) in group.iter().enumerate() {
        units[g].push(i);
    }
    // Placing a unit where its last member was keeps values short-lived.
    let mut pending: Vec<usize> = (0..units.len()).filter(|&g| !units[g].is_empty()).collect();
    pending.sort_by_key(|&g| units[g].last().copied());
    let mut done = vec![false; units.len()];
    let mut order = vec![];
    while !pending.is_empty() {
        let ready = pending.iter().position(|&g| {
            let members = units[g].iter();
            let mut reads = members.flat_map(|&i| &graph.nodes[i].ins);
            reads.all(|v| {
                let from = producer.get(v).map(|&p| group[p]);
                from.is_none_or(|p| p == g || done[p])
            })
        });
        // `legal` leaves no cycle, so one is always ready.
        let next = pending.remove(ready.unwrap_or(0));
        done[next] = true;
        order.push(units[next].clone());
    }
    order
}
