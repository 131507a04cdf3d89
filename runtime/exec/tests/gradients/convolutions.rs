//! Gradients of convolutions, transposed convolutions, linear layers and pools.

use burn::tensor::Tensor;
use burn::tensor::module::*;
use burn::tensor::ops::{
    AvgPoolOptions, ConvOptions, ConvTransposeOptions, MaxPoolOptions, PadMode,
};
use proptest::prelude::*;

use crate::gradients::case::{Case, few_cases, weigh};

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn planes(
        n in 1usize..3, c in 1usize..3, o in 1usize..3, groups in 1usize..3, side in 4usize..7, kernel in 1usize..4,
        stride in 1usize..3, padding in 0usize..2, dilation in 1usize..3, seed in 0u32..1000,
    ) {
        prop_assume!(side + 1 + 2 * padding > dilation * (kernel - 1) + 1);
        let case = Case::new("conv2d", seed)
            .input([n, c * groups, side, side + 1], -1.0, 1.1)
            .input([o * groups, c, kernel, kernel], -0.5, 0.6)
            .input([1, 1, 1, o * groups], -0.5, 0.6);
        prop_assume!(side + 2 * padding > dilation * (kernel - 1));
        let options = || ConvOptions::new([stride; 2], [padding; 2], [dilation; 2], groups);
        case.check(&|x| {
            let bias = x[2].clone().reshape([o * groups]);
            weigh(conv2d(x[0].clone(), x[1].clone(), Some(bias), options()))
        });
        case.check(&|x| weigh(conv2d(x[0].clone(), x[1].clone(), None, options())) + x[2].clone().sum());
    }

    #[test]
    fn transposed(
        n in 1usize..3, c in 1usize..3, o in 1usize..3, groups in 1usize..3, side in 2usize..4, kernel in 2usize..4,
        stride in 1usize..3, padding in 0usize..2, out in 0usize..2, dilation in 1usize..3, seed in 0u32..1000,
    ) {
        prop_assume!(out < stride);
        let case = Case::new("conv_transpose2d", seed)
            .input([n, c * groups, side, side + 1], -1.0, 1.1)
            .input([c * groups, o, kernel, kernel], -0.5, 0.6)
            .input([1, 1, 1, o * groups], -0.5, 0.6);
        case.check(&|x| {
            let options = ConvTransposeOptions::new([stride; 2], [padding; 2], [out; 2], [dilation; 2], groups);
            let bias = x[2].clone().reshape([o * groups]);
            weigh(conv_transpose2d(x[0].clone(), x[1].clone(), Some(bias), options))
        });
    }

    #[test]
    fn rows(
        n in 1usize..3, c in 1usize..3, o in 1usize..3, groups in 1usize..3, len in 4usize..8, kernel in 2usize..4,
        stride in 1usize..3, padding in 0usize..2, out in 0usize..2, seed in 0u32..1000,
    ) {
        let case = Case::new("conv1d", seed)
            .input([1, n, c * groups, len], -1.0, 1.1)
            .input([1, o * groups, c, kernel], -0.5, 0.6)
            .input([1, 1, 1, o * groups], -0.5, 0.6);
        case.check_by_differences(&|x| {
            let (w, bias) = (x[1].clone().reshape([o * groups, c, kernel]), x[2].clone().reshape([o * groups]));
            let options = ConvOptions::new([stride], [padding], [1], groups);
            weigh(conv1d(x[0].clone().reshape([n, c * groups, len]), w, Some(bias), options))
        });
        prop_assume!(out < stride);
        let case = Case::new("conv_transpose1d", seed)
            .input([1, n, c * groups, len], -1.0, 1.1)
            .input([1, c * groups, o, kernel], -0.5, 0.6)
            .input([1, 1, 1, o * groups], -0.5, 0.6);
        case.check(&|x| {
            let (w, bias) = (x[1].clone().reshape([c * groups, o, kernel]), x[2].clone().reshape([o * groups]));
            let options = ConvTransposeOptions::new([stride], [padding], [out], [1], groups);
            weigh(conv_transpose1d(x[0].clone().reshape([n, c * groups, len]), w, Some(bias), options))
        });
    }

    #[test]
    fn dense(n in 1usize..4, t in 1usize..3, d_in in 1usize..5, d_out in 1usize..5, seed in 0u32..1000) {
        let case = Case::new("linear", seed)
            .input([1, n, t, d_in], -1.0, 1.1)
            .input([1, 1, d_in, d_out], -1.0, 1.1)
            .input([1, 1, 1, d_out], -1.0, 1.1);
        case.check(&|x| {
            let (w, bias) = (x[1].clone().reshape([d_in, d_out]), x[2].clone().reshape([d_out]));
            weigh(linear(x[0].clone(), w, Some(bias)))
        });
    }

    #[test]
    fn pools(
        n in 1usize..3, c in 1usize..3, side in 4usize..8, kernel in 2usize..4, stride in 1usize..4,
        padding in 0usize..2, dilation in 1usize..3, counted in any::<bool>(), seed in 0u32..1000,
    ) {
        prop_assume!(side + 2 * padding > dilation * (kernel - 1));
        let case = |name| Case::new(name, seed).input([n, c, side, side + 1], -1.0, 1.1);
        fn largest<const N: usize>([k, s, p, d]: [usize; 4]) -> MaxPoolOptions<N> {
            MaxPoolOptions::new([k; N]).with_stride([s; N]).with_padding([p; N]).with_dilation([d; N])
        }
        fn mean<const N: usize>([k, s, p]: [usize; 3], counted: bool) -> AvgPoolOptions<N> {
            let options = AvgPoolOptions::new([k; N]).with_stride([s; N]).with_padding([p; N]);
            options.with_count_include_pad(counted)
        }
        let (max, avg) = ([kernel, stride, padding, dilation], [kernel, stride, padding]);
        case("max_pool2d").check(&|x| weigh(max_pool2d(x[0].clone(), largest(max)).exp()));
        case("max_pool2d_with_indices").check(&|x| weigh(max_pool2d_with_indices(x[0].clone(), largest(max)).0.exp()));
        case("avg_pool2d").check(&|x| weigh(avg_pool2d(x[0].clone(), mean(avg, counted)).exp()));
        let row = |x: &[Tensor<4>]| x[0].clone().reshape([n, c, side * (side + 1)]);
        case("max_pool1d").check(&|x| weigh(max_pool1d(row(x), largest(max)).exp()));
        case("avg_pool1d").check(&|x| weigh(avg_pool1d(row(x), mean(avg, counted)).exp()));
    }

    /// Padding that differs between the two ends of a dimension: by itself, of convolutions, and of pools.
    #[test]
    fn uneven_padding(n in 1usize..3, ends in prop::array::uniform4(0usize..3), side in 4usize..6, seed in 0u32..1000) {
        let [top, bottom, left, right] = ends;
        let pairs = [(top, bottom), (left, right)];
        let case = |name: &str| Case::new(name, seed).input([n, 2, side, side + 1], -1.0, 1.1);
        for mode in [PadMode::Constant(0.5), PadMode::Edge, PadMode::Reflect] {
            case(&format!("pad {mode:?}")).check(&|x| weigh(x[0].clone().pad((left, right, top, bottom), mode).exp()));
        }
        let kernel = case("conv2d").input([3, 2, 2, 3], -0.5, 0.6);
        let options = || ConvOptions::new_with_padding([1, 2], pairs, [1, 1], 1);
        kernel.check(&|x| weigh(conv2d(x[0].clone(), x[1].clone(), None, options())));
        let kernel = case("conv1d").input([1, 3, 2, 2], -0.5, 0.6);
        kernel.check(&|x| {
            let (row, w) = (x[0].clone().reshape([n, 2, side * (side + 1)]), x[1].clone().reshape([3, 2, 2]));
            weigh(conv1d(row, w, None, ConvOptions::new_with_padding([2], [(left, right)], [1], 1)))
        });
        let largest = || MaxPoolOptions::new([3, 3]).with_padding_pairs(pairs);
        case("max_pool2d").check(&|x| weigh(max_pool2d(x[0].clone(), largest()).exp()));
        let mean = || AvgPoolOptions::new([3, 3]).with_padding_pairs(pairs).with_count_include_pad(false);
        case("avg_pool2d").check(&|x| weigh(avg_pool2d(x[0].clone(), mean()).exp()));
    }
}
