//! Gradients of functions that move, concatenate, sum and order elements.

use burn::tensor::Tensor;
use burn::tensor::s;
use proptest::prelude::*;

use crate::gradients::case::{Case, Unary, check_all, check_all_by_differences, few_cases, weigh};

const MOVES: &[Unary] = &[
    ("permute", |x| weigh(x.permute([2, 0, 3, 1])), -1.0, 1.1),
    ("swap_dims", |x| weigh(x.swap_dims(1, 3)), -1.0, 1.1),
    ("flatten", |x| weigh(x.flatten::<2>(1, 3).exp()), -1.0, 1.1),
    (
        "unsqueeze",
        |x| weigh(x.unsqueeze_dim::<5>(2).exp()),
        -1.0,
        1.1,
    ),
    ("flip", |x| weigh(x.flip([1, 3])), -1.0, 1.1),
    ("slice", |x| weigh(x.slice([0..1, 1..2]).exp()), -1.0, 1.1),
    (
        "slice from the end",
        |x| weigh(x.slice(s![.., -1.., ..-1, ..]).exp()),
        -1.0,
        1.1,
    ),
    ("narrow", |x| weigh(x.narrow(2, 1, 1)), -1.0, 1.1),
    (
        "expand",
        |x| weigh(x.exp().sum_dim(0).expand([3, -1, -1, -1]).exp()),
        -1.0,
        0.1,
    ),
    (
        "expand to a new rank",
        |x| weigh(x.expand([2, -1, -1, -1, -1])),
        -1.0,
        1.1,
    ),
    (
        "stack",
        |x| weigh(Tensor::stack::<5>(vec![x.clone().exp(), x], 2)),
        -1.0,
        1.1,
    ),
    (
        "chunk",
        |x| {
            x.chunk(2, 1)
                .into_iter()
                .map(|c| weigh(c.exp()).exp())
                .reduce(|a, b| a + b)
                .unwrap()
        },
        -1.0,
        0.1,
    ),
    ("roll", |x| weigh(x.roll_dim(1, 1)), -1.0, 1.1),
];

/// burn-autodiff sums the gradient of a repeated dimension of more than one element in the wrong
/// order.
const REPETITIONS: &[Unary] = &[
    ("repeat_dim", |x| weigh(x.repeat_dim(2, 3)), -1.0, 1.1),
    (
        "repeat",
        |x| weigh(x.repeat(&[1, 2, 1, 3]).sin()),
        -1.0,
        1.1,
    ),
];

const REDUCTIONS: &[Unary] = &[
    ("sum", |x| x.exp().sum().log(), -1.0, 1.1),
    ("mean", |x| x.exp().mean(), -1.0, 1.1),
    ("sum_dim", |x| weigh(x.exp().sum_dim(2)), -1.0, 1.1),
    ("sum_dims", |x| weigh(x.exp().sum_dims(&[0, 2])), -1.0, 1.1),
    ("mean_dim", |x| weigh(x.exp().mean_dim(1)), -1.0, 1.1),
    ("var", |x| weigh(x.exp().var(1)), -1.0, 1.1),
    ("var_bias", |x| weigh(x.exp().var_bias(3)), -1.0, 1.1),
    ("cumsum", |x| weigh(x.cumsum(1).sin()), -1.0, 1.1),
    (
        "cumsum of the last",
        |x| weigh(x.cumsum(3).sin()),
        -1.0,
        1.1,
    ),
    (
        "max",
        |x| weigh(x.clone().max().exp()) + weigh(x),
        -1.0,
        1.1,
    ),
    (
        "min",
        |x| weigh(x.clone().min().exp()) + weigh(x),
        -1.0,
        1.1,
    ),
    ("max_dim", |x| weigh(x.max_dim(3).exp()), -1.0, 1.1),
    ("min_dim", |x| weigh(x.min_dim(1).exp()), -1.0, 1.1),
    (
        "max_dim_with_indices",
        |x| weigh(x.max_dim_with_indices(1).0.exp()),
        -1.0,
        1.1,
    ),
    (
        "min_dim_with_indices",
        |x| weigh(x.min_dim_with_indices(0).0.exp()),
        -1.0,
        1.1,
    ),
];

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn moves(n in 1usize..4, c in 2usize..4, h in 2usize..5, w in 1usize..5, seed in 0u32..1000) {
        check_all(MOVES, [n, c, h, w], seed);
    }

    #[test]
    fn repetitions(n in 1usize..4, c in 1usize..3, h in 1usize..4, w in 1usize..3, seed in 0u32..1000) {
        check_all_by_differences(REPETITIONS, [n, c, h, w], seed);
    }

    #[test]
    fn reductions(n in 1usize..4, c in 2usize..4, h in 2usize..5, w in 2usize..5, seed in 0u32..1000) {
        check_all(REDUCTIONS, [n, c, h, w], seed);
    }

    #[test]
    fn joins(n in 1usize..4, m in 1usize..4, seed in 0u32..1000) {
        let case = Case::new("cat", seed).input([2, n, 2, 2], -1.0, 1.1).input([2, m, 2, 2], -1.0, 1.1);
        case.check(&|x| weigh(Tensor::cat(vec![x[0].clone(), x[1].clone(), x[0].clone()], 1).exp()));
    }

    #[test]
    fn writes(n in 2usize..4, m in 2usize..4, seed in 0u32..1000) {
        let case = Case::new("slice_assign", seed).input([2, n, m, 2], -1.0, 1.1).input([1, n - 1, 1, 2], -1.0, 1.1);
        case.check(&|x| weigh(x[0].clone().slice_assign([1..2, 1..n, 0..1], x[1].clone()).exp()));
    }
}
