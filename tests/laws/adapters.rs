//! Low-rank adapters: what trains, what is sent, and where a run begins.

use fedround::Experiment;
use fedround::algorithms::{Adcol, FedAvg, FedRep, Scaffold};
use fedround::data::Partition;
use fedround::experiment::{Parameters, Run, merged, write_model};
use fedround::models::Train;
use fedround::prelude::*;

use crate::common::{assert_close, digits};

const CLIENTS: usize = 4;

/// A run of one step of gradient descent on all examples, or of what else the algorithm does.
fn prepare(algorithm: impl Algorithm, model: &str, train: &str) -> Run {
    let experiment = Experiment::new(algorithm)
        .model(model)
        .data(digits(40, 20))
        .clients(CLIENTS)
        .partition(Partition::Iid)
        .train(train.parse::<Train>().unwrap());
    experiment.prepare(2).unwrap()
}

fn descent() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        batch: 10,
        epochs: 1,
        lr: 0.5,
        ..FedAvg::default()
    }
}

fn parameters(run: &Run) -> Parameters {
    run.simulation().parameters().unwrap()
}

fn whole(run: &Run) -> Parameters {
    let model = run.program().model().model();
    merged(model, &parameters(run)).unwrap()
}

fn values<'a>(of: &'a Parameters, name: &str) -> &'a [f32] {
    let mut all = of.iter();
    let (_, _, values) = all.find(|(own, ..)| own == name).unwrap();
    values
}

fn bits(of: &Parameters) -> Vec<(String, Vec<u32>)> {
    let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect();
    let named = of.iter().map(|(name, _, v)| (name.clone(), bits(v)));
    named.collect()
}

#[test]
fn a_run_begins_as_its_base() {
    for model in ["2nn", "lenet5"] {
        let base = prepare(descent(), model, "all");
        let adapted = prepare(descent(), model, "lora:2");
        assert_eq!(bits(&parameters(&base)), bits(&whole(&adapted)), "{model}");
        let losses =
            [&base, &adapted].map(|run| run.evaluate_model().unwrap().evaluation.loss.to_bits());
        assert_eq!(losses[0], losses[1], "{model}");
    }
}

#[test]
fn adapters_alone_train_and_are_sent() {
    let mut run = prepare(descent(), "2nn", "lora:3");
    let (before, base) = (parameters(&run), whole(&run));
    let adapters = 3 * (784 + 200 + 200 + 200 + 200 + 10);
    assert_eq!(run.program().parameter_count(), adapters);
    let report = run.train(&mut ()).unwrap();
    let each = (4 * adapters) as u64;
    let down: Vec<u64> = report.history.iter().map(|r| r.bytes_down).collect();
    assert_eq!(down, [CLIENTS as u64 * each; 2]);
    // Beside the parameters, a client sends what it weighs.
    assert_eq!(report.history[0].bytes_up, CLIENTS as u64 * (each + 4));
    let after = whole(&run);
    for ((name, _, was), (_, _, is)) in base.iter().zip(&after) {
        assert_eq!(was == is, name.ends_with("bias"), "{name}");
    }
    for ((name, _, was), (_, _, is)) in before.iter().zip(&parameters(&run)) {
        assert_ne!(was, is, "{name}");
    }
    let losses = report.history.iter().map(|round| round.train_loss);
    let losses: Vec<f64> = losses.collect();
    assert!(losses[1] < losses[0], "{losses:?}");
}

/// `∂/∂A = (α/r) G Bᵀ` and `∂/∂B = (α/r) Aᵀ G`, where `G` is the gradient of the weight, which a step on the
/// whole model tells.
#[test]
fn a_step_follows_the_gradient_of_the_weight() {
    let (inputs, outputs, rank, scale, lr) = (784, 10, 2, 2.0, 0.5);
    let mut adapted = prepare(descent(), "logistic", "lora:2:4");
    let shapes = [inputs * rank, rank * outputs];
    let given = shapes.map(|n| (0..n).map(|i| ((i * 7) % 13) as f32 / 90.0 - 0.06));
    let given = given.map(|v| v.collect::<Vec<f32>>());
    assert!(adapted.set_parameters(given.to_vec()));
    let mut base = prepare(descent(), "logistic", "all");
    let start = whole(&adapted);
    assert!(base.set_parameters(start.iter().map(|leaf| leaf.2.clone()).collect()));
    let mut base = base.into_simulation();
    base.run_round().unwrap();
    let mut adapted = adapted.into_simulation();
    adapted.run_round().unwrap();

    let stepped = base.parameters().unwrap();
    let [from, to] = [&start, &stepped].map(|of| values(of, "head.weight"));
    let gradient: Vec<f32> = from.iter().zip(to).map(|(w, v)| (w - v) / lr).collect();
    let [a, b] = &given;
    let of_a = |i: usize, k: usize| -> f32 {
        let terms = (0..outputs).map(|o| gradient[i * outputs + o] * b[k * outputs + o]);
        a[i * rank + k] - lr * scale * terms.sum::<f32>()
    };
    let of_b = |k: usize, o: usize| -> f32 {
        let terms = (0..inputs).map(|i| a[i * rank + k] * gradient[i * outputs + o]);
        b[k * outputs + o] - lr * scale * terms.sum::<f32>()
    };
    let expected_a: Vec<f32> = (0..shapes[0]).map(|n| of_a(n / rank, n % rank)).collect();
    let expected_b: Vec<f32> = (0..shapes[1])
        .map(|n| of_b(n / outputs, n % outputs))
        .collect();
    let found = adapted.parameters().unwrap();
    assert_close(values(&found, "head.lora_a.weight"), &expected_a, 1e-5);
    assert_close(values(&found, "head.lora_b.weight"), &expected_b, 1e-5);
}

/// Control variates and parts of clients' own are those of adapters.
#[test]
fn algorithms_see_adapters_as_the_model() {
    let scaffold = Scaffold {
        fraction: 1.0,
        ..Scaffold::default()
    };
    let mut run = prepare(scaffold, "2nn", "lora:1");
    let adapters = run.program().parameter_count() as u64;
    assert_eq!(adapters, 784 + 200 + 200 + 200 + 200 + 10);
    let report = run.train(&mut ()).unwrap();
    assert!(report.history[0].bytes_down >= CLIENTS as u64 * 4 * adapters);
    assert!(report.history[0].bytes_up < CLIENTS as u64 * 12 * adapters);
    let of_head = |name: &str| name.starts_with("head.");
    let mut run = prepare(FedRep::default(), "2nn", "lora:2");
    let before = parameters(&run);
    run.train(&mut ()).unwrap();
    for ((name, _, was), (_, _, is)) in before.iter().zip(&parameters(&run)) {
        assert_eq!(was == is, of_head(name), "{name}");
    }
}

/// A network beside the model has no adapters: it trains in full, from the file's values if the file has it.
#[test]
fn networks_beside_the_model_begin_as_in_the_file() {
    let experiment = |seed: u64| {
        let experiment = Experiment::new(Adcol::<FedAvg>::default()).data(digits(40, 20));
        experiment.model("2nn").clients(CLIENTS).seed(seed)
    };
    let first = experiment(5).prepare(1).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.safetensors");
    write_model(&file, &parameters(&first)).unwrap();
    let adapted = experiment(1).weights(file).train("lora:2".parse().unwrap());
    let adapted = adapted.prepare(1).unwrap();
    assert_eq!(bits(&whole(&adapted)), bits(&parameters(&first)));
    let loaded = &adapted.loaded_weights().unwrap().loaded;
    assert_eq!(loaded.len(), parameters(&first).len());
}
