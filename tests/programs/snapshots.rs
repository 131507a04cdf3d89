//! Snapshots of FedAvg and FedProx at every stage of their compilation.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use fedround::algorithms::{FedAvg, FedProx};
use fedround::exec::Precision;
use fedround::ir::fed::print;
use fedround::passes::fed::link_with;
use fedround::passes::{Ir, PassEvent, PassManager, PassObserver, Run};
use fedround::prelude::*;
use fedround::testing::{Stage, View, graph_text};

/// Compares with `snapshots/<kind>/<case>.snap`.
pub(crate) fn snapshot(kind: &str, case: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("../../snapshots/{kind}"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(case, text));
}

fn fed_prox() -> FedProx {
    FedProx {
        base: FedAvg::default(),
        mu: 0.1,
    }
}

/// Both algorithms at a stage, on the 2NN.
fn both(kind: &str, suffix: &str, stage: Stage) {
    let algorithms: [(&str, &dyn Algorithm); 2] =
        [("fedavg", &FedAvg::default()), ("fedprox", &fed_prox())];
    for (name, algorithm) in algorithms {
        let text = graph_text(algorithm, stage).unwrap();
        snapshot(kind, &format!("{name}{suffix}"), &text);
    }
}

#[test]
fn staged() {
    both("ir", "", Stage::Fed);
}

#[test]
fn linked() {
    both("ir", ".linked", Stage::Linked);
}

#[test]
fn step() {
    both("tensor", "", Stage::Tensor);
}

/// A convolutional network whose products read bf16: each weight is rounded once a step.
#[test]
fn mixed_precision() {
    let view = View::of(Stage::Tensor).model("cnn").batch(4);
    let text = graph_text(&FedAvg::default(), view.precision(Precision::BF16)).unwrap();
    snapshot("tensor", "fedavg.cnn.bf16", &text);
}

#[test]
fn plan() {
    both("plan", "", Stage::Plan);
}

#[test]
fn algorithm_box() {
    both("box", "", Stage::Box);
}

#[test]
fn parties() {
    both("parties", "", Stage::Parties);
}

#[test]
fn wire() {
    both("wire", "", Stage::Wire);
}

/// Too long to be read as tensor graphs: the iterations of L-BFGS, the steps of a β-VAE, those of
/// eight networks, and parties' that train twice. Their ops are counted.
const LONG: [&str; 4] = ["fedaa", "fedfed", "fada", "fixed-parties"];

/// What graphs take and give, and how many ops of each kind they have.
fn counted(text: &str) -> String {
    let mut found = String::new();
    for graph in text.split("tensor.graph @").skip(1) {
        let (head, body) = graph.split_once(") {").unwrap();
        let (name, inputs) = head.split_once('(').unwrap();
        let (mut ops, mut results, mut given) = (BTreeMap::<&str, usize>::new(), 0, 0);
        for line in body.lines().map(str::trim) {
            if let Some((_, value)) = line
                .split_once(" = ")
                .filter(|_| line.starts_with("return "))
            {
                results += 1;
                // What is computed has a number for a name.
                let number = value.strip_prefix('%').unwrap().parse::<usize>();
                given += usize::from(number.is_err());
            } else if let Some((_, op)) = line.split_once(" = tensor.") {
                *ops.entry(op.split([' ', '[']).next().unwrap()).or_default() += 1;
            }
        }
        let ops: Vec<String> = ops.iter().map(|(op, n)| format!("{n} {op}")).collect();
        let inputs = inputs.matches('%').count();
        let ops = match ops.as_slice() {
            [] => "nothing".to_owned(),
            ops => ops.join(", "),
        };
        let sizes = format!("{inputs} inputs, {results} results, {given} of them inputs");
        writeln!(found, "{name}: {sizes}\n  {ops}").unwrap();
    }
    found
}

/// Every other bundled algorithm with its defaults, on logistic regression: what it reads as, what it
/// sends, its linked program and its graphs.
#[test]
fn baselines() {
    let stages = [
        ("box", "", Stage::Box),
        ("wire", "", Stage::Wire),
        ("parties", "", Stage::Parties),
        ("ir", ".linked", Stage::Linked),
        ("tensor", "", Stage::Tensor),
    ];
    let registry = fedround::algorithms::registry();
    let shown = ["fedavg", "fedprox"];
    let mut refused = vec![];
    for name in registry.names().into_iter().filter(|n| !shown.contains(n)) {
        let algorithm = registry.parse(name).unwrap();
        // Logistic regression is all head.
        let model = if ["lg-fedavg", "frozen", "split-learning"].contains(&name) {
            "2nn"
        } else {
            "logistic"
        };
        for (kind, suffix, stage) in stages {
            let view = View::of(stage).model(model).batch(4);
            let view = view.column("protected", &[2]);
            let text = graph_text(&*algorithm, view);
            let mut text = match (text, stage) {
                // It needs a simulation.
                (Err(why), Stage::Parties) => {
                    refused.push(name);
                    format!("{why}\n")
                }
                (text, _) => text.unwrap(),
            };
            if stage == Stage::Tensor && LONG.contains(&name) {
                text = counted(&text);
            }
            snapshot(kind, &format!("{name}{suffix}"), &text);
        }
    }
    assert_eq!(refused, ["fedasync", "push-sum"]);
}

/// DP-FedAvg, McMahan et al. 2018, Algorithm 1, with equal weights, and `σ = z C` where the
/// paper divides by the number of clients.
#[derive(Hyper, Debug, Clone)]
pub struct DpFedAvg<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `C`: bound on the length of an update.
    #[hyper(default = 0.5, range = 0.0..)]
    pub clip: f32,
    /// `z`: noise for each unit of the bound.
    #[hyper(default = 0.1, range = 0.0..)]
    pub z: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for DpFedAvg<A> {
    /// `Δ_k ← clip(θ_k − θ_0, C)`.
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let delta = self.base.client_update(k, w) - k.global_params();
        k.global_params() + delta.clip(self.clip)
    }

    /// `Δ̃ ← 1/m Σ Δ_k + N(0, (z C)²)`.
    fn aggregate(&self, server: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        server.claim(Dp::Central);
        w_k.mean().noise(self.z * self.clip)
    }
}

#[test]
fn dp_fed_avg() {
    let algorithm = DpFedAvg {
        base: FedAvg::default(),
        clip: 0.5,
        z: 0.1,
    };
    let stages = [
        ("ir", ".linked", Stage::Linked),
        ("box", "", Stage::Box),
        ("wire", "", Stage::Wire),
    ];
    for (kind, suffix, stage) in stages {
        let text = graph_text(&algorithm, stage).unwrap();
        snapshot(kind, &format!("dpfedavg{suffix}"), &text);
    }
}

#[test]
fn adversary() {
    let stages = [
        ("ir", ".linked", Stage::Linked),
        ("box", "", Stage::Box),
        ("wire", "", Stage::Wire),
    ];
    for (kind, suffix, stage) in stages {
        let text = graph_text(&crate::common::adversary::Adversary::default(), stage).unwrap();
        snapshot(kind, &format!("adversary{suffix}"), &text);
    }
}

/// What the passes after `link-hooks` do, one case for each run that changes something.
#[test]
fn passes() {
    let without = FedProx {
        mu: 0.0,
        ..fed_prox()
    };
    let algorithms: [(&str, &dyn Algorithm); 3] = [
        ("fedavg", &FedAvg::default()),
        ("fedprox", &fed_prox()),
        ("fedprox_without_its_term", &without),
    ];
    for (name, algorithm) in algorithms {
        let runs: Mutex<Vec<(&str, usize)>> = Mutex::default();
        let staged = fedround::stage(algorithm).unwrap();
        let observer = PassObserver::new(move |event| {
            let PassEvent::Ran(Run {
                pass,
                before: Ir::Fed(before),
                after: Ir::Fed(after),
                ..
            }) = event
            else {
                return;
            };
            let mut runs = runs.lock().unwrap();
            let (before, after) = (print(before), print(after));
            // Linking starts from the snapshot in `ir`.
            if pass == "link-hooks" {
                snapshot("pass", &format!("{name}.link-hooks"), &after);
            } else if before != after {
                let count = runs.iter().filter(|(run, _)| *run == pass).count() + 1;
                runs.push((pass, count));
                let case = match count {
                    1 => format!("{name}.{pass}"),
                    n => format!("{name}.{pass}-{n}"),
                };
                let text = format!("// before {pass}\n{before}\n// after {pass}\n{after}");
                snapshot("pass", &case, &text);
            }
        });
        let linked = link_with(staged, &mut PassManager::observed_by(Some(observer)));
        assert!(linked.is_ok(), "{name}");
    }
}

/// Every snapshot under a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let nested = entries.map(|path| {
        if path.is_dir() {
            files(&path)
        } else {
            vec![path]
        }
    });
    nested.flatten().collect()
}

#[test]
fn snapshots_are_small_and_tell_no_paths() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kinds = fs::read_dir(root.join("snapshots")).unwrap();
    let kinds: Vec<PathBuf> = kinds.map(|entry| entry.unwrap().path()).collect();
    assert!(kinds.len() >= 9, "{kinds:?}");
    for kind in kinds {
        let files = files(&kind);
        assert!(!files.is_empty(), "{}", kind.display());
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let body = text.splitn(3, "---\n").nth(2).unwrap();
            let lines = body.lines().count();
            assert!(lines <= 250, "{} has {lines} lines", file.display());
            // Programs that parties cannot run are refused with the line of their spec.
            let source = (!kind.ends_with("parties")).then_some(".rs");
            for path in source.into_iter().chain([&*root.to_string_lossy()]) {
                assert!(!body.contains(path), "{} contains {path}", file.display());
            }
        }
    }
}
