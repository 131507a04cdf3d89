//! Groups of nodes that merge only if the graph of groups stays without cycles.
//!
//! The groups are kept in a topological order, as Pearce and Kelly (2007) keep the nodes of a growing graph,
//! <https://doi.org/10.1145/1187436.1210590>. To merge two groups, one searches from the earlier one forwards
//! and from the later one backwards, by turns, and only between the two in the order. The search that ends
//! first says whether a path leads through a third group, and its groups are those that have to move. A node
//! merges with its neighbour in a few steps, however large the graph is.

use std::collections::{HashMap, HashSet};

use super::group_order::GroupOrder;

/// An edge: the node that is read and its reader.
pub(super) type Edge = (usize, usize);

/// What keeps two groups apart.
#[derive(Clone, Copy)]
enum Obstacle {
    /// An edge that no group may hold, which stays for ever.
    Edge,
    /// A node on a path from one to the other. It is no obstacle once it has joined one of them.
    Path(usize),
}

/// The nodes of a graph in groups, at first one each. The node that stands for a group is its root.
pub(super) struct AcyclicGroups {
    /// A node of the same group, nearer to the root.
    parent: Vec<usize>,
    /// For each root: the number of nodes, the first node, and the edges to and from the group.
    size: Vec<usize>,
    first: Vec<usize>,
    reads: Vec<Vec<Edge>>,
    readers: Vec<Vec<Edge>>,
    order: GroupOrder,
    obstacles: HashMap<(usize, usize), Obstacle>,
}

/// The groups in between that have to move, for the earlier of two groups to come just before the later one
/// or the later one just behind the earlier one.
enum Move {
    BehindLater(Vec<usize>),
    BeforeEarlier(Vec<usize>),
}

impl AcyclicGroups {
    /// A group for each node. `reads` are the nodes that each node reads, which come before it.
    pub fn new(reads: &[Vec<usize>]) -> Self {
        let n = reads.len();
        let mut readers = vec![vec![]; n];
        for (i, from) in reads.iter().enumerate() {
            from.iter().for_each(|&p| readers[p].push((p, i)));
        }
        let reads = reads.iter().enumerate();
        Self {
            parent: (0..n).collect(),
            size: vec![1; n],
            first: (0..n).collect(),
            reads: reads
                .map(|(i, from)| from.iter().map(|&p| (p, i)).collect())
                .collect(),
            readers,
            order: GroupOrder::new(n),
            obstacles: HashMap::new(),
        }
    }

    fn root(&mut self, mut i: usize) -> usize {
        while self.parent[i] != i {
            self.parent[i] = self.parent[self.parent[i]];
            i = self.parent[i];
        }
        i
    }

    /// The first node of the group of node `i`.
    pub fn first(&mut self, i: usize) -> usize {
        let root = self.root(i);
        self.first[root]
    }

    /// Merges the groups of two nodes and says whether that was possible: no path between them leads through
    /// a third group, and no edge between them is `forbidden`.
    pub fn merge(&mut self, a: usize, b: usize, forbidden: impl Fn(Edge) -> bool) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return true;
        }
        let (a, b) = if self.order.is_before(a, b) {
            (a, b)
        } else {
            (b, a)
        };
        match self.obstacles.get(&(a, b)).copied() {
            Some(Obstacle::Edge) => return false,
            Some(Obstacle::Path(node)) if ![a, b].contains(&self.root(node)) => return false,
            _ => {}
        }
        let found = match self.has_edge(a, b, forbidden) {
            true => Err(Obstacle::Edge),
            false => self.between(a, b).map_err(Obstacle::Path),
        };
        match found {
            Ok(moved) => self.join(a, b, moved),
            Err(obstacle) => {
                self.obstacles.insert((a, b), obstacle);
                return false;
            }
        }
        true
    }

    /// Whether an edge from group `a` to group `b`, which comes later, is forbidden.
    fn has_edge(&mut self, a: usize, b: usize, forbidden: impl Fn(Edge) -> bool) -> bool {
        let forth = self.readers[a].len() < self.reads[b].len();
        let count = if forth {
            self.readers[a].len()
        } else {
            self.reads[b].len()
        };
        (0..count).any(|at| {
            let edge = if forth {
                self.readers[a][at]
            } else {
                self.reads[b][at]
            };
            let (from, to) = edge;
            forbidden(edge) && self.root(from) == a && self.root(to) == b
        })
    }

    /// The groups that have to move where `a` and `b` merge, or else one on a path from `a` to `b`.
    fn between(&mut self, a: usize, b: usize) -> Result<Move, usize> {
        let mut forth = Search::new(a);
        let mut back = Search::new(b);
        loop {
            match self.step(&mut forth, b, true) {
                SearchStep::Meets(node) => return Err(node),
                SearchStep::Ends => return Ok(Move::BehindLater(forth.found())),
                SearchStep::Goes => {}
            }
            match self.step(&mut back, a, false) {
                SearchStep::Meets(node) => return Err(node),
                SearchStep::Ends => return Ok(Move::BeforeEarlier(back.found())),
                SearchStep::Goes => {}
            }
        }
    }

    /// Follows one edge of a search for `goal`.
    fn step(&mut self, search: &mut Search, goal: usize, forth: bool) -> SearchStep {
        let Some(&mut (group, ref mut at)) = search.todo.last_mut() else {
            return SearchStep::Ends;
        };
        let edges = if forth {
            &self.readers[group]
        } else {
            &self.reads[group]
        };
        let Some(&(from, to)) = edges.get(*at) else {
            search.todo.pop();
            return SearchStep::Goes;
        };
        *at += 1;
        let next = self.root(if forth { to } else { from });
        if next == goal {
            // An edge from one to the other goes away when they merge.
            return if group == search.start {
                SearchStep::Goes
            } else {
                SearchStep::Meets(group)
            };
        }
        let inside = match forth {
            true => self.order.is_before(next, goal),
            false => self.order.is_before(goal, next),
        };
        if inside && search.seen.insert(next) {
            search.todo.push((next, 0));
        }
        SearchStep::Goes
    }

    fn join(&mut self, a: usize, b: usize, moved: Move) {
        let place = match moved {
            Move::BehindLater(mut groups) => {
                self.order.sort(&mut groups);
                let mut last = b;
                for group in groups {
                    self.order.remove(group);
                    self.order.insert_after(last, group);
                    last = group;
                }
                b
            }
            Move::BeforeEarlier(mut groups) => {
                self.order.sort(&mut groups);
                for group in groups {
                    self.order.remove(group);
                    self.order.insert_before(a, group);
                }
                a
            }
        };
        let (into, from) = if self.size[a] < self.size[b] {
            (b, a)
        } else {
            (a, b)
        };
        if place == into {
            self.order.remove(from);
        } else {
            self.order.remove(into);
            self.order.replace(from, into);
        }
        self.parent[from] = into;
        self.size[into] += self.size[from];
        self.first[into] = self.first[into].min(self.first[from]);
        let (reads, readers) = (
            std::mem::take(&mut self.reads[from]),
            std::mem::take(&mut self.readers[from]),
        );
        self.reads[into].extend(reads);
        self.readers[into].extend(readers);
    }
}

/// A search through groups, depth first.
struct Search {
    start: usize,
    seen: HashSet<usize>,
    /// Groups and how many of their edges have been followed.
    todo: Vec<(usize, usize)>,
}

enum SearchStep {
    Goes,
    Ends,
    /// The goal is next to this group.
    Meets(usize),
}

impl Search {
    fn new(start: usize) -> Self {
        Self {
            start,
            seen: HashSet::from([start]),
            todo: vec![(start, 0)],
        }
    }

    /// The groups that were found, without the start.
    fn found(mut self) -> Vec<usize> {
        self.seen.remove(&self.start);
        self.seen.into_iter().collect()
    }
}
