//! Runs the example of each op.

use burn::tensor::{Device, DispatchTensor, Shape, TensorData};
use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_backend::{TensorMetadata, read_sync};
use burn_dispatch::Dispatch;
use fedround_exec::executor::{Plan, Slots};
use fedround_ir::tensor::{DType, Graph, Op, TensorType};
use fedround_passes::tensor::{batch, coverage, optimize};

const CLIENTS: usize = 3;

/// All examples except those of random ops, which the caller draws.
fn examples() -> Vec<Graph> {
    let all = coverage().unwrap().into_iter().map(|c| c.example);
    all.filter(|g| !matches!(g.nodes[0].op, Op::Random(..)))
        .collect()
}

/// The values of a client's operands: positive floats, indices 0 and 1, or masks.
fn values(ty: &TensorType, client: usize) -> Vec<f64> {
    let value = |i: usize| match ty.dtype {
        DType::F32 | DType::BF16 | DType::F16 => 0.5 + ((i + 3 * client) % 7) as f64 / 8.0,
        DType::I32 | DType::Bool => ((i + client) % 2) as f64,
    };
    (0..ty.len()).map(value).collect()
}

fn tensor(ty: &TensorType, values: &[f64], device: &Device) -> DispatchTensor {
    let (shape, device) = (Shape::from(ty.shape.clone()), device.as_dispatch());
    let values = values.iter();
    match ty.dtype {
        DType::F32 | DType::BF16 | DType::F16 => {
            let values: Vec<f32> = values.map(|&x| x as f32).collect();
            Dispatch::float_from_data(TensorData::new(values, shape), device)
        }
        DType::I32 => {
            let values: Vec<i32> = values.map(|&x| x as i32).collect();
            Dispatch::int_from_data(TensorData::new(values, shape), device)
        }
        DType::Bool => {
            let values: Vec<bool> = values.map(|&x| x != 0.0).collect();
            Dispatch::bool_from_data(TensorData::new(values, shape), device)
        }
    }
}

/// Runs the graph of an op and checks its outputs' types.
fn run(name: &str, graph: &Graph, inputs: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let device = Device::default();
    let tensors = graph.inputs.iter().zip(inputs);
    let tensors = tensors.map(|((_, v), x)| tensor(graph.type_of(*v), x, &device));
    let outputs = Plan::new(graph)
        .run(device.as_dispatch(), tensors, &mut Slots::default())
        .unwrap();
    let mut read = Vec::with_capacity(outputs.len());
    for (found, (_, v)) in outputs.into_iter().zip(&graph.outputs) {
        let ty = graph.type_of(*v);
        assert_eq!(found.shape().as_slice(), ty.shape, "{name}");
        let dtype = found.dtype();
        let (same, data) = match ty.dtype {
            DType::F32 | DType::BF16 | DType::F16 => (
                dtype == burn::tensor::DType::F32,
                read_sync(Dispatch::float_into_data(found)),
            ),
            DType::I32 => (
                dtype == burn::tensor::DType::I32,
                read_sync(Dispatch::int_into_data(found)),
            ),
            DType::Bool => (dtype.is_bool(), read_sync(Dispatch::bool_into_data(found))),
        };
        assert!(same, "{name} gives {dtype:?}, not {ty}");
        read.push(data.unwrap().iter::<f64>().collect());
    }
    read
}

#[test]
fn every_op_runs_and_gives_what_the_dialect_says() {
    for example in examples() {
        let operands = example.inputs.iter();
        let operands: Vec<_> = operands
            .map(|(_, v)| values(example.type_of(*v), 0))
            .collect();
        let name = example.nodes[0].op.name();
        let plain = run(name, &example, &operands);
        let optimised = optimize(example.clone()).unwrap();
        assert_eq!(run(name, &optimised, &operands), plain, "{name}");
    }
}

/// Compares the op batched over clients with the op run for each client, for every choice of shared operands.
#[test]
fn every_op_gives_clients_together_what_it_gives_each() {
    for example in examples() {
        let name = example.nodes[0].op.name();
        let types: Vec<&TensorType> = example
            .inputs
            .iter()
            .map(|(_, v)| example.type_of(*v))
            .collect();
        for mask in 0..1u32 << types.len() {
            let own: Vec<bool> = (0..types.len()).map(|i| mask >> i & 1 == 1).collect();
            let operand = |i: usize, k: usize| values(types[i], if own[i] { k } else { 0 });
            let of_client = |k: usize| (0..types.len()).map(|i| operand(i, k)).collect::<Vec<_>>();
            let mut expected = vec![vec![]; example.outputs.len()];
            for k in 0..CLIENTS {
                for (all, one) in expected.iter_mut().zip(run(name, &example, &of_client(k))) {
                    all.extend(one);
                }
            }
            let together = |i: usize| match own[i] {
                true => (0..CLIENTS).flat_map(|k| operand(i, k)).collect(),
                false => operand(i, 0),
            };
            let operands: Vec<Vec<f64>> = (0..types.len()).map(together).collect();
            let batched = batch(&example, CLIENTS, &own).unwrap().graph;
            for graph in [optimize(batched.clone()).unwrap(), batched] {
                for (found, expected) in run(name, &graph, &operands).iter().zip(&expected) {
                    assert_eq!(found.len(), expected.len(), "{name} {own:?}");
                    for (a, b) in found.iter().zip(expected) {
                        let close = (a - b).abs() <= 1e-5 * (1.0 + b.abs());
                        assert!(close, "{name} {own:?}: {a}, alone {b}");
                    }
                }
            }
        }
    }
}
