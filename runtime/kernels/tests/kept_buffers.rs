//! Tests that the result of a kernel does not depend on the earlier values of a buffer from the pool.

use burn_backend::TensorData;
use burn_flex::FlexTensor;
use fedround_kernels::fused::{Binary, FusedProgram, Reductions, Step};
use fedround_kernels::{
    AvgPool2d, Conv2d, MaxPool2d, avg_pool2d, avg_pool2d_backward, buffers, conv2d,
    conv2d_input_grad, conv2d_weight_grad, matmul, max_pool2d, max_pool2d_backward,
};

fn tensor(shape: &[usize]) -> FlexTensor {
    let value = |i: usize| ((i * 7919) % 10_007) as f32 / 3e3 - 1.7;
    let values: Vec<f32> = (0..shape.iter().product()).map(value).collect();
    FlexTensor::from_data(TensorData::new(values, shape.to_vec()))
}

/// Runs a kernel with newly allocated buffers, and then with buffers full of NaNs.
fn check(what: &str, kernel: impl Fn() -> FlexTensor) {
    buffers::begin_run();
    let first = kernel();
    let shape = first.layout().shape().to_vec();
    let odd = vec![f32::NAN; shape.iter().product()];
    let odd = FlexTensor::from_data(TensorData::new(odd, shape));
    let place = odd.storage::<f32>().as_ptr();
    buffers::begin_run();
    buffers::keep(odd);
    let second = kernel();
    assert_eq!(
        second.storage::<f32>().as_ptr(),
        place,
        "{what}: new memory"
    );
    assert!(first.bytes() == second.bytes(), "{what}: other values");
}

#[test]
fn what_was_in_a_buffer_does_not_matter() {
    let padded = Conv2d {
        padding: [1, 1],
        ..Conv2d::default()
    };
    let strided = Conv2d {
        stride: [2, 2],
        ..padded
    };
    // These use Winograd's method in blocks and in bands, and products with plain and with transposed operands.
    let plain = Conv2d::default();
    for (name, options, [batch, channels, side], kernel) in [
        ("blocks", &padded, [4, 64, 10], 3),
        ("bands", &padded, [2, 32, 40], 3),
        ("rows", &padded, [8, 3, 30], 3),
        ("columns", &strided, [40, 8, 21], 3),
        ("pixels", &plain, [8, 48, 12], 1),
    ] {
        let x = tensor(&[batch, channels, side, side]);
        let w = [64, channels, kernel, kernel];
        let w_of = tensor(&w);
        let y = conv2d(&x, &w_of, None, options);
        check(name, || conv2d(&x, &w_of, None, options));
        let x_shape = [batch, channels, side, side];
        if x.storage::<f32>().len() >= 1 << 14 {
            check(name, || conv2d_input_grad(&w_of, &y, x_shape, options));
        }
        if w.iter().product::<usize>() >= 1 << 14 {
            check(name, || conv2d_weight_grad(&x, &y, w, options));
        }
    }

    let (a, b) = (tensor(&[32, 300]), tensor(&[300, 600]));
    check("a product", || matmul(&a, &b).unwrap());

    for side in [40, 41] {
        let (x, shape) = (tensor(&[4, 50, side, side]), [4, 50, side, side]);
        let most = MaxPool2d::default();
        let (y, at) = max_pool2d(&x, &most);
        check("a pool", || max_pool2d(&x, &most).0);
        check("its gradient", || max_pool2d_backward(&y, &at, shape));
        let mean = AvgPool2d {
            kernel: [2, 2],
            stride: [2, 2],
            padding: [0, 0],
            count_include_pad: true,
        };
        check("means", || avg_pool2d(&x, &mean));
        check("their gradient", || avg_pool2d_backward(&y, shape, &mean));
    }

    let steps = vec![
        Step::Operand(0),
        Step::Operand(1),
        Step::Binary(Binary::Mul, 0, 1),
    ];
    let sums = Reductions {
        leading: vec![2],
        ..Reductions::default()
    };
    let program = FusedProgram::with_reductions(steps, vec![2], sums).unwrap();
    let shape = [2, 20, 30, 30];
    let (x, channels) = (tensor(&shape), tensor(&[1, 20, 1, 1]));
    let run = || program.run(vec![x.clone(), channels.clone()], &shape);
    check("an output", || run().unwrap().outputs.remove(0));
    check("sums", || run().unwrap().leading_sums.remove(0));
}
