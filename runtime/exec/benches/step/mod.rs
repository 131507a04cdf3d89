//! Times one local SGD step, compiled by fedround and eager by burn's autodiff. The two alternate in one process.

mod client;

use std::sync::Arc;
use std::time::Instant;

use burn::optim::{GradientsParams, SgdConfig};
use burn::tensor::{Device, Int, Tensor, TensorData};
use fedround_algorithms::{FedAvg, FedProx, Scaffold};
use fedround_dsl::Algorithm;
use fedround_kernels::team;
use fedround_models::{Classifier, ForwardCx, McMahanCnn, Model, Task, TwoNn, cross_entropy};
use rayon::{ThreadPool, ThreadPoolBuilder};

use client::{COLOUR, Setting, Step, built, data, of_papers};

const TASK: Task = Task {
    input: [1, 28, 28],
    classes: 10,
};

/// The number of steps of one kind in a row. All but the first find their data in the caches, as in training.
const TURN: usize = 10;

/// Measures every case and prints Markdown tables of medians.
///
/// The compiled step runs in two ways: on a pool of one thread, as a worker of a simulation runs it, and with the help of
/// a second thread, as if the client were the only one of its round. Eager burn runs on one thread, because this
/// workspace builds it without threads.
///
/// An argument that names a table (`resnet18`, `models`, `corrections`, `papers`) selects that table.
pub fn main(allocator: &str) {
    println!("allocator: {allocator}; milliseconds per step, medians");
    let tables = [
        ("resnet18", resnet18 as fn()),
        ("models", models),
        ("corrections", corrections),
        ("papers", papers),
    ];
    let named = |name: &str| std::env::args().any(|argument| argument == name);
    let chosen = tables.iter().any(|(name, _)| named(name));
    for (name, table) in tables {
        if !chosen || named(name) {
            table();
        }
    }
}

/// Compares the step with Winograd's convolutions and the step with exact ones.
fn resnet18() {
    let one = pool(1);
    println!("| resnet18, batch | exact | winograd | ratio | both helped | | ratio |");
    println!("|--:|--:|--:|--:|--:|--:|--:|");
    let helper = [Arc::new(pool(1))];
    for batch in [10, 50] {
        let step = |exact| {
            let model = (built("resnet18", COLOUR), COLOUR);
            step(&FedAvg::default(), model, batch, exact)
        };
        let (mut exact, mut fast) = (step(true), step(false));
        let [a, b] = in_turns((7, 1), [(&one, &mut exact), (&one, &mut fast)]);
        let mut exact = || team::with_helpers(&helper, &mut exact);
        let mut fast = || team::with_helpers(&helper, &mut fast);
        let [c, d] = in_turns((7, 1), [(&one, &mut exact), (&one, &mut fast)]);
        print!("| {batch} | {a:.0} | {b:.0} | {:.2} ", a / b);
        println!("| {c:.0} | {d:.0} | {:.2} |", c / d);
    }
}

/// Compares FedAvg's step and the step of eager burn.
fn models() {
    println!("\n| model | batch | compiled | helped | eager burn | ratio |");
    println!("|---|--:|--:|--:|--:|--:|");
    let device = Device::default().autodiff();
    for (batch, turns) in [(10, 50), (50, 30)] {
        row("2nn", batch, turns, || {
            eager(TwoNn::new(TASK, &device), batch)
        });
    }
    for (batch, turns) in [(20, 5), (64, 3)] {
        row("cnn", batch, turns, || {
            eager(McMahanCnn::new(TASK, &device), batch)
        });
    }
}

/// Measures the time that FedProx and SCAFFOLD add to FedAvg's step.
fn corrections() {
    let one = pool(1);
    println!("\n| 2nn, batch | FedAvg | FedProx | SCAFFOLD | ratios |\n|--:|--:|--:|--:|--:|");
    for batch in [10, 50] {
        let mut avg = compiled(&FedAvg::default(), "2nn", batch);
        let mut prox = compiled(&FedProx::<FedAvg>::default(), "2nn", batch);
        let mut scaffold = compiled(&Scaffold::default(), "2nn", batch);
        let steps: [Contestant<'_>; 3] =
            [(&one, &mut avg), (&one, &mut prox), (&one, &mut scaffold)];
        let [a, b, c] = in_turns((50, TURN), steps);
        print!("| {batch} | {a:.4} | {b:.4} | {c:.4} ");
        println!("| {:.2}, {:.2} |", b / a, c / a);
    }
}

/// Times the larger networks that the papers train. `tests/reference/step_torch.py --papers` times the same in PyTorch.
fn papers() {
    println!("\n| model | batch | one thread | helped |\n|---|--:|--:|--:|");
    let (one, helper) = (pool(1), [Arc::new(pool(1))]);
    for setting in of_papers() {
        let Setting { name, batch, .. } = setting;
        let model = (setting.model, setting.task);
        let mut step = step(&*setting.algorithm, model, batch, false);
        let alone = in_turns((5, 1), [(&one, &mut step)]);
        let mut helped = || team::with_helpers(&helper, &mut step);
        let helped = in_turns((5, 1), [(&one, &mut helped)]);
        println!("| {name} | {batch} | {:.1} | {:.1} |", alone[0], helped[0]);
    }
}

fn row<S: FnMut() + Send>(model: &str, batch: usize, turns: usize, eager: impl Fn() -> S) {
    let one = pool(1);
    let helpers: Vec<_> = (1..rayon::current_num_threads())
        .map(|_| Arc::new(pool(1)))
        .collect();
    let mut alone = compiled(&FedAvg::default(), model, batch);
    let mut step = compiled(&FedAvg::default(), model, batch);
    let mut helped = || team::with_helpers(&helpers, &mut step);
    let mut eager = eager();
    let [a, b, c] = in_turns(
        (turns, TURN),
        [(&one, &mut alone), (&one, &mut helped), (&one, &mut eager)],
    );
    println!(
        "| {model} | {batch} | {a:.4} | {b:.4} | {c:.4} | {:.2} |",
        c / a
    );
}

fn pool(threads: usize) -> ThreadPool {
    let pool = ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap()
}

/// A thread pool, and the step that runs in it.
type Contestant<'a> = (&'a ThreadPool, &'a mut (dyn FnMut() + Send));

/// The median time of each step in milliseconds. The steps take turns, several runs of one in a row.
fn in_turns<const N: usize>(
    (turns, in_a_row): (usize, usize),
    mut steps: [Contestant<'_>; N],
) -> [f64; N] {
    let mut times = [const { vec![] }; N];
    for _ in 0..turns {
        for ((pool, step), times) in steps.iter_mut().zip(&mut times) {
            pool.install(|| {
                for _ in 0..in_a_row {
                    let start = Instant::now();
                    step();
                    times.push(start.elapsed().as_secs_f64() * 1e3);
                }
            });
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}

/// Compiles the step of an algorithm's client on a bundled model.
fn compiled(algorithm: &dyn Algorithm, model: &str, batch: usize) -> impl FnMut() + Send + use<> {
    step(algorithm, (built(model, TASK), TASK), batch, false)
}

/// Compiles the step of an algorithm's client on the given model, with exact convolutions if `exact` is set.
fn step(
    algorithm: &dyn Algorithm,
    model: (Box<dyn Model>, Task),
    batch: usize,
    exact: bool,
) -> impl FnMut() + Send + use<> {
    let (mut step, _) = Step::new(algorithm, model, batch, exact);
    move || step.take()
}

/// FedAvg's step in eager burn, as a user of burn would write it.
fn eager<M: Classifier + burn::module::Module>(model: M, batch: usize) -> impl FnMut() + Send {
    let device = Device::default().autodiff();
    let (x, y) = data(784, batch);
    let x = Tensor::<4>::from_data(TensorData::new(x, [batch, 1, 28, 28]), &device);
    let y = Tensor::<1, Int>::from_data(TensorData::new(y, [batch]), &device);
    let mut sgd = SgdConfig::new().init();
    let mut model = Some(model);
    move || {
        let m = model.take().unwrap();
        let loss = cross_entropy(
            Classifier::forward(&m, x.clone(), &ForwardCx::inference()),
            y.clone(),
        );
        let grads = GradientsParams::from_grads(loss.backward(), &m);
        model = Some(sgd.step(0.05, m, grads));
    }
}
