//! Gradients of activation functions, against burn-autodiff.

use burn::tensor::activation::*;
use proptest::prelude::*;

use crate::gradients::case::{Case, Unary, check_all, check_all_by_differences, few_cases, weigh};

/// The ranges contain the kinks of the functions, but no value lies on one.
const ACTIVATIONS: &[Unary] = &[
    ("relu", |x| weigh(relu(x.clone()) * x), -1.0, 1.1),
    ("sigmoid", |x| weigh(sigmoid(x)), -3.0, 3.1),
    ("gelu", |x| weigh(gelu(x)), -3.0, 3.1),
    (
        "gelu_approximate",
        |x| weigh(gelu_approximate(x)),
        -3.0,
        3.1,
    ),
    ("leaky_relu", |x| weigh(leaky_relu(x, 0.2)), -1.0, 1.1),
    ("log_sigmoid", |x| weigh(log_sigmoid(x)), -3.0, 3.1),
    ("softplus", |x| weigh(softplus(x, 1.0)), -3.0, 3.1),
    ("silu", |x| weigh(silu(x)), -3.0, 3.1),
    ("mish", |x| weigh(mish(x)), -3.0, 3.1),
    ("elu", |x| weigh(elu(x, 1.0)), -2.0, 2.1),
    ("celu", |x| weigh(celu(x, 1.0)), -2.0, 2.1),
    ("selu", |x| weigh(selu(x)), -2.0, 2.1),
    ("softsign", |x| weigh(softsign(x)), -2.0, 2.1),
    ("tanhshrink", |x| weigh(tanhshrink(x)), -2.0, 2.1),
    ("hardtanh", |x| weigh(hardtanh(x, -0.5, 0.7)), -1.0, 1.1),
    ("relu6", |x| weigh(relu6(x)), -2.0, 8.1),
    ("softmax", |x| weigh(softmax(x, 1)), -1.0, 1.1),
    ("softmin", |x| weigh(softmin(x, 3)), -1.0, 1.1),
    ("log_softmax", |x| weigh(log_softmax(x, 1)), -1.0, 1.1),
    ("log_softmax 0", |x| weigh(log_softmax(x, 0)), -1.0, 1.1),
];

/// burn-autodiff computes the gradients of these in `f32`.
const HARD: &[Unary] = &[(
    "hard_sigmoid",
    |x| weigh(hard_sigmoid(x, 0.2, 0.5)),
    -4.0,
    4.1,
)];

/// Large arguments, for which a naive formula would overflow or underflow.
const EXTREMES: &[Unary] = &[
    ("log_sigmoid", |x| weigh(log_sigmoid(x)), -200.0, 200.1),
    ("sigmoid", |x| weigh(sigmoid(x)), -80.0, 80.1),
    ("tanh", |x| weigh(tanh(x)), -80.0, 80.1),
    ("gelu", |x| weigh(gelu(x)), -80.0, 80.1),
    ("silu", |x| weigh(silu(x)), -80.0, 80.1),
    ("softmax", |x| weigh(softmax(x, 1)), -400.0, 400.1),
    ("log_softmax", |x| weigh(log_softmax(x, 1)), -400.0, 400.1),
];

/// The function is smooth, although each side of 0 has a formula of its own.
#[test]
fn a_log_sigmoid_is_smooth_at_zero() {
    // The middle one of three values is 0.
    let case = Case::new("log_sigmoid", 0).input([1, 1, 1, 3], -1.0, 1.0);
    case.check(&|x| weigh(log_sigmoid(x[0].clone())));
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn activations(shape in prop::array::uniform4(1usize..5), seed in 0u32..1000) {
        check_all(ACTIVATIONS, shape, seed);
        check_all_by_differences(HARD, shape, seed);
    }

    #[test]
    fn extremes(shape in prop::array::uniform4(1usize..4), seed in 0u32..1000) {
        check_all(EXTREMES, shape, seed);
    }

    #[test]
    fn a_learned_slope(n in 1usize..3, c in 1usize..4, side in 1usize..4, seed in 0u32..1000) {
        let case = Case::new("prelu", seed).input([n, c, side, side], -1.0, 1.1).input([1, 1, 1, c], 0.1, 0.4);
        case.check(&|x| weigh(prelu(x[0].clone(), x[1].clone().reshape([c]))));
        let case = Case::new("prelu of one slope", seed).input([n, c, side, side], -1.0, 1.1).input([1; 4], 0.1, 0.4);
        case.check(&|x| weigh(prelu(x[0].clone(), x[1].clone().reshape([1]))));
    }

    #[test]
    fn gated(n in 1usize..3, c in 1usize..4, seed in 0u32..1000) {
        let case = Case::new("glu", seed).input([n, 2 * c, 2, 2], -1.0, 1.1);
        case.check(&|x| weigh(glu(x[0].clone(), 1)));
    }
}
