//! Tests convolutions whose filters are transformed in blocks or parts: the result of a filter does not depend on the others,
//! bit for bit.

use burn_backend::TensorData;
use burn_flex::FlexTensor;
use fedround_kernels::{Conv2d, conv2d, conv2d_input_grad, conv2d_weight_grad};

/// The numbers of filters and channels. With many tiles, all filters are transformed in two parts, and half of them in one.
const ALL: usize = 512;
const HALF: usize = ALL / 2;
const TAPS: usize = 9;

fn numbers(len: usize, seed: usize) -> Vec<f32> {
    let value = |i: usize| (((i + seed) * 7919) % 10_007) as f32 / 3e3 - 1.7;
    (0..len).map(value).collect()
}

fn tensor(values: Vec<f32>, [a, b]: [usize; 2], side: usize) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, [a, b, side, side]))
}

/// One half of each chunk of `len` values: the first for 0, the second for 1.
fn halves(values: &[f32], len: usize, half: usize) -> Vec<f32> {
    let parts = values
        .chunks(len)
        .flat_map(|all| all.chunks(len / 2).nth(half));
    parts.flatten().copied().collect()
}

#[test]
fn parts_of_the_filters_are_done_as_all_are() {
    // The first has few tiles, and is computed in blocks of filters. The second has many.
    for (batch, side) in [(40, 4), (1, 68)] {
        halves_are_done_as_all_are(batch, side);
    }
}

fn halves_are_done_as_all_are(batch: usize, side: usize) {
    let pixels = side * side;
    let options = Conv2d {
        padding: [1, 1],
        ..Conv2d::default()
    };
    let (x, g) = (
        numbers(batch * ALL * pixels, 1),
        numbers(batch * ALL * pixels, 2),
    );
    let w = numbers(ALL * ALL * TAPS, 3);
    let images = |values: &Vec<f32>| tensor(values.clone(), [batch, ALL], side);
    let weight = tensor(w.clone(), [ALL, ALL], 3);
    let (x_all, g_all) = (images(&x), images(&g));
    let y = conv2d(&x_all, &weight, None, &options);
    let dx = conv2d_input_grad(&weight, &g_all, [batch, ALL, side, side], &options);
    let dw = conv2d_weight_grad(&x_all, &g_all, [ALL, ALL, 3, 3], &options);
    let (y, dx, dw) = (y.storage::<f32>(), dx.storage::<f32>(), dw.storage::<f32>());
    for half in 0..2 {
        // These are half of the filters.
        let some = tensor(halves(&w, w.len(), half), [HALF, ALL], 3);
        let found = conv2d(&x_all, &some, None, &options);
        assert!(found.storage::<f32>() == halves(y, ALL * pixels, half));
        let some = tensor(halves(&g, ALL * pixels, half), [batch, HALF], side);
        let found = conv2d_weight_grad(&x_all, &some, [HALF, ALL, 3, 3], &options);
        assert!(found.storage::<f32>() == halves(dw, dw.len(), half));
        // These are half of the channels, which are the filters of the input gradient.
        let some = tensor(halves(&w, ALL * TAPS, half), [ALL, HALF], 3);
        let found = conv2d_input_grad(&some, &g_all, [batch, HALF, side, side], &options);
        assert!(found.storage::<f32>() == halves(dx, ALL * pixels, half));
    }
}
