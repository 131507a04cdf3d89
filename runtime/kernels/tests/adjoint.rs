//! Tests the convolution against its definition, and its gradients against the forward pass. A convolution is a bilinear map
//! `y = f(x, w)`, so `<f(x, w), g> = <x, f_x*(g)> = <w, f_w*(g)>` for every `g`.

use burn_backend::{TensorData, TensorMetadata};
use burn_flex::FlexTensor;
use fedround_kernels::{Conv2d, conv2d, conv2d_input_grad, conv2d_weight_grad};
use proptest::prelude::*;

fn tensor(shape: &[usize], seed: usize) -> FlexTensor {
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|i: usize| ((i * 7919 + seed * 104_729) % 1009) as f32 / 504.5 - 1.0)
        .collect();
    FlexTensor::from_data(TensorData::new(values, shape.to_vec()))
}

/// The inner product, and the sum of the absolute values of its terms.
fn dot(a: &FlexTensor, b: &FlexTensor) -> (f64, f64) {
    let terms = a.storage::<f32>().iter().zip(b.storage::<f32>());
    terms.fold((0.0, 1.0), |(sum, size), (a, b)| {
        let term = f64::from(*a) * f64::from(*b);
        (sum + term, size + term.abs())
    })
}

/// The convolution by its definition, one output at a time.
fn naive(x: &FlexTensor, w: &FlexTensor, o: &Conv2d, out: &[usize]) -> Vec<f64> {
    let (xs, ws) = (x.shape(), w.shape());
    let (xv, wv) = (x.storage::<f32>(), w.storage::<f32>());
    let mut y = Vec::new();
    for i in 0..out.iter().product() {
        let (n, f) = (
            i / (out[1] * out[2] * out[3]),
            i / (out[2] * out[3]) % out[1],
        );
        let (py, px) = (i / out[3] % out[2], i % out[3]);
        let mut sum = 0.0;
        for tap in 0..ws[1] * ws[2] * ws[3] {
            let (c, ky, kx) = (tap / (ws[2] * ws[3]), tap / ws[3] % ws[2], tap % ws[3]);
            let (iy, ix) = (py * o.stride[0] + ky, px * o.stride[1] + kx);
            let inside = (o.padding[0]..xs[2] + o.padding[0]).contains(&iy)
                && (o.padding[1]..xs[3] + o.padding[1]).contains(&ix);
            if inside {
                let (iy, ix) = (iy - o.padding[0], ix - o.padding[1]);
                let pixel = xv[((n * xs[1] + c) * xs[2] + iy) * xs[3] + ix];
                sum += f64::from(pixel) * f64::from(wv[f * ws[1] * ws[2] * ws[3] + tap]);
            }
        }
        y.push(sum);
    }
    y
}

proptest! {
    #[test]
    fn gradients_are_adjoints_of_the_definition(
        batch in 1..4usize, channels in 1..40usize, filters in 1..12usize,
        image in [1..12usize, 1..12usize], kernel in [1..5usize, 1..5usize],
        stride in [1..3usize, 1..3usize], padding in [0..3usize, 0..3usize],
    ) {
        let options = Conv2d { stride, padding, ..Conv2d::default() };
        let x_shape = [batch, channels, image[0], image[1]];
        let w_shape = [filters, channels, kernel[0], kernel[1]];
        prop_assume!(options.supports(&x_shape, &w_shape));
        let (x, w) = (tensor(&x_shape, 1), tensor(&w_shape, 2));
        let y = conv2d(&x, &w, None, &options);
        for (ours, exact) in y.storage::<f32>().iter().zip(naive(&x, &w, &options, &y.shape())) {
            prop_assert!((f64::from(*ours) - exact).abs() <= 1e-4 * exact.abs().max(1.0));
        }
        let g = tensor(&y.shape(), 3);
        let (forward, size) = dot(&y, &g);
        let (input, _) = dot(&x, &conv2d_input_grad(&w, &g, x_shape, &options));
        let (weight, _) = dot(&w, &conv2d_weight_grad(&x, &g, w_shape, &options));
        prop_assert!((forward - input).abs() <= 1e-5 * size, "{} {}", forward, input);
        prop_assert!((forward - weight).abs() <= 1e-5 * size, "{} {}", forward, weight);
    }
}
