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

/// Runs before those that count: kernels are compiled, and burn chooses its own and what to fuse.
const WARM_UP: usize = 4;
/// Runs that count, of which the fastest one does.
const RUNS: usize = 5;
/// Bytes of the largest tensor that a form may make.
const MOST: usize = 1 << 30;
/// The same through wgpu: what every adapter takes in one piece.
#[cfg(feature = "wgpu")]
const MOST_WGPU: usize = 1 << 27;

/// A form that was found by timing.
pub(crate) struct Fastest {
    pub form: ConvAlgorithm,
    /// Whether all applicable forms were timed; some may not have fitted in memory.
    pub of_all: bool,
}

/// The fastest form; one op where no other is faster or applies.
///
/// # Errors
///
/// The device has failed before: what it says then is said once, and is not about a form.
pub(crate) fn fastest(
    device: &DispatchDevice,
    precision: Precision,
    op: &Op,
    shapes: [&[usize]; 2],
) -> Result<Fastest, ExecError> {
    Dispatch::sync(device)?;
    let times: Vec<_> = times(device, precision, op, shapes).collect();
    let of_all = times.iter().all(|(_, time)| time.is_some());
    let timed = times
        .into_iter()
        .filter_map(|(form, time)| Some((form, time?)));
    let form = timed.min_by_key(|(_, time)| *time);
    let form = form.map_or(ConvAlgorithm::Grouped, |(form, _)| form);
    Ok(Fastest { form, of_all })
}

/// The forms that apply, with no time where the device fails.
pub(crate) fn times(
    device: &DispatchDevice,
    precision: Precision,
    op: &Op,
    shapes: [&[usize]; 2],
) -> impl Iterator<Item = (ConvAlgorithm, Option<Duration>)> {
    ConvAlgorithm::ALL.into_iter().filter_map(move |form| {
        let (plan, constants) = plan(device, precision, op, shapes, form)?;
        Some((form, time(device, &plan, shapes, &constants)))
    })
}

/// The convolution alone in a form, with the constants that it is given after its factors; `None`
/// where the form does not apply or takes too much memory.
fn plan(
    device: &DispatchDevice,
    precision: Precision,
    op: &Op,
    shapes: [&[usize]; 2],
    to: ConvAlgorithm,
) -> Option<(Plan, Vec<DispatchTensor>)> {
    let mut graph = Graph::default();
    let ins = shapes.map(|shape| graph.input("x", TensorType::f32(shape)));
    let y = graph.push(op.clone(), &ins, Loc::caller()).ok()?;
    graph.outputs.push(("y".to_owned(), y));
    let graph = optimize(convolutions(&graph, |_, _| to).ok()?).ok()?;
    let same = graph.nodes.iter().any(|node| node.op == *op);
    let most = match device {
        #[cfg(feature = "wgpu")]
        DispatchDevice::Cube(CubeDevice::Wgpu(_)) => MOST_WGPU,
        _ => MOST,
    };
    let large = graph.types.iter().any(|ty| 4 * ty.len() > most);
    if (to != ConvAlgorithm::Grouped && same) || large {
        return None;
    }
    let (mut graph, supplies) = parametrize_constants(&graph).ok()?;
    if let Some(pass) = precision.pass() {
        let pass = Request::named(pass).ok()?;
        PassManager::new()
            .run(&pass, "convolution", &mut graph)
            .ok()?;
    }
    let supplies = SegmentInputs::new(supplies, device);
    let constants = supplies.constants().collect::<Option<Vec<_>>>()?;
    Some((Plan::new(&graph), constants))
}

/// `None` where the device fails.
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
