//! Tests pools against burn-flex's own operations.

use burn_backend::ops::{FloatTensorOps, ModuleOps};
use burn_backend::{IntDType, TensorData, TensorMetadata};
use burn_flex::{Flex, FlexTensor};
use fedround_kernels::{
    AvgPool2d, MaxPool2d, avg_pool2d, avg_pool2d_backward, max_pool2d, max_pool2d_backward,
};
use proptest::prelude::*;

use crate::against_burn::{close, tensor};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn max_pools_of_any_size(
        n in 1..3usize, c in 1..4usize, image in [1..40usize, 1..40usize], levels in 1..50u32,
        kernel in [1..5usize, 1..5usize], stride in [1..5usize, 1..5usize],
        padding in [0..3usize, 0..3usize], dilation in [1..3usize, 1..3usize],
    ) {
        let default = MaxPool2d::default();
        let x_shape = [n, c, image[0], image[1]];
        check_max_pool(x_shape, default, levels);
        check_max_pool(x_shape, MaxPool2d { kernel, stride, padding, dilation }, levels);
        check_max_pool(x_shape, MaxPool2d { kernel: image, ..default }, levels);
    }

    #[test]
    fn average_pools_of_any_size(
        n in 1..3usize, c in 1..4usize, image in [1..40usize, 1..40usize],
        kernel in [1..5usize, 1..5usize], stride in [1..5usize, 1..5usize],
        padding in [0..3usize, 0..3usize], count_include_pad: bool,
    ) {
        let x_shape = [n, c, image[0], image[1]];
        let none = [0, 0];
        check_average_pool(x_shape, AvgPool2d { kernel, stride, padding, count_include_pad });
        check_average_pool(
            x_shape,
            AvgPool2d { kernel: image, stride, padding: none, count_include_pad },
        );
    }
}

/// Whether there is a window in both directions: `reach` pixels from its first to its last. The kernels support all
/// pools that have one.
fn has_window(x_shape: [usize; 4], padding: [usize; 2], reach: [usize; 2]) -> bool {
    (0..2).all(|i| x_shape[2 + i] + 2 * padding[i] >= reach[i])
}

fn check_max_pool(x_shape: [usize; 4], options: MaxPool2d, levels: u32) {
    let reach = [0, 1].map(|i| options.dilation[i] * (options.kernel[i] - 1) + 1);
    let supported = has_window(x_shape, options.padding, reach);
    assert_eq!(
        options.supports(&x_shape),
        supported,
        "{options:?} of {x_shape:?}"
    );
    if !supported {
        return;
    }
    let MaxPool2d {
        kernel,
        stride,
        padding,
        dilation,
    } = options;
    // The tensor has few distinct values, so that maxima are tied.
    let values = tensor(&x_shape, 5);
    let values = values.storage::<f32>().iter();
    let values: Vec<f32> = values.map(|v| (v * levels as f32).round()).collect();
    let x = FlexTensor::from_data(TensorData::new(values, x_shape.to_vec()));
    let (values, indices) = max_pool2d(&x, &options);
    let kind = IntDType::I32;
    let burns =
        Flex::max_pool2d_with_indices(x.clone(), kernel, stride, padding, dilation, false, kind);
    assert_eq!(values.shape(), burns.output.shape());
    assert_eq!(values.storage::<f32>(), burns.output.storage::<f32>());
    assert_eq!(indices.storage::<i32>(), burns.indices.storage::<i32>());

    let grad = tensor(&values.shape(), 6);
    let ours = max_pool2d_backward(&grad, &indices, x_shape);
    let theirs = Flex::max_pool2d_with_indices_backward(
        x, kernel, stride, padding, dilation, false, grad, indices,
    );
    close(&ours, &theirs.x_grad, "max pool gradient");
}

fn check_average_pool(x_shape: [usize; 4], options: AvgPool2d) {
    let supported = has_window(x_shape, options.padding, options.kernel);
    assert_eq!(
        options.supports(&x_shape),
        supported,
        "{options:?} of {x_shape:?}"
    );
    if !supported {
        return;
    }
    let AvgPool2d {
        kernel,
        stride,
        padding,
        count_include_pad: include,
    } = options;
    let x = tensor(&x_shape, 5);
    let ours = avg_pool2d(&x, &options);
    let theirs = Flex::avg_pool2d(x.clone(), kernel, stride, padding, include, false);
    close(&ours, &theirs, "average pool");
    let grad = tensor(&ours.shape(), 6);
    let ours = avg_pool2d_backward(&grad, x_shape, &options);
    let theirs = Flex::avg_pool2d_backward(x, grad, kernel, stride, padding, include, false);
    close(&ours, &theirs, "average pool gradient");
}

#[test]
fn the_backward_pass_takes_the_indices_of_an_overlapping_pool() {
    let x = tensor(&[2, 3, 9, 8], 7);
    for kind in [IntDType::I32, IntDType::I64] {
        let burns =
            Flex::max_pool2d_with_indices(x.clone(), [3, 3], [2, 1], [1, 1], [1, 1], false, kind);
        let grad = tensor(&burns.output.shape(), 8);
        let ours = max_pool2d_backward(&grad, &burns.indices, [2, 3, 9, 8]);
        let theirs = Flex::max_pool2d_with_indices_backward(
            x.clone(),
            [3, 3],
            [2, 1],
            [1, 1],
            [1, 1],
            false,
            grad,
            burns.indices,
        );
        close(&ours, &theirs.x_grad, "pool gradient");
    }
}

#[test]
fn a_pool_treats_nan_and_infinity_as_burn_does() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let x = vec![nan, 1.0, 1.0, nan, 2.0, 3.0, -inf, 0.5];
    for first in [nan, -inf, -0.0] {
        let x = vec![first, nan, -inf, 0.0, -1.0, -0.0];
        let x = FlexTensor::from_data(TensorData::new(x, vec![1, 1, 2, 3]));
        let size = [2, 3];
        let whole = MaxPool2d {
            kernel: size,
            ..MaxPool2d::default()
        };
        let (value, index) = max_pool2d(&x, &whole);
        let burns =
            Flex::max_pool2d_with_indices(x, size, [2, 2], [0, 0], [1, 1], false, IntDType::I32);
        assert_eq!(index.storage::<i32>(), burns.indices.storage::<i32>());
        let bits = |t: &FlexTensor| t.storage::<f32>()[0].to_bits();
        assert_eq!(bits(&value), bits(&burns.output));
    }
    let x = FlexTensor::from_data(TensorData::new(x, vec![1, 1, 2, 4]));
    let (values, indices) = max_pool2d(&x, &MaxPool2d::default());
    let burns =
        Flex::max_pool2d_with_indices(x, [2, 2], [2, 2], [0, 0], [1, 1], false, IntDType::I32);
    assert_eq!(indices.storage::<i32>(), burns.indices.storage::<i32>());
    let bits =
        |t: &FlexTensor| -> Vec<u32> { t.storage::<f32>().iter().map(|v| v.to_bits()).collect() };
    assert_eq!(bits(&values), bits(&burns.output));
}

#[test]
fn pools_read_views_as_their_logical_values() {
    let copy = |t: &FlexTensor| FlexTensor::from_data(t.clone().into_data());
    let shape = vec![2, 3, 8, 9];
    let expanded = Flex::float_expand(tensor(&[2, 1, 8, 1], 2), shape.into());
    let flipped = Flex::float_flip(tensor(&[2, 3, 8, 9], 3), &[1, 3]);
    let transposed = tensor(&[2, 3, 9, 8], 1).transpose(2, 3);
    for x in [expanded, flipped, transposed] {
        let max = MaxPool2d {
            padding: [1, 0],
            ..MaxPool2d::default()
        };
        let average = AvgPool2d {
            kernel: [3, 2],
            stride: [1, 2],
            padding: [1, 0],
            count_include_pad: false,
        };
        let (values, at) = max_pool2d(&x, &max);
        let (expected, _) = max_pool2d(&copy(&x), &max);
        close(&values, &expected, "max");
        let means = avg_pool2d(&x, &average);
        close(&means, &avg_pool2d(&copy(&x), &average), "mean");
        // The input serves as the gradient of a larger pool's output.
        let window = AvgPool2d {
            kernel: [2, 2],
            stride: [1, 1],
            padding: [0, 0],
            ..average
        };
        let to = [2, 3, 9, 10];
        close(
            &avg_pool2d_backward(&x, to, &window),
            &avg_pool2d_backward(&copy(&x), to, &window),
            "gradient",
        );
        let grad = max_pool2d_backward(&values, &at, [2, 3, 8, 9]);
        assert_eq!(&grad.shape()[..], [2, 3, 8, 9]);
    }
}
