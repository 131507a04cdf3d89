//! Tests products of 16-bit floats on the CPU, which are `f32` products of rounded operands.

use burn::tensor::{bf16, f16};
use fedround_ir::Loc;
use fedround_ir::tensor::{Conv2d, DType, Graph, Op};
use fedround_passes::tensor::mixed_precision;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::passes::{inputs, one};

const SHORT: [DType; 2] = [DType::BF16, DType::F16];

/// The nearest 16-bit float, by another implementation than the tested one.
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
    crate::passes::run(graph, inputs).remove(0)
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
    #![proptest_config(ProptestConfig {
        cases: 32, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..Default::default()
    })]

    #[test]
    fn products_are_those_of_rounded_operands(
        numbers in prop::collection::vec(-4.0_f32..4.0, 256),
        from in 0_usize..256,
    ) {
        for graph in products() {
            let number = |k: usize, i: usize| numbers[(from + 31 * k + i) % numbers.len()];
            let inputs = inputs(&graph, number);
            let sizes: Vec<Vec<f32>> =
                inputs.iter().map(|x| x.iter().map(|x| x.abs()).collect()).collect();
            let (plain, sizes) = (run(&graph, &inputs), run(&graph, &sizes));
            for to in SHORT {
                let mixed = run(&mixed_precision(&graph, to).unwrap(), &inputs);
                // The bias is not an operand of the product, so it is not rounded.
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

/// Values cast there and back.
fn cast(to: DType, values: &[f32]) -> Vec<f32> {
    let mut g = one(Op::Cast(to), &[&[values.len()]]);
    let back = g.push(Op::Cast(DType::F32), &[g.outputs[0].1], Loc::caller());
    g.outputs[0].1 = back.unwrap();
    run(&g, &[values.to_vec()])
}

/// A narrow type has infinities where f32 has large numbers, and zeros where it has small ones.
#[test]
fn rounding_has_the_range_of_the_type() {
    let values = [1e5, 65504.0, 1e-8, 3e-5, 1.0 + 1.0 / 256.0, f32::NAN];
    let half = cast(DType::F16, &values);
    assert_eq!(half[..3], [f32::INFINITY, 65504.0, 0.0]);
    assert!((half[3] - 3e-5).abs() < 3e-8 && half[4] == values[4] && half[5].is_nan());
    let brain = cast(DType::BF16, &values);
    // A number halfway between 1 and 1 + 1/128 is rounded to even.
    assert!((brain[0] / 1e5 - 1.0).abs() < 4e-3 && brain[2] > 0.0 && brain[4] == 1.0);
}

#[test]
fn what_is_near_the_middle_of_two_numbers_goes_to_the_nearer() {
    let bits = |bits: u32| f32::from_bits(bits);
    let near = [0x406a_8002, 0x406a_7fff, 0x406a_8000, 0x406b_8000].map(bits);
    let expected = [0x406b_0000, 0x406a_0000, 0x406a_0000, 0x406c_0000].map(bits);
    assert_eq!(cast(DType::BF16, &near), expected);
    let (near, far) = (1.0 + 2.0_f32.powi(-11), 2.0_f32.powi(-23));
    let expected = [1.0, 1.0 + 2.0_f32.powi(-10)];
    assert_eq!(cast(DType::F16, &[near, near + far]), expected);
}
