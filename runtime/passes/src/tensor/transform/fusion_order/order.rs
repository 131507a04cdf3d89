//! The order of a graph's nodes.

use std::collections::HashSet;

use fedround_ir::tensor::{Graph, Op};

use super::super::def_use::{makers, readers};

/// The nodes of a graph in order, and the places in it where a kernel begins that has nothing to do with
/// the one before.
pub(super) fn order(graph: &Graph) -> (Vec<usize>, HashSet<usize>) {
    let mut order = Order::new(graph);
    for i in 0..graph.nodes.len() {
        if is_view(&graph.nodes[i].op) && order.is_ready(i) {
            order.append(i);
        }
    }
    for i in 0..graph.nodes.len() {
        if kind(graph, i) == Kind::Start {
            order.place(i);
            order.place_sums_of_operands(i);
        }
    }
    for i in 0..graph.nodes.len() {
        order.place(i);
    }
    (order.placed, order.begins)
}

/// What an op does to the kernel of the op before it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Joins it.
    Joins,
    /// Ends it, and computes nothing.
    View,
    /// Begins one.
    Start,
    /// Begins one, and is better late.
    LateStart,
}

/// What the op of a node does.
pub(super) fn kind(graph: &Graph, i: usize) -> Kind {
    let node = &graph.nodes[i];
    match &node.op {
        op if is_view(op) => Kind::View,
        Op::SumDim(d) | Op::MeanDim(d) if d + 1 < graph.shape(node.ins[0]).len() => Kind::LateStart,
        Op::SumDim(_) | Op::MeanDim(_) | Op::LogSoftmax(_) | Op::Full(..) => Kind::Joins,
        op if op.is_elementwise() => Kind::Joins,
        _ => Kind::Start,
    }
}

/// How many ops may be placed before another only to join its kernel. Kernels have 64 at most.
const BROUGHT_ALONG: usize = 16;

fn is_view(op: &Op) -> bool {
    matches!(op, Op::Reshape(_) | Op::Permute(_) | Op::Expand(_))
}

struct Order<'g> {
    graph: &'g Graph,
    /// For each value, the node that makes it; `None` for inputs.
    makers: Vec<Option<usize>>,
    /// For each value, the nodes that read it.
    readers: Vec<Vec<usize>>,
    is_placed: Vec<bool>,
    placed: Vec<usize>,
    /// Where a kernel begins among those.
    begins: HashSet<usize>,
}

impl<'g> Order<'g> {
    fn new(graph: &'g Graph) -> Self {
        Self {
            graph,
            makers: makers(graph),
            readers: readers(graph),
            is_placed: vec![false; graph.nodes.len()],
            placed: vec![],
            begins: HashSet::new(),
        }
    }

    /// The nodes that make what a node reads.
    fn operands(&self, i: usize) -> impl Iterator<Item = usize> {
        let ins = self.graph.nodes[i].ins.iter();
        ins.filter_map(|v| self.makers[v.0 as usize])
    }

    /// The nodes that read what a node makes.
    fn readers(&self, i: usize) -> impl DoubleEndedIterator<Item = usize> {
        let outs = self.graph.nodes[i].outs.iter();
        outs.flat_map(|v| &self.readers[v.0 as usize]).copied()
    }

    fn is_ready(&self, i: usize) -> bool {
        self.operands(i).all(|j| self.is_placed[j])
    }

    fn append(&mut self, i: usize) {
        if !std::mem::replace(&mut self.is_placed[i], true) {
            self.placed.push(i);
        }
    }

    /// Places a node after what it reads, then the nodes that join it, and last the views that end
    /// their kernel and that only the caller reads.
    fn place(&mut self, i: usize) {
        let before = self.placed.len();
        for sum in self.sums_before(i) {
            self.place_with_followers(sum);
        }
        self.place_with_followers(i);
        let readers = self.placed[before..].iter().flat_map(|&j| self.readers(j));
        let last =
            |j: &usize| kind(self.graph, *j) == Kind::View && self.readers(*j).next().is_none();
        for view in readers.filter(last).collect::<Vec<_>>() {
            self.append(view);
        }
    }

    /// Places a node after what it reads, then the nodes that join it. What follows a sum in its kernel has
    /// its shape.
    fn place_with_followers(&mut self, i: usize) {
        let kind_of = |j| kind(self.graph, j);
        let shape = |j: usize| self.graph.shape(self.graph.nodes[j].outs[0]);
        let fits = |j| kind_of(i) != Kind::LateStart || shape(j) == shape(i);
        let mut waiting = self.place_alone(i, kind_of(i) == Kind::Joins);
        while let Some(next) = waiting.pop() {
            let joins = !self.is_placed[next] && kind_of(next) == Kind::Joins && fits(next);
            if joins && self.could_follow(next) {
                waiting.extend(self.place_alone(next, false));
            }
        }
    }

    /// The late sums that a node waits for, and those that they wait for before them. What they read is
    /// computed in their kernels first, and not in that of the node.
    fn sums_before(&self, i: usize) -> Vec<usize> {
        let mut found = vec![i];
        let mut next = 0;
        while let Some(&j) = found.get(next) {
            next += 1;
            let missing = self.operands(j).filter(|k| !self.is_placed[*k]);
            let missing: Vec<usize> = missing.filter(|k| !found.contains(k)).collect();
            found.extend(missing);
        }
        let sum = |j: &usize| *j != i && kind(self.graph, *j) == Kind::LateStart;
        let mut sums: Vec<usize> = found.into_iter().filter(sum).collect();
        sums.sort_unstable();
        sums
    }

    /// Places a node after what it reads, and gives who reads the placed nodes, the first last.
    fn place_alone(&mut self, i: usize, begins: bool) -> Vec<usize> {
        let before = self.placed.len();
        let mut stack = vec![(i, begins)];
        while let Some((top, begins)) = stack.pop() {
            if self.is_placed[top] {
                continue;
            }
            if begins {
                self.begins.insert(self.placed.len());
            }
            let missing: Vec<usize> = self.operands(top).filter(|j| !self.is_placed[*j]).collect();
            if missing.is_empty() {
                self.append(top);
                continue;
            }
            stack.push((top, false));
            let joined = kind(self.graph, top) == Kind::Joins;
            let alone = |j: usize| (j, !joined && kind(self.graph, j) == Kind::Joins);
            stack.extend(missing.into_iter().rev().map(alone));
        }
        let placed = self.placed[before..].iter();
        placed.flat_map(|&j| self.readers(j).rev()).collect()
    }

    /// Whether all that a node reads is placed, or joins its kernel and needs nothing more.
    fn could_follow(&self, i: usize) -> bool {
        let mut found = vec![i];
        let mut next = 0;
        while let Some(&j) = found.get(next) {
            next += 1;
            for operand in self.operands(j) {
                if self.is_placed[operand] || found.contains(&operand) {
                    continue;
                }
                if kind(self.graph, operand) != Kind::Joins || found.len() > BROUGHT_ALONG {
                    return false;
                }
                found.push(operand);
            }
        }
        true
    }

    /// Places the late sums of what a node reads, if none of the other nodes that they wait for is
    /// left.
    fn place_sums_of_operands(&mut self, i: usize) {
        for v in &self.graph.nodes[i].ins {
            let readers = &self.readers[v.0 as usize];
            let waits = |j: &usize| kind(self.graph, *j) == Kind::Start && !self.is_placed[*j];
            if readers.iter().any(waits) {
                continue;
            }
            let views = readers
                .iter()
                .filter(|j| kind(self.graph, **j) == Kind::View);
            let through = views.flat_map(|j| self.readers(*j));
            let late = |j: &usize| kind(self.graph, *j) == Kind::LateStart;
            let sums: Vec<usize> = readers
                .iter()
                .copied()
                .chain(through)
                .filter(late)
                .collect();
            for sum in sums {
                self.place(sum);
            }
        }
    }
}
