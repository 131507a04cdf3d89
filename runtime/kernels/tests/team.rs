//! Tests that results do not depend on the number of helper threads.

use std::sync::Arc;

use burn_backend::TensorData;
use burn_flex::FlexTensor;
use fedround_kernels::{
    Conv2d, conv2d, conv2d_input_grad, conv2d_weight_grad, matmul, matmul_update, team,
};
use rayon::{ThreadPool, ThreadPoolBuilder};

fn helpers(count: usize) -> Vec<Arc<ThreadPool>> {
    let pool = || ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    (0..count).map(|_| Arc::new(pool())).collect()
}

/// Values of very different magnitudes, whose sums depend on the order of addition.
fn tensor(shape: &[usize]) -> FlexTensor {
    let value = |i: usize| ((i * 7919) % 10_007) as f32 / 3e3 - 1.7;
    let values: Vec<f32> = (0..shape.iter().product()).map(value).collect();
    FlexTensor::from_data(TensorData::new(values, shape.to_vec()))
}

/// Asserts that `f` gives the same bits on one thread and with 1, 2 and 4 helpers.
fn same(what: &str, f: impl Fn() -> FlexTensor) {
    let alone = f().storage::<f32>().to_vec();
    for count in [1, 2, 4] {
        let helped = team::with_helpers(&helpers(count), &f);
        assert!(
            alone == helped.storage::<f32>(),
            "{what} with {count} helpers"
        );
    }
}

/// Each of these convolutions is large enough to be shared.
#[test]
fn convolutions_have_the_same_bits() {
    for (x_shape, w_shape, stride, padding, groups) in [
        ([9, 32, 12, 12], [64, 32, 5, 5], 1, 0, 1),
        ([21, 1, 28, 28], [32, 1, 5, 5], 1, 0, 1),
        ([5, 40, 16, 16], [72, 40, 3, 3], 1, 1, 1),
        ([6, 48, 33, 33], [40, 48, 3, 3], 2, 1, 1),
        ([30, 24, 20, 20], [36, 8, 3, 3], 1, 1, 3),
        // It has few weights, so the threads share its images for the weight gradient.
        ([35, 16, 16, 16], [32, 16, 4, 4], 2, 1, 1),
        // It is computed by Winograd's method.
        ([7, 96, 22, 22], [72, 96, 3, 3], 1, 1, 1),
        ([9, 160, 16, 16], [144, 80, 3, 3], 1, 1, 2),
        ([6, 200, 8, 8], [240, 100, 3, 3], 1, 1, 2),
    ] {
        let options = Conv2d {
            stride: [stride; 2],
            padding: [padding; 2],
            groups,
            ..Conv2d::default()
        };
        let (x, w, bias) = (tensor(&x_shape), tensor(&w_shape), tensor(&w_shape[..1]));
        let y = conv2d(&x, &w, Some(&bias), &options);
        let grad = y.clone();
        let what = |pass| format!("{pass} of {x_shape:?} and {w_shape:?}");
        same(&what("forward"), || conv2d(&x, &w, Some(&bias), &options));
        same(&what("input gradient"), || {
            conv2d_input_grad(&w, &grad, x_shape, &options)
        });
        same(&what("weight gradient"), || {
            conv2d_weight_grad(&x, &grad, w_shape, &options)
        });
    }
}

#[test]
fn products_have_the_same_bits() {
    for [m, k, n] in [
        [20, 1024, 512],
        [61, 517, 300],
        [128, 300, 280],
        // The threads share its columns. With four helpers, the last part has fewer columns than a vector has lanes.
        [32, 900, 1030],
        [45, 260, 1030],
    ] {
        let (x, w, g) = (tensor(&[m, k]), tensor(&[k, n]), tensor(&[m, n]));
        let what = |pass| format!("{pass} of {m} by {k} by {n}");
        same(&what("forward"), || matmul(&x, &w).unwrap());
        same(&what("input gradient"), || {
            matmul(&g, &w.transpose(0, 1)).unwrap()
        });
        same(&what("update"), || {
            matmul_update(w.clone(), -0.1, &x.transpose(0, 1), &g)
        });
        same(&what("update in place"), || {
            matmul_update(tensor(&[k, n]), -0.1, &x.transpose(0, 1), &g)
        });
    }
}

#[test]
fn helpers_are_given_back() {
    let pools = helpers(2);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        team::with_helpers(&pools, || panic!("in a kernel"));
    }));
    assert!(panic.is_err());
    team::with_helpers(&pools, || assert_eq!(Arc::strong_count(&pools[0]), 2));
    assert_eq!(Arc::strong_count(&pools[0]), 1);
}
