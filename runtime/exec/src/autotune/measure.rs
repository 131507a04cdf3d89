//! Times the algorithms of a convolution on a device.

use std::time::{Duration, Instant};

use burn::tensor::DispatchTensor;
use burn_backend::Backend;
#[cfg(feature = "wgpu")]
use burn_dispatch::devices::CubeDevice;
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::Loc;
use fedround_ir::tensor::{Graph, Op, TensorType};
use fedround_passes::tensor::{ConvAlgorithm, convolutions, optimize, parametrize_constants};
use fedround_passes::{PassManager, Request};

use crate::device::ExecError;
use crate::executor::{Plan, SegmentInputs, Slots};
use crate::precision::Precision;
use crate::tensor::from_floats;

/// The number of runs before the timed ones. In them, kernels are compiled, and burn tunes its kernels and
/// settles what to fuse.
const WARM_UP: usize = 4;
/// The number of timed runs. The shortest time counts.
const RUNS: usize = 5;
/// The largest tensor in bytes that an algorithm may create.
const MAX_TENSOR: usize = 1 << 30;
/// The same on wgpu: every adapter can bind a buffer of this size.
#[cfg(feature = "wgpu")]
const MAX_TENSOR_WGPU: usize = 1 << 27;

/// The result of timing the algorithms of a convolution.
pub(crate) struct Fastest {
    pub algorithm: ConvAlgorithm,
    /// Whether all applicable algorithms were timed. Some may not have fitted in memory.
    pub all_timed: bool,
}

/// The fastest algorithm of a convolution; `Grouped` (one op) if no other is faster or applies.
///
/// # Errors
///
/// The device has failed before. A device reports a failure once, so it is read here, before it could be
/// taken for a failure of an algorithm.
pub(crate) fn fastest(
    device: &DispatchDevice,
    precision: Precision,
    op: &Op,
    shapes: [&[usize]; 2],
) -> Result<Fastest, ExecError> {
    Dispatch::sync(device)?;
    let times: Vec<_> = times(device, precision, op, shapes).collect();
    let all_timed = times.iter().all(|(_, time)| time.is_some());
    let timed = times
        .into_iter()
        .filter_map(|(algorithm, time)| Some((algorithm, time?)));
    let fastest = timed.min_by_key(|(_, time)| *time);
    let algorithm = fastest.map_or(ConvAlgorithm::Grouped, |(algorithm, _)| algorithm);
    Ok(Fastest {
        algorithm,
        all_timed,
    })
}

/// The applicable algorithms with their times. The time is `None` if the device fails.
pub(crate) fn times(
    device: &DispatchDevice,
    precision: Precision,
    op: &Op,
    shapes: [&[usize]; 2],
) -> impl Iterator<Item = (ConvAlgorithm, Option<Duration>)> {
    ConvAlgorithm::ALL.into_iter().filter_map(move |algorithm| {
        let (plan, constants) = plan(device, precision, op, shapes, algorithm)?;
        Some((algorithm, time(device, &plan, shapes, &constants)))
    })
}

/// A plan of the convolution alone, by one algorithm, and the constants that are its inputs after the two
/// factors. `None` if the algorithm does not apply or needs a tensor that is too large.
fn plan(
    device: &DispatchDevice,
    precision: Precision,
    op: &Op,
    shapes: [&[usize]; 2],
    algorithm: ConvAlgorithm,
) -> Option<(Plan, Vec<DispatchTensor>)> {
    let mut graph = Graph::default();
    let ins = shapes.map(|shape| graph.input("x", TensorType::f32(shape)));
    let y = graph.push(op.clone(), &ins, Loc::caller()).ok()?;
    graph.outputs.push(("y".to_owned(), y));
    let graph = optimize(convolutions(&graph, |_, _| algorithm).ok()?).ok()?;
    let unchanged = graph.nodes.iter().any(|node| node.op == *op);
    let limit = match device {
        #[cfg(feature = "wgpu")]
        DispatchDevice::Cube(CubeDevice::Wgpu(_)) => MAX_TENSOR_WGPU,
        _ => MAX_TENSOR,
    };
    let too_large = graph.types.iter().any(|ty| 4 * ty.len() > limit);
    if (algorithm != ConvAlgorithm::Grouped && unchanged) || too_large {
        return None;
    }
    let (mut graph, sources) = parametrize_constants(&graph).ok()?;
    if let Some(pass) = precision.pass() {
        let pass = Request::named(pass).ok()?;
        PassManager::new()
            .run(&pass, "convolution", &mut graph)
            .ok()?;
    }
    let inputs = SegmentInputs::new(sources, device);
    let constants = inputs.constants().collect::<Option<Vec<_>>>()?;
    Some((Plan::new(&graph), constants))
}

/// The shortest time of a plan; `None` if the device fails.
fn time(
    device: &DispatchDevice,
    plan: &Plan,
    shapes: [&[usize]; 2],
    constants: &[DispatchTensor],
) -> Option<Duration> {
    let factors = shapes.map(|shape| {
        let values = (0..shape.iter().product()).map(|i: usize| (i % 13) as f32 / 13.0 - 0.5);
        from_floats(values.collect(), shape, device)
    });
    let mut slots = Slots::default();
    let mut run = || {
        let inputs = factors.iter().chain(constants).cloned();
        Dispatch::sync(device).ok()?;
        let start = Instant::now();
        let outputs = plan.run(device, inputs, &mut slots).ok()?;
        Dispatch::sync(device).ok()?;
        drop(outputs);
        Some(start.elapsed())
    };
    for _ in 0..WARM_UP {
        run()?;
    }
    let times = (0..RUNS).map(|_| run()).collect::<Option<Vec<_>>>()?;
    times.into_iter().min()
}
