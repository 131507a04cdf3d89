//! Tests that all algorithms of a convolution and of its gradients compute the same on the CPU.

use fedround_exec::executor::Plan;
use fedround_ir::tensor::{Conv2d, Op};
use fedround_passes::tensor::{ConvAlgorithm, conv_options, convolutions, optimize};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::passes::{inputs, one, run, run_plan};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64, failure_persistence: None, rng_seed: RngSeed::Fixed(3), ..Default::default()
    })]

    #[test]
    fn forms_compute_the_same(
        (images, channels, filters, groups) in (1_usize..3, 1_usize..4, 1_usize..4, 1_usize..4),
        side in (5_usize..8, 5_usize..8),
        kernel in (1_usize..4, 1_usize..4),
        stride in (1_usize..3, 1_usize..3),
        padding in (0_usize..3, 0_usize..3),
        dilation in 1_usize..3,
        bias: bool,
    ) {
        let options = Conv2d {
            stride: stride.into(),
            padding: padding.into(),
            dilation: [dilation; 2],
            groups,
        };
        let x = [images, groups * channels, side.0, side.1];
        let w = [groups * filters, channels, kernel.0, kernel.1];
        let o = [w[0]];
        let mut ins: Vec<&[usize]> = vec![&x, &w];
        if bias {
            ins.push(&o);
        }
        let forward = one(Op::Conv2d(options), &ins);
        let y = forward.shape(forward.outputs[0].1).to_vec();
        let graphs = [
            one(Op::Conv2dInputGrad(options, x.to_vec()), &[&w, &y]),
            one(Op::Conv2dWeightGrad(options, w.to_vec()), &[&x, &y]),
            forward,
        ];
        for graph in graphs {
            let given = inputs(&graph, |k, i| ((7 * i + 3 * k) % 23) as f32 / 11.0 - 1.0);
            let expected = run(&graph, &given).remove(0);
            for form in ConvAlgorithm::ALL {
                let formed = optimize(convolutions(&graph, |_, _| form).unwrap()).unwrap();
                // The algorithm `split` does not change a convolution of one group.
                let stays = form == ConvAlgorithm::Grouped || (form == ConvAlgorithm::Split && groups == 1);
                let ops = formed.nodes.iter().filter_map(|node| conv_options(&node.op));
                let formed_so = match form {
                    ConvAlgorithm::Unfold => ops.count() == 0,
                    _ => ops.map(|o| o.groups).all(|g| stays || g == 1),
                };
                prop_assert!(formed_so, "{}", form.name());
                let found = run(&formed, &given).remove(0);
                prop_assert_eq!(found.len(), expected.len());
                for (a, b) in found.iter().zip(&expected) {
                    prop_assert!((a - b).abs() < 1e-4, "{}: {a}, not {b}", form.name());
                }
            }
        }
    }
}

/// The convolutions are large enough for Winograd's method. Sums of small integers are exact in any order, but the
/// weights that Winograd's method transforms are not integers.
#[test]
fn exact_plans_compute_convolutions_from_the_weights_themselves() {
    let options = Conv2d {
        stride: [1, 1],
        padding: [1, 1],
        dilation: [1, 1],
        groups: 1,
    };
    let (x, w) = ([8, 64, 16, 16], [64, 64, 3, 3]);
    for graph in [
        one(Op::Conv2d(options), &[&x, &w]),
        one(Op::Conv2dInputGrad(options, x.to_vec()), &[&w, &x]),
        one(Op::Conv2dWeightGrad(options, w.to_vec()), &[&x, &x]),
    ] {
        let given = inputs(&graph, |k, i| ((7 * i + 3 * k) % 23) as f32 - 11.0);
        let plan = Plan::new(&graph);
        let fast = run_plan(&plan, &graph, &given).remove(0);
        let plan = plan.with_exact_convolutions(true);
        let exact = run_plan(&plan, &graph, &given).remove(0);
        assert!(exact.iter().all(|v| v.fract() == 0.0));
        assert!(fast.iter().any(|v| v.fract() != 0.0));
        let largest = exact.iter().fold(0.0f32, |most, v| most.max(v.abs()));
        for (a, b) in fast.iter().zip(&exact) {
            assert!((a - b).abs() <= 1e-5 * largest, "{a} and {b}");
        }
    }
}
