//! Measures of the tightness of clusters.

use burn::tensor::{Int, Tensor};

/// Steps of k-means.
const STEPS: usize = 10;

/// The gap of k-means clusters of features, `Σ_r 1/(2 n_r) Σ_{i,j ∈ C_r} ‖f_i − f_j‖²`, which is
/// `Σ_r Σ_{i ∈ C_r} ‖f_i − μ_r‖²`. FADA's Eq. (1) has distances in place of their squares. Clusters begin as the classes that logits say, as
/// many as there are; an empty one stays empty.
///
/// # Shapes
///
/// - `f`: `[batch, features]`
/// - `logits`: `[batch, classes]`
/// - output: `[1]`
pub(super) fn gap(f: Tensor<2>, logits: Tensor<2>) -> Tensor<1> {
    let mut member = largest(logits);
    let mut far = distances(&f, &member);
    for _ in 0..STEPS {
        member = largest(far.neg());
        far = distances(&f, &member);
    }
    far.neg().max_dim(1).sum().neg()
}

/// 1 where the entry of a row is its first largest, 0 elsewhere.
fn largest(x: Tensor<2>) -> Tensor<2> {
    let [batch, classes] = x.dims();
    let device = x.device();
    let (_, at) = x.max_dim_with_indices(1);
    let all = Tensor::<1, Int>::arange(0..classes as i64, &device).reshape([1, classes]);
    at.expand([batch, classes])
        .equal(all.expand([batch, classes]))
        .float()
}

/// Squared distances of all rows from the clusters' means, `[batch, classes]`; from a cluster
/// without members they are larger than any other.
fn distances(f: &Tensor<2>, member: &Tensor<2>) -> Tensor<2> {
    let count = member.clone().sum_dim(0);
    let mean =
        member.clone().transpose().matmul(f.clone()) / count.clone().clamp_min(1.0).transpose();
    let square = |x: Tensor<2>| (x.clone() * x).sum_dim(1);
    let each = square(f.clone()) + square(mean.clone()).transpose();
    let apart = (each - f.clone().matmul(mean.transpose()).mul_scalar(2.0)).clamp_min(0.0);
    apart + count.lower_elem(0.5).float().mul_scalar(f32::MAX / 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap_of(f: Vec<[f32; 2]>, classes: Vec<usize>, of: usize) -> f32 {
        let (device, n) = (Default::default(), f.len());
        let f = Tensor::from_data(burn::tensor::TensorData::new(f.concat(), [n, 2]), &device);
        let mut logits = vec![0.0; n * of];
        for (row, class) in classes.into_iter().enumerate() {
            logits[row * of + class] = 1.0;
        }
        let logits = Tensor::from_data(burn::tensor::TensorData::new(logits, [n, of]), &device);
        gap(f, logits).into_scalar()
    }

    #[test]
    fn two_pairs_are_found_from_a_wrong_start() {
        let f = vec![[0.0, 0.0], [0.0, 2.0], [10.0, 0.0], [10.0, 2.0]];
        // Each pair's points are 2 apart: ½ · ½ · (4 + 4) twice; one class is not used.
        for start in [vec![0, 0, 1, 1], vec![0, 0, 0, 1], vec![2, 2, 2, 0]] {
            let found = gap_of(f.clone(), start, 3);
            assert!((found - 4.0).abs() < 1e-3, "{found}");
        }
    }

    #[test]
    fn one_cluster_has_the_spread_of_all() {
        let found = gap_of(vec![[0.0, 0.0], [0.0, 2.0], [3.0, 1.0]], vec![0; 3], 1);
        assert!((found - 8.0).abs() < 1e-3, "{found}");
    }
}
