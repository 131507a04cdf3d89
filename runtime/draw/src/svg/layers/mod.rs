//! A layered drawing of an acyclic graph, after Sugiyama, Tagawa and Toda, "Methods for Visual
//! Understanding of Hierarchical System Structures", 1981.
//!
//! Nodes are put on layers. An edge over several layers gets a joint on each layer that it passes. The
//! order of each layer is improved by medians as long as the number of crossings decreases. Positions
//! are the least-squares solution that keeps neighbours apart. An edge runs vertically past the nodes of
//! a layer and bends between two layers, so that it touches no node but its own.

mod columns;
mod order;

use super::canvas::Rect;
use columns::{APART, columns};
use order::order;

/// The width of a joint, and the room between two of them.
const JOINT: f64 = 7.0;
/// Height between two layers.
const BETWEEN: f64 = 26.0;
/// Width up to which nodes without edges stand on one layer.
const WIDEST: f64 = 1200.0;
/// How often all layers are gone through, in each direction.
const SWEEPS: usize = 12;

/// Positions of nodes and edges.
#[derive(Debug)]
pub(super) struct Layout {
    /// For each node.
    pub nodes: Vec<Rect>,
    /// For each edge, its vertical segments `(x, top, bottom)`, from top to bottom.
    pub edges: Vec<Vec<(f64, f64, f64)>>,
    pub width: f64,
    pub height: f64,
}

/// A node, or a joint of an edge.
struct Spot {
    layer: usize,
    size: (f64, f64),
    is_joint: bool,
    above: Vec<usize>,
    below: Vec<usize>,
}

/// Lays out a graph with nodes of these sizes and edges from earlier to later nodes.
pub(super) fn layout(sizes: &[(f64, f64)], edges: &[(usize, usize)]) -> Layout {
    let mut layer = layers(sizes.len(), edges);
    spread(&mut layer, sizes, edges);
    let mut spots: Vec<Spot> = sizes
        .iter()
        .zip(&layer)
        .map(|(&size, &layer)| Spot {
            layer,
            size,
            is_joint: false,
            above: vec![],
            below: vec![],
        })
        .collect();
    let chains: Vec<Vec<usize>> = edges.iter().map(|&edge| chain(&mut spots, edge)).collect();
    let depth = layer.iter().max().map_or(0, |last| last + 1);
    let mut rows: Vec<Vec<usize>> = vec![vec![]; depth];
    for (i, spot) in spots.iter().enumerate() {
        rows[spot.layer].push(i);
    }
    order(&spots, &mut rows);
    let centres = columns(&spots, &rows, &chains);
    let mut tops = vec![0.0; depth];
    let mut heights = vec![0.0_f64; depth];
    let mut y = 0.0;
    for (layer, row) in rows.iter().enumerate() {
        tops[layer] = y;
        heights[layer] = row.iter().map(|&i| spots[i].size.1).fold(0.0, f64::max);
        y += heights[layer] + BETWEEN;
    }
    let place = |i: usize| {
        let Spot { layer, size, .. } = spots[i];
        Rect {
            x: centres[i] - size.0 / 2.0,
            y: tops[layer] + (heights[layer] - size.1) / 2.0,
            width: size.0,
            height: size.1,
        }
    };
    let stretch = |chain: &Vec<usize>| {
        let last = chain.len() - 1;
        let stretch = |(at, &i): (usize, &usize)| {
            let (layer, rect) = (spots[i].layer, place(i));
            let (top, bottom) = (tops[layer], tops[layer] + heights[layer]);
            match at {
                0 => (centres[i], rect.bottom(), bottom),
                at if at == last => (centres[i], top, rect.y),
                _ => (centres[i], top, bottom),
            }
        };
        chain.iter().enumerate().map(stretch).collect()
    };
    Layout {
        nodes: (0..sizes.len()).map(place).collect(),
        edges: chains.iter().map(stretch).collect(),
        width: (0..spots.len())
            .map(|i| place(i).right())
            .fold(0.0, f64::max),
        height: (y - BETWEEN).max(0.0),
    }
}

/// As high as its operands allow; a node with fewer operands than readers, as low as those allow.
fn layers(nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut layer = vec![0; nodes];
    let mut degree = vec![(0, 0); nodes];
    // In order of their ends, the start of an edge has its layer before it is read.
    let mut sorted = edges.to_vec();
    sorted.sort_unstable_by_key(|&(from, to)| (to, from));
    for &(from, to) in &sorted {
        layer[to] = layer[to].max(layer[from] + 1);
        degree[from].1 += 1;
        degree[to].0 += 1;
    }
    for node in (0..nodes).rev() {
        let readers = edges.iter().filter(|edge| edge.0 == node);
        let lowest = readers.map(|edge| layer[edge.1] - 1).min();
        if let (Some(lowest), true) = (lowest, degree[node].0 < degree[node].1) {
            layer[node] = lowest;
        }
    }
    layer
}

/// Puts nodes without edges, such as the updates of all parameters, on the first layer as far as they fit, and
/// on layers of their own below the others.
fn spread(layer: &mut [usize], sizes: &[(f64, f64)], edges: &[(usize, usize)]) {
    let mut alone = vec![true; layer.len()];
    for &(from, to) in edges {
        (alone[from], alone[to]) = (false, false);
    }
    let joined = || (0..alone.len()).filter(|&i| !alone[i]);
    let wide = |i: usize| sizes[i].0 + APART;
    let first = joined().filter(|&i| layer[i] == 0);
    let (mut row, mut used): (usize, f64) = (0, first.map(wide).sum());
    let mut next = joined().map(|i| layer[i] + 1).max().unwrap_or(1);
    for i in (0..alone.len()).filter(|&i| alone[i]) {
        if used > 0.0 && used + wide(i) > WIDEST {
            (row, used) = (next, 0.0);
            next += 1;
        }
        layer[i] = row;
        used += wide(i);
    }
}

/// Cuts an edge by joints; gives it with its ends.
fn chain(spots: &mut Vec<Spot>, (from, to): (usize, usize)) -> Vec<usize> {
    let mut chain = vec![from];
    for layer in spots[from].layer + 1..spots[to].layer {
        chain.push(spots.len());
        spots.push(Spot {
            layer,
            size: (JOINT, 0.0),
            is_joint: true,
            above: vec![],
            below: vec![],
        });
    }
    chain.push(to);
    for pair in chain.windows(2) {
        spots[pair[0]].below.push(pair[1]);
        spots[pair[1]].above.push(pair[0]);
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: (f64, f64) = (50.0, 20.0);

    #[test]
    fn an_edge_points_down_and_passes_other_nodes() {
        // A diamond with a chord.
        let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)];
        let layout = layout(&[SIZE; 4], &edges);
        for &(from, to) in &edges {
            assert!(layout.nodes[from].bottom() < layout.nodes[to].y);
        }
        let chord = &layout.edges[4];
        assert_eq!(chord.len(), 3);
        let (x, ..) = chord[1];
        for node in &layout.nodes[1..3] {
            assert!(x < node.x || x > node.right(), "{x} is inside {node:?}");
        }
    }

    #[test]
    fn nodes_do_not_overlap() {
        let edges: Vec<(usize, usize)> = (1..12).map(|i| (i / 3, i)).collect();
        let nodes = layout(&[SIZE; 12], &edges).nodes;
        for (i, a) in nodes.iter().enumerate() {
            for b in &nodes[..i] {
                let apart =
                    a.x >= b.right() || b.x >= a.right() || a.y >= b.bottom() || b.y >= a.bottom();
                assert!(apart, "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn a_crossing_is_undone() {
        let layout = layout(&[SIZE; 4], &[(0, 3), (1, 2)]);
        let x = |i: usize| layout.nodes[i].x;
        assert_eq!(x(0) < x(1), x(3) < x(2));
    }

    #[test]
    fn many_nodes_without_edges_are_not_one_long_row() {
        let layout = layout(&[SIZE; 60], &[(0, 1), (1, 2)]);
        assert!(layout.width <= WIDEST, "{}", layout.width);
        let tops: std::collections::BTreeSet<i64> =
            layout.nodes[3..].iter().map(|node| node.y as i64).collect();
        // Beside the first joined node, and below the last.
        assert_eq!(tops.len(), 4);
        assert_eq!(layout.nodes[0].y, layout.nodes[3].y);
        assert!(layout.nodes[59].y > layout.nodes[2].y);
    }

    #[test]
    fn nothing_is_laid_out_as_nothing() {
        let layout = layout(&[], &[]);
        assert_eq!((layout.width, layout.height), (0.0, 0.0));
    }
}
