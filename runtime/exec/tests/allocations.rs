//! A step allocates its activations and gradients, and never its parameters.

#![allow(clippy::unwrap_used, reason = "a test stops at its first error")]

use std::alloc::System;

use burn::tensor::{Device, DispatchTensor, Int, Shape, Tensor, TensorData};
use burn_backend::ops::FloatTensorOps;
use burn_dispatch::Dispatch;
use fedround_algorithms::FedAvg;
use fedround_exec::Program;
use fedround_exec::executor::{Plan, Slots};
use fedround_models::{Losses, Task, find};
use fedround_passes::tensor::cost;
use fedround_trace::TracedModel;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const TASK: Task = Task {
    input: [1, 28, 28],
    classes: 10,
};

/// The bytes that each of several steps of FedAvg's client allocates, the bytes of the parameters, and the bytes that the
/// ops of the graph write.
fn measure(model: &str, batch: usize) -> (Vec<usize>, usize, u64) {
    let device = Device::default();
    let built = find(model).unwrap().build(TASK, &device).unwrap();
    let tracer = TracedModel::new(model, built, TASK, Losses::default());
    let program = Program::compile(&FedAvg::default(), tracer).unwrap();
    let graph = program.graphs(batch).unwrap().remove(0);
    let plan = Plan::new(&graph);
    let float = |shape: &[usize]| {
        let zeros = TensorData::zeros::<f32, _>(Shape::from(shape.to_vec()));
        Dispatch::float_from_data(zeros, device.as_dispatch())
    };
    let y = Tensor::<1, Int>::from_data(TensorData::new(vec![0i32; batch], [batch]), &device);
    let y = y.into_dispatch();
    let mut slots = Slots::default();
    let given = |name: &str| !name.starts_with("in");
    let (shared, own): (Vec<_>, Vec<_>) = plan.inputs.iter().partition(|(name, ..)| given(name));
    let shared: Vec<DispatchTensor> = shared
        .iter()
        .map(|(name, ty, _)| {
            if name == "y" {
                y.clone()
            } else {
                float(&ty.shape)
            }
        })
        .collect();
    let mut state: Vec<DispatchTensor> = own.iter().map(|(_, ty, _)| float(&ty.shape)).collect();
    let mut bytes = vec![];
    for _ in 0..8 {
        let leaves = state.len();
        let (mut own, mut shared) = (std::mem::take(&mut state).into_iter(), shared.iter());
        let inputs: Vec<DispatchTensor> = plan
            .inputs
            .iter()
            .map(|(name, ..)| match given(name) {
                true => shared.next().unwrap().clone(),
                false => own.next().unwrap(),
            })
            .collect();
        let region = Region::new(ALLOCATOR);
        state = plan.run(device.as_dispatch(), inputs, &mut slots).unwrap();
        bytes.push(region.change().bytes_allocated);
        state.truncate(leaves);
    }
    (bytes, 4 * program.parameter_count(), cost(&graph).written)
}

/// There is only one test in this binary, because the allocator's counters are those of the process.
#[test]
fn a_step_allocates_the_same_each_time_and_no_parameters() {
    for (model, batch) in [("logistic", 10), ("2nn", 10), ("cnn", 20)] {
        let (bytes, parameters, written) = measure(model, batch);
        // The first steps allocate the kernels' scratch buffers.
        let steady = &bytes[3..];
        assert!(
            steady.iter().all(|b| *b == steady[0]),
            "{model}: {bytes:?} bytes a step"
        );
        assert!(
            steady[0] as u64 <= written,
            "{model}: {} bytes a step, its ops write {written}",
            steady[0]
        );
        if model == "2nn" {
            assert!(
                steady[0] < parameters / 2,
                "{model}: {} bytes a step, {parameters} of parameters",
                steady[0]
            );
        }
    }
}
