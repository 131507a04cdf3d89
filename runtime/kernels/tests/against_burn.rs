//! Tests convolutions against burn-flex's own operations, and the shapes that the kernels do not support.

use burn_backend::ops::{ConvOptions, ModuleOps};
use burn_backend::{Shape, TensorData, TensorMetadata};
use burn_flex::{Flex, FlexTensor};
use fedround_kernels::{
    AvgPool2d, Conv2d, MaxPool2d, conv2d, conv2d_input_grad, conv2d_weight_grad,
    max_pool2d_backward,
};
use proptest::prelude::*;

/// Pseudo-random values in -1..1.
pub fn tensor(shape: &[usize], seed: u64) -> FlexTensor {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
        .collect();
    FlexTensor::from_data(TensorData::new(values, shape.to_vec()))
}

/// Asserts equality up to `1e-4` of the largest value.
pub fn close(ours: &FlexTensor, burns: &FlexTensor, what: &str) {
    assert_eq!(ours.shape(), burns.shape(), "{what}");
    let burns = burns.to_contiguous();
    let (a, b) = (ours.storage::<f32>(), burns.storage::<f32>());
    let scale = b.iter().fold(1.0f32, |m, v| m.max(v.abs()));
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= 1e-4 * scale, "{what}[{i}]: {a} and {b}");
    }
}

fn check(x_shape: [usize; 4], w_shape: [usize; 4], options: Conv2d) {
    assert!(options.supports(&x_shape, &w_shape));
    let x = tensor(&x_shape, 1);
    let w = tensor(&w_shape, 2);
    let bias = tensor(&[w_shape[0]], 3);
    let burn = ConvOptions::new(
        options.stride,
        options.padding,
        options.dilation,
        options.groups,
    );
    let ours = conv2d(&x, &w, Some(&bias), &options);
    let theirs = Flex::conv2d(x.clone(), w.clone(), Some(bias.clone()), burn.clone());
    close(&ours, &theirs, "output");
    let unbiased = conv2d(&x, &w, None, &options);
    let theirs = Flex::conv2d(x.clone(), w.clone(), None, burn.clone());
    close(&unbiased, &theirs, "output without bias");

    let y_shape: Vec<usize> = ours.shape().to_vec();
    let grad = tensor(&y_shape, 4);
    close(
        &conv2d_input_grad(&w, &grad, x_shape, &options),
        &Flex::conv2d_x_backward(x.clone(), w.clone(), grad.clone(), burn.clone()),
        "input gradient",
    );
    close(
        &conv2d_weight_grad(&x, &grad, w_shape, &options),
        &Flex::conv2d_weight_backward(x, w, grad, burn),
        "weight gradient",
    );
}

#[test]
fn convolutions_of_the_benchmark_models() {
    for (x, w) in [
        ([3, 1, 28, 28], [32, 1, 5, 5]),
        ([3, 32, 12, 12], [64, 32, 5, 5]),
        ([3, 3, 32, 32], [6, 3, 5, 5]),
        ([3, 6, 14, 14], [16, 6, 5, 5]),
        ([3, 3, 32, 32], [32, 3, 3, 3]),
        ([2, 32, 30, 30], [64, 32, 3, 3]),
        ([1, 70, 9, 9], [9, 70, 3, 3]),
        ([70, 1, 28, 28], [32, 1, 5, 5]),
        ([40, 32, 6, 6], [5, 32, 3, 3]),
        ([2, 5, 7, 6], [7, 5, 1, 1]),
        ([3, 20, 8, 8], [27, 20, 1, 1]),
    ] {
        check(x, w, Conv2d::default());
        check(
            x,
            w,
            Conv2d {
                padding: [1, 2],
                ..Conv2d::default()
            },
        );
        check(
            x,
            w,
            Conv2d {
                stride: [2, 2],
                padding: [2, 1],
                ..Conv2d::default()
            },
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn convolutions_of_any_size(
        batch in 1..4usize, channels in 1..11usize, filters in 1..19usize,
        image in [1..20usize, 1..40usize], kernel in [1..6usize, 1..6usize],
        stride in [1..4usize, 1..4usize], padding in [0..4usize, 0..4usize],
    ) {
        let options = Conv2d { stride, padding, ..Conv2d::default() };
        let x = [batch, channels, image[0], image[1]];
        let w = [filters, channels, kernel[0], kernel[1]];
        prop_assume!(options.supports(&x, &w));
        check(x, w, options);
    }

    #[test]
    fn convolutions_with_groups_and_dilation(
        batch in 1..5usize, groups in 1..6usize, channels in 1..6usize, filters in 1..6usize,
        image in [1..14usize, 1..20usize], kernel in [1..4usize, 1..4usize],
        stride in [1..3usize, 1..3usize], padding in [0..3usize, 0..3usize],
        dilation in [1..4usize, 1..4usize],
    ) {
        let options = Conv2d { stride, padding, dilation, groups, ..Conv2d::default() };
        let x = [batch, groups * channels, image[0], image[1]];
        let w = [groups * filters, channels, kernel[0], kernel[1]];
        prop_assume!(options.supports(&x, &w));
        check(x, w, options);
    }

    #[test]
    fn wide_groups(
        batch in 1..5usize, groups in 1..4usize, channels in 32..50usize, filters in 1..10usize,
        image in 4..9usize, stride in 1..3usize, dilation in [1..3usize, 1..3usize],
    ) {
        let options = Conv2d { stride: [stride; 2], padding: [1, 1], dilation, groups, ..Conv2d::default() };
        let x = [batch, groups * channels, image, image];
        check(x, [groups * filters, channels, 3, 3], options);
    }

    #[test]
    fn convolutions_of_many_channels(
        batch in 1..9usize, channels in 20..80usize, filters in 1..19usize,
        image in [3..12usize, 3..12usize], kernel in [1..4usize, 2..6usize],
        stride in [1..3usize, 1..3usize], padding in [0..2usize, 0..2usize],
    ) {
        let options = Conv2d { stride, padding, ..Conv2d::default() };
        let x = [batch, channels, image[0], image[1]];
        let w = [filters, channels, kernel[0], kernel[1]];
        prop_assume!(options.supports(&x, &w));
        check(x, w, options);
    }
}

#[test]
fn views_are_read_as_their_logical_values() {
    let (x_shape, w_shape) = ([2, 3, 8, 9], [4, 3, 3, 3]);
    let wide = tensor(&[2, 3, 9, 8], 9).transpose(2, 3);
    let w = tensor(&[4, 5, 3, 3], 10).narrow(1, 1, 3);
    let options = Conv2d::default();
    let copy = |t: &FlexTensor| FlexTensor::from_data(t.clone().into_data());
    let ours = conv2d(&wide, &w, None, &options);
    close(
        &ours,
        &conv2d(&copy(&wide), &copy(&w), None, &options),
        "views",
    );
    let grad = tensor(&[2, 4, 7, 6], 11).transpose(2, 3);
    let grad = grad.narrow(2, 0, 6);
    close(
        &conv2d_weight_grad(&wide, &grad, w_shape, &options),
        &conv2d_weight_grad(&copy(&wide), &copy(&grad), w_shape, &options),
        "views",
    );
    close(
        &conv2d_input_grad(&w, &grad, x_shape, &options),
        &conv2d_input_grad(&copy(&w), &copy(&grad), x_shape, &options),
        "views",
    );
}

#[test]
fn what_the_kernels_cannot_run_is_refused() {
    let (x, w) = ([2, 4, 8, 8], [6, 4, 3, 3]);
    let plain = Conv2d::default();
    assert!(plain.supports(&x, &w));
    assert!(!plain.supports(&x, &[6, 2, 3, 3]));
    assert!(!plain.supports(&x, &[6, 4, 9, 3]));
    assert!(!plain.supports(&[0, 4, 8, 8], &w));
    assert!(!plain.supports(&[4, 8, 8], &w));
    let grouped = Conv2d { groups: 2, ..plain };
    assert!(grouped.supports(&x, &[6, 2, 3, 3]));
    assert!(!grouped.supports(&x, &w) && !grouped.supports(&x, &[5, 2, 3, 3]));
    let dilated = |dilation| Conv2d { dilation, ..plain };
    assert!(dilated([3, 3]).supports(&x, &w) && !dilated([4, 3]).supports(&x, &w));
    assert!(!dilated([0, 1]).supports(&x, &w));
    // A copy of the image for each pair of offsets below such a stride would not fit in memory.
    let strided = |stride| Conv2d { stride, ..plain };
    assert!(strided([8, 8]).supports(&x, &w));
    assert!(!strided([9, 8]).supports(&x, &w) && !strided([8, 9]).supports(&x, &w));
    assert!(!strided([1 << 20; 2]).supports(&x, &w));
    let padded = Conv2d {
        padding: [1, 0],
        ..strided([10, 8])
    };
    assert!(padded.supports(&x, &w));
    let pool = MaxPool2d::default();
    assert!(pool.supports(&x) && !pool.supports(&[2, 4, 1, 8]) && !pool.supports(&[2, 0, 8, 8]));
    let still = MaxPool2d {
        stride: [0, 1],
        ..pool
    };
    assert!(!still.supports(&x));
}

#[test]
fn shapes_follow_the_options() {
    let options = Conv2d {
        stride: [2, 1],
        padding: [1, 0],
        ..Conv2d::default()
    };
    let y = conv2d(
        &tensor(&[1, 2, 7, 9], 1),
        &tensor(&[3, 2, 3, 4], 2),
        None,
        &options,
    );
    assert_eq!(y.shape(), Shape::from(vec![1, 3, 4, 6]));
}

#[test]
fn empty_tensors_are_refused_or_stay_empty() {
    let none = [0, 3, 8, 8];
    let mean = AvgPool2d {
        kernel: [2, 2],
        stride: [2, 2],
        padding: [0, 0],
        count_include_pad: true,
    };
    assert!(!mean.supports(&none) && !mean.supports(&[2, 3, 1, 8]) && !mean.supports(&[3, 8, 8]));
    assert!(!MaxPool2d::default().supports(&none));
    let indices = FlexTensor::from_data(TensorData::new(Vec::<i32>::new(), [0, 3, 4, 4]));
    let grad = max_pool2d_backward(&tensor(&[0, 3, 4, 4], 1), &indices, none);
    assert_eq!(&grad.shape()[..], none);
}
