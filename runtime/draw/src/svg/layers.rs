//! A layered drawing of an acyclic graph, after Sugiyama, Tagawa and Toda, "Methods for Visual
//! Understanding of Hierarchical System Structures", 1981.
//!
//! Nodes are put on layers. An edge over several layers gets a joint on each layer that it passes. The
//! order of each layer is improved by medians as long as the number of crossings decreases. Positions
//! are the least-squares solution that keeps neighbours apart. An edge runs vertically past the nodes of
//! a layer and bends between two layers, so that it touches no node but its own.

use super::canvas::Rect;

/// Room between two nodes of a layer, and beside an edge.
const APART: f64 = 16.0;
const JOINT: f64 = 7.0;
/// Height between two layers.
const BETWEEN: f64 = 26.0;
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
    let layer = layers(sizes.len(), edges);
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

/// Sorts each layer by the medians of the neighbours, from above and from below in turns, and
/// keeps the order with the fewest crossings.
fn order(spots: &[Spot], rows: &mut Vec<Vec<usize>>) {
    let mut at = vec![0; spots.len()];
    let mut best = rows.clone();
    let mut fewest = usize::MAX;
    for sweep in 0..2 * SWEEPS {
        for row in rows.iter() {
            row.iter().enumerate().for_each(|(p, &i)| at[i] = p);
        }
        let crossed = crossings(spots, rows, &at);
        if crossed < fewest {
            fewest = crossed;
            best.clone_from(rows);
        }
        let down = sweep % 2 == 0;
        let depth = rows.len();
        for step in 0..depth {
            let layer = if down { step } else { depth - 1 - step };
            let key = |&i: &usize| {
                let near = if down {
                    &spots[i].above
                } else {
                    &spots[i].below
                };
                let mut near: Vec<usize> = near.iter().map(|&j| 2 * at[j]).collect();
                near.sort_unstable();
                match near.len() {
                    0 => 2 * at[i],
                    n if n % 2 == 1 => near[n / 2],
                    n => usize::midpoint(near[n / 2 - 1], near[n / 2]),
                }
            };
            let mut row = std::mem::take(&mut rows[layer]);
            row.sort_by_key(|i| (key(i), at[*i]));
            row.iter().enumerate().for_each(|(p, &i)| at[i] = p);
            rows[layer] = row;
        }
    }
    *rows = best;
}

fn crossings(spots: &[Spot], rows: &[Vec<usize>], at: &[usize]) -> usize {
    let between = rows.iter().map(|row| {
        let edges = row.iter().flat_map(|&i| {
            let mut ends: Vec<usize> = spots[i].below.iter().map(|&j| at[j]).collect();
            ends.sort_unstable();
            ends
        });
        let ends: Vec<usize> = edges.collect();
        let over = |(i, &end): (usize, &usize)| ends[..i].iter().filter(|&&e| e > end).count();
        ends.iter().enumerate().map(over).sum::<usize>()
    });
    between.sum()
}

/// The centre of each spot.
fn columns(spots: &[Spot], rows: &[Vec<usize>], chains: &[Vec<usize>]) -> Vec<f64> {
    let mut centre = vec![0.0; spots.len()];
    let mut chain_of = vec![&[][..]; spots.len()];
    for chain in chains {
        let joints = &chain[1..chain.len() - 1];
        joints.iter().for_each(|&i| chain_of[i] = joints);
    }
    for row in rows {
        settle(spots, row, &vec![(0.0, 1.0); row.len()], &mut centre);
    }
    for sweep in 0..2 * SWEEPS {
        let wish = |i: usize, centre: &[f64]| {
            let Spot { above, below, .. } = &spots[i];
            let near: &[&Vec<usize>] = match sweep {
                s if s + 4 >= 2 * SWEEPS => &[above, below],
                s if s % 2 == 0 => &[above],
                _ => &[below],
            };
            let near: Vec<usize> = near.iter().flat_map(|n| n.iter().copied()).collect();
            if spots[i].is_joint && sweep >= SWEEPS {
                // Long edges are to be straight.
                let joints = chain_of[i];
                let sum: f64 = joints.iter().map(|&j| centre[j]).sum();
                return (sum / joints.len() as f64, 8.0);
            }
            if near.is_empty() {
                return (centre[i], 0.1);
            }
            let mean = near.iter().map(|&j| centre[j]).sum::<f64>() / near.len() as f64;
            (mean, 1.0)
        };
        let depth = rows.len();
        for step in 0..depth {
            let row = &rows[if sweep % 2 == 0 {
                step
            } else {
                depth - 1 - step
            }];
            let wishes: Vec<_> = row.iter().map(|&i| wish(i, &centre)).collect();
            settle(spots, row, &wishes, &mut centre);
        }
    }
    let lefts = centre
        .iter()
        .zip(spots)
        .map(|(x, spot)| x - spot.size.0 / 2.0);
    let left = lefts.fold(f64::INFINITY, f64::min);
    centre.iter().map(|x| x - left).collect()
}

/// The positions closest to the wishes, in weighted least squares, at which no two spots of a row
/// touch: isotonic regression by pooling neighbours.
fn settle(spots: &[Spot], row: &[usize], wishes: &[(f64, f64)], centre: &mut [f64]) {
    // Measured from where each spot is when all are packed to the left.
    let mut packed = vec![0.0; row.len()];
    for p in 1..row.len() {
        let (a, b) = (&spots[row[p - 1]], &spots[row[p]]);
        let apart = if a.is_joint && b.is_joint {
            JOINT
        } else {
            APART
        };
        packed[p] = packed[p - 1] + (a.size.0 + b.size.0) / 2.0 + apart;
    }
    let mut pools: Vec<(f64, f64, usize)> = vec![];
    for (p, &(wish, weight)) in wishes.iter().enumerate() {
        pools.push((weight * (wish - packed[p]), weight, 1));
        while let [.., a, b] = pools.as_slice()
            && a.0 / a.1 > b.0 / b.1
        {
            let pooled = (a.0 + b.0, a.1 + b.1, a.2 + b.2);
            pools.truncate(pools.len() - 2);
            pools.push(pooled);
        }
    }
    let mut p = 0;
    for (sum, weight, count) in pools {
        for _ in 0..count {
            centre[row[p]] = sum / weight + packed[p];
            p += 1;
        }
    }
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
    fn nothing_is_laid_out_as_nothing() {
        let layout = layout(&[], &[]);
        assert_eq!((layout.width, layout.height), (0.0, 0.0));
    }
}
