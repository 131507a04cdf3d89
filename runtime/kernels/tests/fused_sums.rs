//! Tests sums over some of the dimensions of a program's values, and large programs, which threads share.

use std::sync::Arc;

use burn_backend::TensorData;
use burn_flex::FlexTensor;
use fedround_kernels::fused::{Binary, FusedProgram, Reductions, Results, Step, Unary};
use fedround_kernels::team;
use rayon::ThreadPoolBuilder;

fn numbers(len: usize, seed: usize) -> Vec<f32> {
    let value = |i: usize| ((i * 7919 + seed * 104_729) % 10_007) as f32 / 3e3 - 1.7;
    (0..len).map(value).collect()
}

fn tensor(values: &[f32], shape: &[usize]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values.to_vec(), shape.to_vec()))
}

#[test]
fn sums_over_images_of_an_operand_that_is_replaced() {
    let steps = vec![Step::Operand(0), Step::Unary(Unary::Neg, 0)];
    let reductions = Reductions {
        leading: vec![0, 1],
        ..Reductions::default()
    };
    let program = FusedProgram::with_reductions(steps, vec![1], reductions).unwrap();
    let x = numbers(3 * 700, 5);
    let results = program.run(vec![tensor(&x, &[3, 7, 100])], &[3, 7, 100]);
    let results = results.unwrap();
    let [of_x, of_y] = [0, 1].map(|i| results.leading_sums[i].storage::<f32>().to_vec());
    for i in 0..700 {
        let sum = x[i] + x[700 + i] + x[1400 + i];
        assert_eq!([of_x[i], of_y[i]], [sum, -sum]);
    }
    assert_eq!(results.outputs[0].storage::<f32>()[8], -x[8]);
}

/// Gives `y = 2 c x`, and the sums of `y`, `y x` and `x` over all but the second dimension.
fn scaled(shape: &[usize], x: &[f32], c: &[f32]) -> Results {
    let steps = vec![
        Step::Operand(0),
        Step::Operand(1),
        Step::Constant(2.0),
        Step::Binary(Binary::Mul, 1, 2),
        Step::Binary(Binary::Mul, 0, 3),
        Step::Binary(Binary::Mul, 4, 0),
    ];
    let reductions = Reductions {
        all: vec![4],
        channels: vec![4, 5, 0],
        ..Reductions::default()
    };
    let program = FusedProgram::with_reductions(steps, vec![4], reductions).unwrap();
    let mut channels = vec![1; shape.len()];
    channels[1] = shape[1];
    let operands = vec![tensor(x, shape), tensor(c, &channels)];
    program.run(operands, shape).unwrap()
}

#[test]
fn sums_of_channels() {
    // The shapes have planes of few pixels, of many pixels, of several blocks and of one pixel, and many parts.
    for shape in [
        &[3, 4, 5, 5][..],
        &[2, 3, 14, 14],
        &[2, 2, 40, 50],
        &[9, 6],
        &[20, 16, 32, 32],
        &[0, 3, 2],
    ] {
        let len: usize = shape.iter().product();
        let (channels, pixels) = (shape[1], shape[2..].iter().product::<usize>());
        let (x, c) = (numbers(len, 1), numbers(channels, 2));
        let results = scaled(shape, &x, &c);
        let channel = |i: usize| i / pixels % channels;
        let y: Vec<f32> = (0..len).map(|i| x[i] * (c[channel(i)] * 2.0)).collect();
        assert_eq!(results.outputs[0].storage::<f32>(), y);
        let mut expected = vec![[(0.0f64, 0.0); 3]; channels];
        for i in 0..len {
            let (x, y) = (f64::from(x[i]), f64::from(y[i]));
            for (sum, term) in expected[channel(i)].iter_mut().zip([y, y * x, x]) {
                *sum = (sum.0 + term, sum.1 + term.abs());
            }
        }
        for (k, sums) in results.channel_sums.iter().enumerate() {
            let found = sums.layout().shape();
            assert_eq!((found[1], found.num_elements()), (channels, channels));
            for (sum, expected) in sums.storage::<f32>().iter().zip(&expected) {
                let (exact, size) = expected[k];
                let error = (f64::from(*sum) - exact).abs();
                assert!(error <= 1e-6 * size, "{shape:?}: {sum} and {exact}");
            }
        }
    }
}

/// Without these sums, the update would be one loop. That loop does not support them.
#[test]
fn an_update_with_sums_of_channels() {
    let shape = [2, 3, 4];
    let steps = vec![
        Step::Operand(0),
        Step::Operand(1),
        Step::Constant(0.5),
        Step::Binary(Binary::Mul, 1, 2),
        Step::Binary(Binary::Sub, 0, 3),
    ];
    let reductions = Reductions {
        channels: vec![4],
        ..Reductions::default()
    };
    let program = FusedProgram::with_reductions(steps, vec![4], reductions).unwrap();
    let ones = vec![1.0; 24];
    let operands = vec![tensor(&ones, &shape), tensor(&ones, &shape)];
    let results = program.run(operands, &shape).unwrap();
    assert_eq!(results.outputs[0].storage::<f32>(), [0.5; 24]);
    assert_eq!(results.channel_sums[0].storage::<f32>(), [4.0; 3]);
}

#[test]
fn a_program_that_threads_share_has_the_same_bits() {
    let shape = [20, 16, 32, 32];
    let (x, c) = (numbers(shape.iter().product(), 1), numbers(16, 2));
    let alone = scaled(&shape, &x, &c);
    let helper = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let helped = team::with_helpers(&[Arc::new(helper)], || scaled(&shape, &x, &c));
    let bits = |results: &Results| {
        let tensors = results.outputs.iter().chain(&results.channel_sums);
        let tensors = tensors.flat_map(|t| t.storage::<f32>());
        let all = tensors.chain(&results.sums).map(|v| v.to_bits());
        all.collect::<Vec<u32>>()
    };
    assert!(bits(&alone) == bits(&helped));
}
