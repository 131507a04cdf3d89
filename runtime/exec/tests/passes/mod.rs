//! Tests that graphs compute the same before and after a pass, on the CPU.

mod channel_totals;
mod convolutions;
mod fused;
mod gpu_fusion;
mod joined_products;
mod precision;

use burn::tensor::{Device, Shape, TensorData};
use burn_backend::ops::FloatTensorOps;
use burn_backend::read_sync;
use burn_dispatch::Dispatch;
use fedround_exec::executor::{Plan, Slots};
use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, Op, TensorType};

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

/// The values of a graph's inputs, as a function of the input and the element.
fn inputs(graph: &Graph, value: impl Fn(usize, usize) -> f32) -> Vec<Vec<f32>> {
    let values = |(k, (_, v)): (usize, &(String, _))| {
        let of_input = (0..graph.type_of(*v).len()).map(|i| value(k, i));
        of_input.collect()
    };
    graph.inputs.iter().enumerate().map(values).collect()
}

/// The values of a graph's outputs.
fn run(graph: &Graph, inputs: &[Vec<f32>]) -> Vec<Vec<f32>> {
    run_plan(&Plan::new(graph), graph, inputs)
}

/// The values of the outputs of a graph's plan.
fn run_plan(plan: &Plan, graph: &Graph, inputs: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let device = Device::default();
    let device = device.as_dispatch();
    let tensors = graph.inputs.iter().zip(inputs).map(|((_, v), x)| {
        let shape = Shape::from(graph.shape(*v).to_vec());
        Dispatch::float_from_data(TensorData::new(x.clone(), shape), device)
    });
    let tensors: Vec<_> = tensors.collect();
    let outputs = plan.run(device, tensors, &mut Slots::default());
    let read = |output| {
        let data = read_sync(Dispatch::float_into_data(output));
        data.unwrap().try_to_vec().unwrap()
    };
    outputs.unwrap().into_iter().map(read).collect()
}
