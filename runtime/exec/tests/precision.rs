//! Products of 16-bit floats on the CPU: those of f32 on rounded operands.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

use burn::tensor::{Device, DispatchTensor, Shape, TensorData, bf16, f16};
use burn_backend::ops::FloatTensorOps;
use burn_backend::read_sync;
use burn_dispatch::Dispatch;
use fedround_exec::plan::Plan;
use fedround_exec::run::Slots;
use fedround_ir::Loc;
use fedround_ir::tensor::{Conv2d, DType, Graph, Op, TensorType};
use fedround_passes::tensor::mixed_precision;
use proptest::prelude::*;

const SHORT: [DType; 2] = [DType::BF16, DType::F16];

/// What is nearest, by another implementation than the one under test.
fn rounded(x: f32, to: DType) -> f32 {
    match to {
        DType::BF16 => bf16::from_f32(x).to_f32(),
        _ => f16::from_f32(x).to_f32(),
    }
}

/// The largest relative error of rounding.
fn unit(of: DType) -> f32 {
    match of {
        DType::BF16 => 2.0_f32.powi(-8),
        _ => 2.0_f32.powi(-11),
    }
}

fn run(graph: &Graph, inputs: &[Vec<f32>]) -> Vec<f32> {
    let device = Device::default();
    let device = device.as_dispatch();
    let tensor = |((_, v), x): (&(String, _), &Vec<f32>)| -> DispatchTensor {
        let shape = Shape::from(graph.shape(*v).to_vec());
        Dispatch::float_from_data(TensorData::new(x.clone(), shape), device)
    };
    let inputs: Vec<_> = graph.inputs.iter().zip(inputs).map(tensor).collect();
    let outputs = Plan::new(graph).run(device, inputs, &mut Slots::default());
    let output = outputs.unwrap().remove(0);
    read_sync(Dispatch::float_into_data(output))
        .unwrap()
        .try_to_vec()
        .unwrap()
}

/// A graph of one op on inputs of the given shapes.
fn one(op: Op, shapes: &[&[usize]]) -> Graph {
    let mut g = Graph::default();
    let ins: Vec<_> = ('a'..)
        .zip(shapes)
        .map(|(name, shape)| g.input(name, TensorType::f32(shape.to_vec())))
        .collect();
    let y = g.push(op, &ins, Loc::caller()).unwrap();
    g.outputs.push(("y".into(), y));
    g
}

/// Matrix products, a convolution with a bias, and its gradients.
fn products() -> Vec<Graph> {
    let conv = Conv2d {
        stride: [1, 1],
        padding: [1, 1],
        dilation: [1, 1],
        groups: 1,
    };
    let (x, w, y): ([usize; 4], [usize; 4], [usize; 4]) =
        ([2, 3, 5, 5], [4, 3, 3, 3], [2, 4, 5, 5]);
    vec![
        one(Op::MatMul, &[&[5, 7], &[7, 3]]),
        one(Op::MatMul, &[&[2, 5, 7], &[2, 7, 3]]),
        one(Op::Conv2d(conv), &[&x, &w, &[4]]),
        one(Op::Conv2dInputGrad(conv, x.to_vec()), &[&w, &y]),
        one(Op::Conv2dWeightGrad(conv, w.to_vec()), &[&x, &y]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn products_are_those_of_rounded_operands(
        numbers in prop::collection::vec(-4.0_f32..4.0, 256),
        from in 0_usize..256,
    ) {
        for graph in products() {
            let values = |(i, (_, v)): (usize, &(String, _))| -> Vec<f32> {
                let number = |j: usize| numbers[(from + 31 * i + j) % numbers.len()];
                (0..graph.type_of(*v).len()).map(number).collect()
            };
            let inputs: Vec<Vec<f32>> = graph.inputs.iter().enumerate().map(values).collect();
            let sizes: Vec<Vec<f32>> =
                inputs.iter().map(|x| x.iter().map(|x| x.abs()).collect()).collect();
            let (plain, sizes) = (run(&graph, &inputs), run(&graph, &sizes));
            for to in SHORT {
                let mixed = run(&mixed_precision(&graph, to).unwrap(), &inputs);
                // The bias is no factor.
                let mut short = inputs.clone();
                for x in short[..2].iter_mut().flatten() {
                    *x = rounded(*x, to);
                }
                prop_assert_eq!(&mixed, &run(&graph, &short));
                for ((x, y), size) in mixed.iter().zip(&plain).zip(&sizes) {
                    let bound = 2.1 * unit(to) * size + 1e-4;
                    prop_assert!((x - y).abs() <= bound, "{x} and {y} in {to:?}");
                }
            }
        }
    }
}

/// A narrow type has infinities where f32 has large numbers, and zeros where it has small ones.
#[test]
fn rounding_has_the_range_of_the_type() {
    let inputs = [vec![1e5, 65504.0, 1e-8, 3e-5, 1.0 + 1.0 / 256.0, f32::NAN]];
    let round = |to: DType| {
        let mut g = one(Op::Cast(to), &[&[6]]);
        let back = g.push(Op::Cast(DType::F32), &[g.outputs[0].1], Loc::caller());
        g.outputs[0].1 = back.unwrap();
        run(&g, &inputs)
    };
    let half = round(DType::F16);
    assert_eq!(half[..3], [f32::INFINITY, 65504.0, 0.0]);
    assert!((half[3] - 3e-5).abs() < 3e-8 && half[4] == inputs[0][4] && half[5].is_nan());
    let brain = round(DType::BF16);
    // Halfway between 1 and 1 + 1/128: to even.
    assert!((brain[0] / 1e5 - 1.0).abs() < 4e-3 && brain[2] > 0.0 && brain[4] == 1.0);
}
