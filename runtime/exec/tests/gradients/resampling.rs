//! Gradients of interpolation and adaptive pools.

use burn::tensor::Tensor;
use burn::tensor::module::{adaptive_avg_pool1d, adaptive_avg_pool2d, interpolate};
use burn::tensor::ops::{InterpolateMode, InterpolateOptions};
use proptest::prelude::*;

use crate::gradients::case::{Case, few_cases, weigh};

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn interpolation(
        n in 1usize..3, c in 1usize..3, from in prop::array::uniform2(2usize..6), to in prop::array::uniform2(1usize..9),
        corners in any::<bool>(), seed in 0u32..1000,
    ) {
        let modes = [InterpolateMode::Nearest, InterpolateMode::Bilinear, InterpolateMode::Bicubic];
        for mode in modes {
            let options = InterpolateOptions::new(mode.clone()).with_align_corners(corners).with_output_size(to);
            let name = format!("{mode:?} to {to:?}, corners {corners}");
            let case = Case::new(&name, seed).input([n, c, from[0], from[1]], -1.0, 1.1);
            let f = |x: &[Tensor<4>]| weigh(interpolate(x[0].clone(), options.clone()));
            case.check(&f);
        }
    }

    #[test]
    fn adaptive(
        n in 1usize..3, c in 1usize..3, from in prop::array::uniform2(2usize..7), to in prop::array::uniform2(1usize..4),
        seed in 0u32..1000,
    ) {
        let to = [to[0].min(from[0]), to[1].min(from[1])];
        let case = Case::new("adaptive_avg_pool2d", seed).input([n, c, from[0], from[1]], -1.0, 1.1);
        case.check(&|x| weigh(adaptive_avg_pool2d(x[0].clone(), to).exp()));
        let case = Case::new("adaptive_avg_pool1d", seed).input([1, n, c, from[1]], -1.0, 1.1);
        case.check(&|x| {
            let row = x[0].clone().reshape([n, c, from[1]]);
            weigh(adaptive_avg_pool1d(row, to[1]).exp())
        });
    }

    #[test]
    fn dividing_pools(n in 1usize..3, to in prop::array::uniform2(1usize..4), times in 1usize..4, seed in 0u32..1000) {
        let case = Case::new("adaptive_avg_pool2d", seed).input([n, 2, to[0] * times, to[1] * times], -1.0, 1.1);
        case.check(&|x| weigh(adaptive_avg_pool2d(x[0].clone(), to).exp()));
    }
}

/// burn's CPU backend lacks this mode, which takes the element at the centre of each output, rounded down.
#[test]
fn exact_nearest_neighbours() {
    let case = Case::new("nearest exact", 0).input([1, 1, 1, 3], 0.0, 3.0);
    let options =
        || InterpolateOptions::new(InterpolateMode::NearestExact).with_output_size([1, 5]);
    // The centres are at (i + ½) · 3/5 = 0.3, 0.9, 1.5, 2.1, 2.7.
    for (i, at) in [0, 0, 1, 2, 2].into_iter().enumerate() {
        let one = |x: Tensor<4>, i: usize| x.slice([0..1, 0..1, 0..1, i..i + 1]).sum();
        let resized = case.trace(&|x| one(interpolate(x[0].clone(), options()), i));
        let [found, expected] =
            [resized, case.trace(&|x| one(x[0].clone(), at))].map(|g| case.run(&g));
        assert_eq!(found, expected, "output {i}");
    }
}
