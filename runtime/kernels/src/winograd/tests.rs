//! Winograd's convolutions against the exact ones.

use burn_backend::TensorData;
use burn_flex::FlexTensor;
use proptest::prelude::*;

use super::*;
use crate::conv;
use crate::conv_grad;
use crate::conv_weight_grad;
use crate::im2col::Im2col;
use crate::scratch;
use crate::shape::{Conv2d, FilterRange};

/// Pseudo-random values in -1..1.
fn numbers(len: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
        .collect()
}

/// The largest difference, relative to the largest expected value.
fn error(found: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0f32, |most, v| most.max(v.abs()));
    let differences = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f32::max) / largest
}

/// The largest errors of the output and of the gradients of the input and the weight.
fn errors(
    x: [usize; 4],
    (filters, kernel): (usize, usize),
    padding: [usize; 2],
    groups: usize,
) -> [f32; 3] {
    let w_shape = [filters, x[1] / groups, kernel, kernel];
    let options = Conv2d {
        padding,
        groups,
        ..Conv2d::default()
    };
    let sizes = options.sizes(x, w_shape);
    let w = numbers(w_shape.iter().product(), 1);
    let x = numbers(x.iter().product(), 2);
    let grad = numbers(sizes.y_shape().iter().product(), 3);
    let bias = numbers(filters, 4);

    let lowering = Im2col::for_rows(&sizes);
    let y = output(&sizes, &x, &w, Some(&bias));
    let exact = conv::forward(&sizes, &lowering, &x, &w, Some(&bias));
    let output = error(&y, &exact);

    let dx = input_grad(&sizes, &w, &grad);
    let exact = conv_grad::input_grad(&sizes, &lowering, &w, &grad);
    let input = error(&dx, &exact);

    let (mut dw, mut exact) = (vec![0.0; w.len()], vec![0.0; w.len()]);
    let lowering = Im2col::for_dots(&sizes);
    for group in 0..groups {
        let filters = FilterRange {
            group,
            first: 0,
            count: sizes.filters,
        };
        let part = group * sizes.filters * sizes.taps()..(group + 1) * sizes.filters * sizes.taps();
        scratch::with(|scratch| {
            weight_grad(&sizes, filters, &x, &grad, scratch, &mut dw[part.clone()]);
            let exact = &mut exact[part];
            conv_weight_grad::weight_grad(&sizes, filters, &lowering, &x, &grad, scratch, exact);
        });
    }
    [output, input, error(&dw, &exact)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// The sizes are arbitrary: there are incomplete tiles, and channels that do not fill vectors.
    #[test]
    fn all_passes_agree_with_the_exact_ones(
        batch in 1..5usize, groups in 1..4usize, channels in 1..40usize, filters in 1..40usize,
        image in [1..19usize, 1..19usize], padding in [0..6usize, 0..6usize],
        kernel in prop_oneof![Just(3usize), Just(5)],
    ) {
        prop_assume!((0..2).all(|i| image[i] + 2 * padding[i] >= kernel));
        let x = [batch, groups * channels, image[0], image[1]];
        for error in errors(x, (groups * filters, kernel), padding, groups) {
            prop_assert!(error <= 1e-5, "{}", error);
        }
    }
}

/// Rounding errors grow with the number of channels and of tiles.
#[test]
fn errors_of_large_convolutions_are_small() {
    for (x, filters) in [
        // These use blocks of filters, of which the last one is smaller.
        ([3, 512, 4, 4], (64, 3)),
        ([1, 520, 4, 4], (520, 3)),
        ([2, 100, 9, 9], (300, 5)),
        // This has too many tiles for blocks, and more filters than are transformed at a time.
        ([1, 512, 68, 68], (300, 3)),
        ([2, 64, 32, 32], (64, 3)),
        ([9, 200, 7, 7], (40, 3)),
        ([4, 64, 14, 14], (256, 5)),
        ([2, 300, 9, 9], (40, 5)),
    ] {
        for error in errors(x, filters, [1, 1], 1) {
            assert!(error <= 1e-5, "{x:?}: {error}");
        }
    }
}

#[test]
fn exact_convolutions_are_computed_directly() {
    let (x_shape, w_shape) = ([10, 64, 16, 16], [64, 64, 3, 3]);
    let tensor = |shape: [usize; 4], seed| {
        FlexTensor::from_data(TensorData::new(
            numbers(shape.iter().product(), seed),
            shape,
        ))
    };
    let (x, w, grad) = (
        tensor(x_shape, 1),
        tensor(w_shape, 2),
        tensor([10, 64, 16, 16], 3),
    );
    let passes = [false, true].map(|exact| {
        let options = Conv2d {
            padding: [1, 1],
            exact,
            ..Conv2d::default()
        };
        [
            crate::conv2d(&x, &w, None, &options),
            crate::conv2d_input_grad(&w, &grad, x_shape, &options),
            crate::conv2d_weight_grad(&x, &grad, w_shape, &options),
        ]
    });
    let [fast, exact] = passes.map(|passes| passes.map(|t| t.storage::<f32>().to_vec()));
    let sizes = Conv2d {
        padding: [1, 1],
        ..Conv2d::default()
    };
    let sizes = sizes.sizes(x_shape, w_shape);
    let y = conv::forward(
        &sizes,
        &Im2col::for_rows(&sizes),
        x.storage(),
        w.storage(),
        None,
    );
    assert!(exact[0] == y);
    for (fast, exact) in fast.iter().zip(&exact) {
        let error = error(fast, exact);
        assert!(0.0 < error && error <= 1e-5, "{error}");
    }
}
