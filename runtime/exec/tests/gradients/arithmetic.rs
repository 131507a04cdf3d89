//! Gradients of element-wise arithmetic, with scalars and between tensors.

use burn::tensor::Tensor;
use fedround_ir::Loc;
use fedround_passes::autodiff::grad;
use fedround_passes::tensor::optimize;
use proptest::prelude::*;

use crate::gradients::case::{Case, Unary, check_all, few_cases, weigh};
use crate::gradients::differences::component;

const SCALARS: &[Unary] = &[
    ("add_scalar", |x| weigh(x.add_scalar(0.7)), -1.0, 1.1),
    ("sub_scalar", |x| weigh(x.sub_scalar(0.7)), -1.0, 1.1),
    ("mul_scalar", |x| weigh(x.mul_scalar(-1.3)), -1.0, 1.1),
    ("div_scalar", |x| weigh(x.div_scalar(1.7)), -1.0, 1.1),
    ("powf_scalar", |x| weigh(x.powf_scalar(2.5)), 0.5, 1.4),
    ("powf_scalar-", |x| weigh(x.powf_scalar(-1.5)), 0.5, 1.4),
    (
        "powf_scalar 0",
        |x| weigh(x.clone().powf_scalar(0.0) * x),
        -1.0,
        1.1,
    ),
    ("square", |x| weigh(x.square()), -1.0, 1.1),
    ("cube", |x| weigh(x.powi_scalar(3)), -1.0, 1.1),
    ("clamp", |x| weigh(x.clamp(-0.3, 0.6)), -1.0, 1.1),
    ("clamp_min", |x| weigh(x.clamp_min(-0.3)), -1.0, 1.1),
    ("clamp_max", |x| weigh(x.clamp_max(0.35)), -1.0, 1.1),
];

const FUNCTIONS: &[Unary] = &[
    ("neg", |x| weigh(x.neg()), -1.0, 1.1),
    ("exp", |x| weigh(x.exp()), -1.0, 1.1),
    ("log", |x| weigh(x.log()), 0.5, 2.0),
    ("log1p", |x| weigh(x.log1p()), -0.4, 2.0),
    ("sqrt", |x| weigh(x.sqrt()), 0.5, 2.0),
    ("recip", |x| weigh(x.recip()), 0.5, 2.0),
    ("abs", |x| weigh(x.clone().abs() * x), -1.0, 1.1),
    ("sign", |x| weigh(x.clone().sign() * x), -1.0, 1.1),
    ("floor", |x| weigh(x.clone().floor() * x), -3.0, 3.1),
    ("sin", |x| weigh(x.sin()), -2.0, 2.1),
    ("cos", |x| weigh(x.cos()), -2.0, 2.1),
    ("tanh", |x| weigh(x.tanh()), -2.0, 2.1),
    ("erf", |x| weigh(x.erf()), -2.0, 2.1),
];

/// Reductions, and the comparisons that give masks.
const MASKS: &[Unary] = &[
    (
        "greater",
        |x| weigh(x.clone().mask_fill(x.greater_scalar(0.2), 0.5)),
        -1.0,
        1.1,
    ),
    (
        "greater_equal",
        |x| weigh(x.clone().mask_fill(x.greater_equal_scalar(0.2), 0.5)),
        -1.0,
        1.1,
    ),
    (
        "lower",
        |x| weigh(x.clone().mask_fill(x.lower_scalar(0.2), -2.0)),
        -1.0,
        1.1,
    ),
    (
        "lower_equal",
        |x| weigh(x.clone().mask_fill(x.lower_equal_scalar(0.2), 0.0)),
        -1.0,
        1.1,
    ),
    (
        "bool_not",
        |x| weigh(x.clone().mask_fill(x.lower_scalar(0.2).bool_not(), 1.0)),
        -1.0,
        1.1,
    ),
    (
        "bool_and",
        |x| {
            let within = x
                .clone()
                .greater_scalar(-0.5)
                .bool_and(x.clone().lower_scalar(0.5));
            weigh(x.clone().mask_where(within, x.exp()))
        },
        -1.0,
        1.1,
    ),
    (
        "bool_or",
        |x| {
            let beyond = x
                .clone()
                .lower_scalar(-0.5)
                .bool_or(x.clone().greater_scalar(0.5));
            weigh(x.clone().mask_where(beyond, x.exp()))
        },
        -1.0,
        1.1,
    ),
    (
        "mask as float",
        |x| {
            let mask = x.clone().greater_scalar(0.1).float();
            weigh(x.exp() * mask)
        },
        -1.0,
        1.1,
    ),
    (
        "mask as integer",
        |x| {
            let mask = x.clone().greater_scalar(0.1).int().float();
            weigh(x.exp() * mask)
        },
        -1.0,
        1.1,
    ),
];

/// The slopes `b · 0^(b − 1)` and `0ᵇ · ln 0` are those of PyTorch where burn's are `0 · ∞`.
#[test]
fn powers_of_zero_have_slopes() {
    // The exponents are 0, 1 and 2 in some order.
    let case = Case::new("powf of 0", 1)
        .input([1, 1, 1, 3], 0.0, 0.0)
        .input([1, 1, 1, 3], -0.5, 2.5);
    let mut graph = case.trace(&|x| x[0].clone().powf(x[1].clone()).sum());
    let (loss, wrt) = (graph.outputs[0].1, [graph.inputs[0].1, graph.inputs[1].1]);
    let first = grad(&mut graph, loss, &wrt, Loc::caller()).unwrap();
    let along = component(&mut graph, &first);
    let second = grad(&mut graph, along, &wrt, Loc::caller()).unwrap();
    let all = first.into_iter().chain(second).enumerate();
    graph.outputs = all.map(|(i, g)| (format!("d{i}"), g)).collect();
    let found = case.run(&optimize(graph).unwrap());
    let linear = |b: &f64| f64::from(u8::from(*b == 1.0));
    let expected: Vec<f64> = case.point()[1].iter().map(linear).collect();
    assert_eq!(found[0], expected);
    assert_eq!(found[1], [0.0; 3]);
    assert!(found.concat().iter().all(|d| d.is_finite()), "{found:?}");
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn scalars(shape in prop::array::uniform4(1usize..5), seed in 0u32..1000) {
        check_all(SCALARS, shape, seed);
    }

    #[test]
    fn functions(shape in prop::array::uniform4(1usize..5), seed in 0u32..1000) {
        check_all(FUNCTIONS, shape, seed);
    }

    #[test]
    fn masks(shape in prop::array::uniform4(1usize..5), seed in 0u32..1000) {
        check_all(MASKS, shape, seed);
    }

    #[test]
    fn two_tensors_broadcast(
        dims in prop::array::uniform4(1usize..4), ones in prop::array::uniform4(0usize..3), seed in 0u32..1000,
    ) {
        type Binary = fn(Tensor<4>, Tensor<4>) -> Tensor<1>;
        let functions: [(&str, Binary); 11] = [
            ("add", |a, b| weigh(a + b)),
            ("sub", |a, b| weigh(a - b)),
            ("mul", |a, b| weigh(a * b)),
            ("div", |a, b| weigh(a / b)),
            ("powf", |a, b| weigh(a.powf(b))),
            ("max_pair", |a, b| weigh(a.max_pair(b))),
            ("min_pair", |a, b| weigh(a.min_pair(b))),
            ("greater", |a, b| weigh(a.clone().mask_where(a.clone().greater(b.clone()), a * b))),
            ("lower_equal", |a, b| weigh(a.clone().mask_where(a.clone().lower_equal(b.clone()), a * b))),
            ("equal", |a, b| weigh(a.clone().mask_where(a.clone().equal(b.clone()), a * b))),
            ("not_equal", |a, b| weigh(a.clone().mask_where(a.clone().not_equal(b.clone()), a * b))),
        ];
        // Each operand may be the narrower one in a dimension.
        let (mut a, mut b) = (dims, dims);
        for (d, one) in ones.into_iter().enumerate() {
            match one {
                0 => {}
                1 => a[d] = 1,
                _ => b[d] = 1,
            }
        }
        for (name, f) in functions {
            let case = Case::new(name, seed).input(a, 0.5, 1.5).input(b, 0.6031, 1.7123);
            case.check(&|x| f(x[0].clone(), x[1].clone()));
        }
    }

    #[test]
    fn matrix_products(
        batch in 1usize..3, shared in any::<bool>(), m in 1usize..5, k in 1usize..5, n in 1usize..5, seed in 0u32..1000,
    ) {
        let b = [if shared { 1 } else { batch }, 2, k, n];
        let case = Case::new("matmul", seed).input([batch, 2, m, k], -1.0, 1.1).input(b, -1.0, 1.1);
        case.check(&|x| weigh(x[0].clone().matmul(x[1].clone())));
    }
}
