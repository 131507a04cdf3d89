//! Functions of numbers of which there is one for each client: orders, and mixtures.

use burn::tensor::{Int, Tensor};

/// `[n, n]`, with 1 where a relation of the second entry to the first holds.
fn pairs(
    x: &Tensor<1>,
    relation: impl FnOnce(Tensor<2>, Tensor<2>) -> Tensor<2, burn::tensor::Bool>,
) -> Tensor<2> {
    let [n] = x.dims();
    let first = x.clone().reshape([n, 1]).expand([n, n]);
    let second = x.clone().reshape([1, n]).expand([n, n]);
    relation(second, first).float()
}

/// The place of each entry in ascending order, from 0. Of equal entries, the earlier one comes first.
///
/// # Shapes
///
/// - `x`: `[n]`
/// - output: `[n]`
pub(super) fn ranks(x: Tensor<1>) -> Tensor<1> {
    let [n] = x.dims();
    let at = Tensor::<1, Int>::arange(0..n as i64, &x.device()).float();
    let smaller = pairs(&x, Tensor::lower);
    let earlier = pairs(&x, Tensor::equal) * pairs(&at, Tensor::lower);
    (smaller + earlier).sum_dim(1).reshape([n])
}

/// The sum of the `count` smallest entries.
///
/// # Shapes
///
/// - `x`: `[n]`
/// - `count`: `[1]`
/// - output: `[1]`
pub(super) fn least_sum(x: Tensor<1>, count: Tensor<1>) -> Tensor<1> {
    let [n] = x.dims();
    let beyond = ranks(x.clone()).greater_equal(count.expand([n]));
    // Not a product with 0, of which one with an infinite entry is NaN.
    x.mask_fill(beyond, 0.0).sum()
}

/// The nearest point to `x` among those whose entries are not negative and sum to `total`: `max(x − θ,
/// 0)` with `θ = max_A (Σ_{i ∈ A} x_i − total) / |A|`. The greatest is that of some largest entries, so
/// that the sets of these suffice (Duchi et al. 2008, "Efficient Projections onto the ℓ1-Ball",
/// section 3).
///
/// # Shapes
///
/// - `x`: `[n]`
/// - `total`: `[1]`
/// - output: `[n]`
pub(super) fn simplex(x: Tensor<1>, total: Tensor<1>) -> Tensor<1> {
    let [n] = x.dims();
    let largest = pairs(&x, Tensor::greater_equal);
    let sums = largest.clone().matmul(x.clone().reshape([n, 1]));
    let excess = sums - total.reshape([1, 1]).expand([n, 1]);
    let theta = (excess / largest.sum_dim(1)).max_dim(0);
    (x - theta.reshape([1]).expand([n])).clamp_min(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(f: impl FnOnce(Tensor<1>) -> Tensor<1>, x: &[f32]) -> Vec<f32> {
        let y = f(Tensor::from_floats(x, &Default::default()));
        y.into_data().try_to_vec().unwrap()
    }

    fn number(x: f32) -> Tensor<1> {
        Tensor::from_floats([x], &Default::default())
    }

    #[test]
    fn places_in_order() {
        assert_eq!(of(ranks, &[3.0, 1.0, 3.0, -2.0]), [2.0, 1.0, 3.0, 0.0]);
    }

    #[test]
    fn the_smallest_are_added() {
        let least = |n, x: &[f32]| of(|x| least_sum(x, number(n)), x);
        assert_eq!(least(2.0, &[3.0, 1.0, f32::INFINITY, 0.5]), [1.5]);
        assert_eq!(least(9.0, &[3.0, 1.0]), [4.0]);
        assert!(least(1.0, &[3.0, f32::NAN])[0].is_nan());
    }

    #[test]
    fn projections_are_the_nearest() {
        let project = |total, x: &[f32]| of(|x| simplex(x, number(total)), x);
        assert_eq!(project(1.0, &[0.25, 0.75]), [0.25, 0.75]);
        assert_eq!(project(1.0, &[1.0, 1.0]), [0.5, 0.5]);
        assert_eq!(project(1.0, &[4.0, 1.0, -3.0]), [1.0, 0.0, 0.0]);
        assert_eq!(project(0.5, &[0.5, 0.25, -1.0]), [0.375, 0.125, 0.0]);
    }
}
