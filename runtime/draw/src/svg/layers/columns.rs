//! The horizontal positions of spots whose order is known.

use super::{JOINT, SWEEPS, Spot};

/// Room between two nodes of a layer, and beside an edge.
pub(super) const APART: f64 = 16.0;

/// The centre of each spot.
pub(super) fn columns(spots: &[Spot], rows: &[Vec<usize>], chains: &[Vec<usize>]) -> Vec<f64> {
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
