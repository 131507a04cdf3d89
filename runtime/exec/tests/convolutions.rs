//! Every form of a convolution and of its gradients computes the same, on the CPU.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

use burn::tensor::{Device, Shape, TensorData};
use burn_backend::ops::FloatTensorOps;
use burn_backend::read_sync;
use burn_dispatch::Dispatch;
use fedround_exec::plan::Plan;
use fedround_exec::run::Slots;
use fedround_ir::Loc;
use fedround_ir::tensor::{Conv2d, Graph, Op, TensorType};
use fedround_passes::tensor::{Lowering, convolutions, optimize};
use proptest::prelude::*;

fn run(graph: &Graph) -> Vec<f32> {
    let device = Device::default();
    let device = device.as_dispatch();
    let inputs = graph.inputs.iter().enumerate().map(|(k, (_, v))| {
        let ty = graph.type_of(*v);
        let values = (0..ty.len()).map(|i| ((7 * i + 3 * k) % 23) as f32 / 11.0 - 1.0);
        let values: Vec<f32> = values.collect();
        Dispatch::float_from_data(
            TensorData::new(values, Shape::from(ty.shape.clone())),
            device,
        )
    });
    let inputs: Vec<_> = inputs.collect();
    let outputs = Plan::new(graph).run(device, inputs, &mut Slots::default());
    let data = read_sync(Dispatch::float_into_data(outputs.unwrap().remove(0)));
    data.unwrap().try_to_vec().unwrap()
}

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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

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
            let expected = run(&graph);
            for form in Lowering::ALL {
                let formed = optimize(convolutions(&graph, |_, _| form).unwrap()).unwrap();
                for (a, b) in run(&formed).iter().zip(&expected) {
                    prop_assert!((a - b).abs() < 1e-4, "{}: {a}, not {b}", form.name());
                }
            }
        }
    }
}
