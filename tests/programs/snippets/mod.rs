//! Code that the docs show, compiled here.

mod embedding;
mod specs;

use std::path::Path;

use fedround::Algorithm;
use fedround::experiment::Report;
use fedround::models::Losses;
use fedround::testing::{Stage, View, graph_text};

/// The program of docs/your-own-data.md, which needs a file to run.
#[allow(dead_code, reason = "compiled and not run")]
#[rustfmt::skip]
fn own_data() -> Result<Report, Box<dyn std::error::Error>> {
    use fedround::Experiment;
    use fedround::algorithms::FedAvg;
    use fedround::data::{DataSpec, Partition, ReadOptions};

    let people = "csv:people.csv".parse::<DataSpec>()?.reading(ReadOptions {
        target: Some("income".to_owned()),
        client_column: Some("town".to_owned()),
        ..ReadOptions::default()
    });
    let report = Experiment::new(FedAvg::default())
        .model("logistic")
        .data(people)
        .clients(4)
        .partition(Partition::Natural)
        .run(20)?;
    Ok(report)
}

/// The program of docs/your-own-data.md with examples from memory, run.
#[rustfmt::skip]
fn memory() -> Result<Report, Box<dyn std::error::Error>> {
    use fedround::Experiment;
    use fedround::algorithms::FedAvg;
    use fedround::data::{Column, Dataset, Examples, Partition};

    // Rows of three numbers, whose largest number is the class.
    let rows = |n: usize| -> Result<Examples, Box<dyn std::error::Error>> {
        let number = |i: usize| ((i * 37) % 101) as f32 / 100.0;
        let values: Vec<f32> = (0..3 * n).map(number).collect();
        let largest = |row: &[f32]| (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b]));
        let labels: Vec<u16> = values.chunks(3).filter_map(largest).map(|y| y as u16).collect();
        let x = Column::floats("x", [3], values)?;
        Ok(Examples::of_columns(vec![x], labels)?)
    };
    let data = Dataset::new("rows", rows(300)?, rows(60)?, ["first", "second", "third"]);
    // Whose examples they are: an index of the names, for each training and each test example.
    let owners = |n: u32| (0..n).map(|i| i % 3).collect::<Vec<u32>>();
    let data = data.with_groups(owners(300), owners(60), ["ann", "ben", "eve"])?;
    let report = Experiment::new(FedAvg { fraction: 1.0, ..FedAvg::default() })
        .model("logistic")
        .data(data)
        .clients(3)
        .partition(Partition::Natural)
        .run(5)?;
    Ok(report)
}

/// The programs of docs/experiments.md, run.
#[rustfmt::skip]
fn experiment() -> Result<Report, Box<dyn std::error::Error>> {
    use fedround::Experiment;
    use fedround::algorithms::FedAvg;
    use fedround::data::{Partition, synth::SynthDigits};

    let data = SynthDigits { train: 200, test: 50, ..SynthDigits::default() }.generate();
    let report = Experiment::new(FedAvg::default())
        .model("logistic")
        .data(data)
        .clients(10)
        .partition(Partition::Iid)
        .seed(7)
        .run(3)?;
    println!("{} rounds, training loss {}", report.rounds(), report.train_loss());
    Ok(report)
}

/// The program of docs/experiments.md with noise, run.
#[rustfmt::skip]
fn private_experiment() -> Result<Report, Box<dyn std::error::Error>> {
    use fedround::Experiment;
    use fedround::algorithms::{AdaptiveClip, FedAvg};

    let report = Experiment::new(AdaptiveClip::<FedAvg>::default())
        .model("logistic")
        .clients(100)
        .delta(1e-6)
        .run(3)?;
    if let Some(spent) = &report.privacy {
        println!("ε = {:?} at δ = {}", spent.epsilon, spent.delta);
        for guarantee in &spent.guarantees {
            println!("{}: hides {:?}, ε = {:?}", guarantee.at, guarantee.hides, guarantee.epsilon);
            guarantee.grounds.iter().for_each(|grounds| print!("{}", grounds.text()));
        }
    }
    Ok(report)
}

/// Blocks that are no whole code, by their first lines.
const PIECES: [&str; 3] = [
    "for _ in 0..self.steps {\n    let (z, y) = sent.map(|k, _| {",
    "#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]",
    "fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {\n    if server.phase",
];

/// Code without its documentation, and without white space, which depends on where the code stands.
fn plain(code: &str) -> String {
    let documentation = |line: &&str| line.trim_start().starts_with("///");
    let lines = code.lines().filter(|line| !documentation(line));
    lines.flat_map(str::split_whitespace).collect()
}

#[test]
fn code_of_the_docs_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let algorithms = ["fed_prox", "fed_bn"];
    let sources = algorithms.map(|name| read(&format!("algorithms/src/{name}.rs")));
    let own = [
        include_str!("mod.rs"),
        include_str!("specs.rs"),
        include_str!("../../laws/computed_weights.rs"),
        include_str!("../../laws/label_counts.rs"),
        include_str!("../../laws/prox_skip.rs"),
    ];
    let compiled = plain(&(own.concat() + &sources.concat()));
    for page in [
        "docs/specs.md",
        "docs/your-own-data.md",
        "docs/experiments.md",
    ] {
        let text = read(page);
        for block in text.split("```rust\n").skip(1) {
            let block = block.split("```").next().unwrap().trim();
            let piece = PIECES.iter().any(|first| block.starts_with(first));
            assert!(
                piece || compiled.contains(&plain(block)),
                "{page}: nothing compiles this code:\n{block}"
            );
        }
    }
}

#[test]
fn algorithms_of_the_docs_have_graphs() {
    let algorithms: [&dyn Algorithm; 10] = [
        &<specs::Averaged>::default(),
        &<specs::Clustered>::default(),
        &<specs::FineTuned>::default(),
        &<specs::Feedback>::default(),
        &<specs::Gossip>::default(),
        &<specs::Lined>::default(),
        &<specs::Loudest>::default(),
        &<specs::Senders>::default(),
        &<specs::Arriving>::default(),
        &<specs::InTurn>::default(),
    ];
    for algorithm in algorithms {
        graph_text(algorithm, Stage::Box).unwrap();
    }
}

/// The loss of docs/specs.md has the shapes that it is given, in an algorithm that names it.
#[test]
fn the_loss_of_the_docs_is_traced() {
    let losses = Losses::default().with("ntd", specs::losses::ntd);
    let view = View::of(Stage::Tensor).model("logistic").losses(losses);
    graph_text(&<specs::NotTrue>::default(), view).unwrap();
}

#[test]
fn the_experiment_of_the_docs_runs() {
    assert_eq!(experiment().unwrap().rounds(), 3);
    let spent = private_experiment().unwrap().privacy.unwrap();
    assert_eq!((spent.delta, spent.guarantees.len()), (1e-6, 1));
    assert!(spent.epsilon.is_some());
}

#[test]
fn examples_from_memory_train() {
    let report = memory().unwrap();
    assert_eq!(report.client_accuracy.len(), 3);
    let accuracy = report.scores.unwrap().accuracy;
    assert!(accuracy > 0.5, "{accuracy}");
}
