//! The order of the spots of each layer.

use super::{SWEEPS, Spot};

/// Sorts each layer by the medians of the neighbours, from above and from below in turns, and
/// keeps the order with the fewest crossings.
pub(super) fn order(spots: &[Spot], rows: &mut Vec<Vec<usize>>) {
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
