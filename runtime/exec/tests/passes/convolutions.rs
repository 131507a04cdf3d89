//! Every form of a convolution and of its gradients computes the same, on the CPU.

use fedround_ir::tensor::{Conv2d, Op};
use fedround_passes::tensor::{ConvAlgorithm, conv_options, convolutions, optimize};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::{inputs, one, run};

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
                // Split, an op in one group stays.
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
