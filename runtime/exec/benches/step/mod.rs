//! One local SGD step: compiled by fedround, and eager burn autodiff, interleaved in one process.

use std::time::Instant;

use burn::optim::{GradientsParams, SgdConfig};
use burn::tensor::{Device, DispatchTensor, Int, Tensor, TensorData};
use burn_backend::ops::FloatTensorOps;
use burn_dispatch::Dispatch;
use fedround_algorithms::FedAvg;
use fedround_exec::plan::Plan;
use fedround_exec::run::Slots;
use fedround_exec::{Program, Tracer};
use fedround_models::{
    Classifier, ForwardCx, Losses, McMahanCnn, Task, TwoNn, cross_entropy, find,
};

const TASK: Task = Task {
    input: [1, 28, 28],
    classes: 10,
};

/// Measures every case and prints a Markdown table of medians.
///
/// The compiled step runs as a simulation's worker does, on a pool of one thread; eager burn as it
/// runs by default, on all cores, and on one thread too.
pub fn main(allocator: &str) {
    println!("allocator: {allocator}; milliseconds per step, medians");
    println!("| model | batch | compiled | eager burn | eager, one thread | ratio |");
    println!("|---|--:|--:|--:|--:|--:|");
    let device = Device::default().autodiff();
    for batch in [10, 50] {
        row("2nn", batch, eager(TwoNn::new(TASK, &device), batch), 300);
    }
    for batch in [20, 64] {
        row(
            "cnn",
            batch,
            eager(McMahanCnn::new(TASK, &device), batch),
            30,
        );
    }
}

fn row(model: &str, batch: usize, mut eager: impl FnMut() + Send, rounds: usize) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let mut compiled = compiled(model, batch);
    let mut times = [vec![], vec![], vec![]];
    for i in 0..rounds + 5 {
        let start = Instant::now();
        pool.install(&mut compiled);
        let ours = Instant::now();
        eager();
        let burns = Instant::now();
        pool.install(&mut eager);
        let end = Instant::now();
        if i >= 5 {
            for (times, t) in times
                .iter_mut()
                .zip([ours - start, burns - ours, end - burns])
            {
                times.push(t.as_secs_f64() * 1e3);
            }
        }
    }
    let [a, b, c] = times.map(|mut v| {
        v.sort_by(f64::total_cmp);
        v[v.len() / 2]
    });
    println!(
        "| {model} | {batch} | {a:.4} | {b:.4} | {c:.4} | {:.2} |",
        b / a
    );
}

fn data(batch: usize) -> (Vec<f32>, Vec<i32>) {
    let x = (0..batch * 784)
        .map(|i| ((i * 37 % 256) as f32) / 255.0)
        .collect();
    (x, (0..batch).map(|i| (i * 7 % 10) as i32).collect())
}

/// A step of FedAvg's client on `model`: state in, state out.
fn compiled(model: &str, batch: usize) -> impl FnMut() + Send {
    let device = Device::default();
    let built = find(model).unwrap().build(TASK, &device).unwrap();
    let tracer = Tracer::new(model, built, TASK, Losses::default());
    let program = Program::compile(&FedAvg::default(), tracer).unwrap();
    let plan = Plan::new(&program.graphs(batch).unwrap()[0]);
    let (x, y) = data(batch);
    let x = Tensor::<4>::from_data(TensorData::new(x, [batch, 1, 28, 28]), &device).into_dispatch();
    let y = Tensor::<1, Int>::from_data(TensorData::new(y, [batch]), &device).into_dispatch();
    let lr = Tensor::<1>::from_floats([0.05], &device).into_dispatch();
    let mut slots = Slots::default();
    let mut state: Vec<DispatchTensor> = plan
        .inputs
        .iter()
        .filter(|(name, ..)| name.starts_with("in"))
        .enumerate()
        .map(|(i, (_, ty, _))| {
            let values: Vec<f32> = (0..ty.len())
                .map(|j| (((i + j) * 13 % 101) as f32 - 50.0) * 1e-3)
                .collect();
            let data = TensorData::new(values, burn::tensor::Shape::from(ty.shape.clone()));
            Dispatch::float_from_data(data, device.as_dispatch())
        })
        .collect();
    move || {
        let leaves = state.len();
        let inputs = names(&plan, std::mem::take(&mut state), &x, &y, &lr);
        let mut out = plan.run(device.as_dispatch(), inputs, &mut slots).unwrap();
        out.truncate(leaves);
        state = out;
    }
}

fn names(
    plan: &Plan,
    state: Vec<DispatchTensor>,
    x: &DispatchTensor,
    y: &DispatchTensor,
    lr: &DispatchTensor,
) -> Vec<DispatchTensor> {
    let mut state = state.into_iter();
    let inputs = plan.inputs.iter().map(|(name, ..)| match name.as_str() {
        "x" => x.clone(),
        "y" => y.clone(),
        "lr" => lr.clone(),
        _ => state.next().unwrap(),
    });
    inputs.collect()
}

/// The same step as burn users write it.
fn eager<M: Classifier + burn::module::AutodiffModule>(
    model: M,
    batch: usize,
) -> impl FnMut() + Send {
    let device = Device::default().autodiff();
    let (x, y) = data(batch);
    let x = Tensor::<4>::from_data(TensorData::new(x, [batch, 1, 28, 28]), &device);
    let y = Tensor::<1, Int>::from_data(TensorData::new(y, [batch]), &device);
    let mut sgd = SgdConfig::new().init();
    let mut model = Some(model);
    move || {
        let m = model.take().unwrap();
        let loss = cross_entropy(
            Classifier::predict(&m, x.clone(), &ForwardCx::inference()),
            y.clone(),
        );
        let grads = GradientsParams::from_grads(loss.backward(), &m);
        model = Some(sgd.step(0.05, m, grads));
    }
}
