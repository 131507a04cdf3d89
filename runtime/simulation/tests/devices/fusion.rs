//! The kernels that a step is fused into, and their number.

use fedround_algorithms::{FedAvg, FedProx};
use fedround_dsl::Algorithm;
use fedround_exec::inspect::FusionError;
use fedround_exec::{Device, Program};
use fedround_models::{Losses, Task, find};
use fedround_trace::TracedModel;

use crate::cases::{CASES, Case};
use crate::gpus;

fn program(algorithm: &dyn Algorithm, model: &str, device: Device) -> Program {
    let task = Task {
        input: [1, 28, 28],
        classes: 10,
    };
    let built = find(model)
        .unwrap()
        .build(task, &burn::tensor::Device::flex());
    let tracer = TracedModel::new(model, built.unwrap(), task, Losses::default());
    Program::compile_for(algorithm, tracer, device).unwrap()
}

/// Where the texts are. `UPDATE_FUSED=1` writes them.
const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/devices/fused");

/// The texts by algorithm and model. The test may run on another machine than the one that it was
/// built on.
const TEXTS: [(&str, &str, &str); 5] = [
    ("fedavg", "2nn", include_str!("fused/fedavg.2nn.txt")),
    ("fedavg", "cnn", include_str!("fused/fedavg.cnn.txt")),
    ("fedavg", "lenet5", include_str!("fused/fedavg.lenet5.txt")),
    ("fedprox", "2nn", include_str!("fused/fedprox.2nn.txt")),
    ("fedprox", "cnn", include_str!("fused/fedprox.cnn.txt")),
];

/// Kernels show in the first line: a step that launches more of them changes its text.
#[test]
#[cfg_attr(
    not(any(feature = "wgpu", feature = "cuda")),
    ignore = "needs `--features wgpu` or `cuda`"
)]
fn steps_are_fused_as_in_the_texts() {
    let (fed_avg, fed_prox) = (FedAvg::default(), FedProx::<FedAvg>::default());
    let mut wrong = vec![];
    for device in gpus() {
        for (name, model, expected) in TEXTS {
            let algorithm: &dyn Algorithm = match name {
                "fedavg" => &fed_avg,
                _ => &fed_prox,
            };
            let program = program(algorithm, model, device);
            let text = program.fused_text(program.batch_size()).unwrap();
            let path = format!("{PATH}/{name}.{model}.txt");
            if std::env::var_os("UPDATE_FUSED").is_some() {
                std::fs::write(&path, &text).unwrap();
            } else if text != expected {
                wrong.push(format!("{path} is not\n{text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Those whose steps have many kernels, which take long to compile.
const SLOW: [&str; 14] = [
    "adaptive-clip",
    "adcol",
    "adfl",
    "disentangled",
    "dp-sgd",
    "fada",
    "fedaa",
    "fixed-parties",
    "hypcluster",
    "lg-fedavg",
    "oort",
    "partialfed",
    "per-fedavg",
    "validated",
];

/// Kernels of a step by algorithm and model, where a change that costs or saves some shows.
/// `UPDATE_FUSED=1` writes the file. FedFed has networks of its own. CI counts on the emulated CUDA driver, which then
/// compiles no kernel (`EMULATOR_SKIP`); on wgpu, only the programs in `fused/` are counted.
#[test]
#[cfg_attr(
    not(any(feature = "wgpu", feature = "cuda")),
    ignore = "needs `--features wgpu` or `cuda`"
)]
fn no_step_has_more_kernels() {
    let task = |side| Task {
        input: [1, side, side],
        classes: 10,
    };
    let quick = |case: &&Case| case.0 != "fedfed" && !SLOW.contains(&case.0);
    let dense = CASES.iter().filter(quick);
    let images = ["fedavg", "fedprox", "scaffold"];
    let images = CASES.iter().filter(|case| images.contains(&case.0));
    let images = |model| images.clone().map(move |case| (case, model, task(28)));
    let dense = dense.map(|case| (case, "2nn", task(8)));
    let cases = dense.chain(images("cnn")).chain(images("lenet5"));
    let device = gpus()[0];
    let line = |(case, model, task): (&Case, &str, Task)| {
        let kernels = case.kernels(model, task, device);
        format!("{} {model}: {kernels}\n", case.0)
    };
    let found: String = cases.map(line).collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/devices/kernels.txt");
    if std::env::var_os("UPDATE_FUSED").is_some() {
        std::fs::write(path, &found).unwrap();
    } else {
        assert_eq!(found, include_str!("kernels.txt"));
    }
}

#[test]
#[cfg_attr(
    not(any(feature = "wgpu", feature = "cuda")),
    ignore = "needs `--features wgpu` or `cuda`"
)]
fn clients_in_one_graph_share_its_kernels() {
    for device in gpus() {
        let program = program(&FedAvg::default(), "logistic", device);
        let kernels = |clients| program.step_kernels(clients).unwrap().unwrap();
        let (one, three) = (kernels(1), kernels(3));
        assert!(one > 1 && three < 2 * one, "{one} and {three}");
    }
}

#[test]
fn the_cpu_has_no_fusion_to_show() {
    let program = program(&FedAvg::default(), "logistic", Device::Cpu);
    assert_eq!(program.step_kernels(1).unwrap(), None);
    let error = program.fused_text(10).unwrap_err();
    assert!(matches!(error, FusionError::NotFused));
}
