//! Measures which share of the machine's peak FLOPs and of its memory bandwidth each op of a step reaches:
//! `cargo bench -p fedround-exec --bench roofline -- resnet18`.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at its first error")]

#[path = "step/client.rs"]
mod client;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use burn::tensor::{Device, Tensor};
use fedround_algorithms::FedAvg;
use fedround_exec::executor::Plan;
use fedround_ir::tensor::{Graph, Node};
use fedround_kernels::team;
use fedround_passes::tensor::cost;

use client::{COLOUR, Setting, Step, built, of_papers};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of steps to warm up, and the number of measured steps.
const WARM_UP: usize = 2;
const STEPS: usize = 9;
/// The least share of the time of a step for which an op gets a row of its own.
const SHOWN: f64 = 0.01;

/// Measures the peaks of this machine, then the steps of the models that arguments name (a part of a
/// name is enough), or of all of them. Everything runs on one thread; with `--helped`, a second one helps with
/// the steps.
fn main() {
    let pool = || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        Arc::new(pool.unwrap())
    };
    let helped = std::env::args().any(|argument| argument == "--helped");
    let helpers = if helped { vec![pool()] } else { vec![] };
    pool().install(|| {
        let peak = Peak::measured();
        let (flops, bytes) = (peak.flops / 1e9, peak.bytes / 1e9);
        print!("one thread: {flops:.0} GFLOP/s in a product of 512x512 matrices, ");
        println!("{bytes:.0} GB/s in `y + 0.5 x` of 64 MB each");
        let resnet18 = |batch| Setting {
            name: "resnet18, 32x32",
            algorithm: Box::new(FedAvg::default()),
            model: built("resnet18", COLOUR),
            task: COLOUR,
            batch,
        };
        let models = [resnet18(10), resnet18(50)].into_iter().chain(of_papers());
        let named: Vec<String> = std::env::args()
            .skip(1)
            .filter(|a| !a.starts_with("--"))
            .collect();
        for setting in models {
            let Setting { name, batch, .. } = setting;
            if named.is_empty() || named.iter().any(|part| name.contains(part)) {
                println!("\n{name}, batch {batch}\n");
                let model = (setting.model, setting.task);
                let (step, graph) = Step::new(&*setting.algorithm, model, batch, false);
                team::with_helpers(&helpers, || table(step, &graph, &peak));
            }
        }
    });
}

/// The peak rates of the machine.
struct Peak {
    /// Floating-point operations per second.
    flops: f64,
    /// Bytes per second, from and to memory.
    bytes: f64,
}

impl Peak {
    fn measured() -> Self {
        let device = Device::default();
        let (side, long) = (512, 16 << 20);
        let a = Tensor::<2>::ones([side, side], &device);
        let product = fastest(|| a.clone().matmul(a.clone()));
        let (x, mut y) = (vec![1.0_f32; long], vec![1.0_f32; long]);
        // Both operands are read, and one is written.
        let sum = fastest(|| {
            for (y, x) in y.iter_mut().zip(&x) {
                *y += 0.5 * x;
            }
        });
        Self {
            flops: 2.0 * (side * side * side) as f64 / product.as_secs_f64(),
            bytes: 12.0 * long as f64 / sum.as_secs_f64(),
        }
    }
}

/// The shortest time of several runs.
fn fastest<T>(mut run: impl FnMut() -> T) -> Duration {
    let time = |_| {
        let start = Instant::now();
        std::hint::black_box(run());
        start.elapsed()
    };
    (0..20).map(time).min().unwrap()
}

/// The totals of the ops of a step that have the same kind and shapes.
#[derive(Default)]
struct Row {
    count: usize,
    seconds: f64,
    flops: u64,
    bytes: u64,
}

impl Row {
    fn add(&mut self, other: &Row) {
        self.count += other.count;
        self.seconds += other.seconds;
        self.flops += other.flops;
        self.bytes += other.bytes;
    }

    fn print(&self, name: &str, step: f64, peak: &Peak) {
        let (flops, bytes) = (
            self.flops as f64 / self.seconds,
            self.bytes as f64 / self.seconds,
        );
        println!(
            "| {name} | {} | {:.2} | {:.0} % | {:.0} | {:.0} % | {:.0} | {:.0} % |",
            self.count,
            1e3 * self.seconds,
            100.0 * self.seconds / step,
            flops / 1e9,
            100.0 * flops / peak.flops,
            bytes / 1e9,
            100.0 * bytes / peak.bytes
        );
    }
}

/// Prints the ops of a step as two Markdown tables: the totals by kind and shapes, and the totals by kind.
fn table(mut step: Step, graph: &Graph, peak: &Peak) {
    let times = medians(&mut step);
    let total = times.iter().sum();
    let (mut rows, mut by_op) = (Rows::new(), Rows::new());
    for ((name, row), seconds) in instructions(&step.plan, graph).into_iter().zip(times) {
        let row = Row { seconds, ..row };
        let op = name.split(' ').next().unwrap_or_default().to_owned();
        by_op.entry(op).or_default().add(&row);
        rows.entry(name).or_default().add(&row);
    }
    print_rows("op, operands → result", rows, total, peak);
    println!();
    print_rows("op", by_op, total, peak);
}

type Rows = BTreeMap<String, Row>;

/// Prints the rows that take at least 1 % of a step, the longest first, then the sum of the others, and the total.
fn print_rows(of: &str, rows: Rows, total: f64, peak: &Peak) {
    let mut rows: Vec<(String, Row)> = rows.into_iter().collect();
    rows.sort_by(|(_, a), (_, b)| b.seconds.total_cmp(&a.seconds));
    let (mut others, mut all) = (Row::default(), Row::default());
    print!("| {of} | times | ms | of the step ");
    println!("| GFLOP/s | of the peak | GB/s | of the peak |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for (name, row) in &rows {
        all.add(row);
        match row.seconds < SHOWN * total {
            true => others.add(row),
            false => row.print(name, total, peak),
        }
    }
    others.print("others", total, peak);
    all.print("all", total, peak);
}

/// The median time of each instruction of a step, in seconds.
fn medians(step: &mut Step) -> Vec<f64> {
    let mut times = vec![vec![]; step.plan.instrs.len()];
    for _ in 0..WARM_UP {
        step.take();
    }
    for _ in 0..STEPS {
        let mut last = Instant::now();
        step.observed(|i| {
            let now = Instant::now();
            times[i].push((now - last).as_secs_f64());
            last = now;
        });
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    times.into_iter().map(median).collect()
}

/// For each instruction of a graph's plan: its kind and shapes, its FLOPs, and the bytes that it moves.
fn instructions(plan: &Plan, graph: &Graph) -> Vec<(String, Row)> {
    let mut nodes = graph.nodes.iter().zip(cost(graph).nodes);
    let instructions = plan.instrs.iter().map(|instr| {
        let (mut names, mut row) = (vec![], Row::default());
        row.count = 1;
        // An instruction is one node of the graph, or two that were merged; the last one has its result.
        for (node, cost) in nodes.by_ref() {
            names.push(form(graph, node));
            row.flops += cost.flops;
            row.bytes += cost.read + cost.written;
            if node.outs[0] == instr.results[0] {
                break;
            }
        }
        (names.join(" and "), row)
    });
    instructions.collect()
}

/// An op with the shapes of its first operands and of its result.
fn form(graph: &Graph, node: &Node) -> String {
    let shape = |v| {
        let sizes = graph.shape(v).iter().map(usize::to_string);
        sizes.collect::<Vec<_>>().join("x")
    };
    let operands: Vec<String> = node.ins.iter().take(2).map(|v| shape(*v)).collect();
    let more = if node.ins.len() > 2 { ", …" } else { "" };
    format!(
        "{} {}{more} → {}",
        node.op.name(),
        operands.join(", "),
        shape(node.outs[0])
    )
}
