//! Models with batch normalisation: PyTorch's names of their statistics, which are averaged like weights.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};
use fedround_dsl::Algorithm;
use fedround_flower::{Array, Arrays, ConfigValue, Dtype, MetricValue, Payload as Content};
use fedround_models::layers::BatchNorm;
use fedround_models::{Encoder, ForwardCx, Headed, Model, Task};
use fedround_simulation::Simulation;

use super::{AppTrainer, base, compiled, equals_its_simulation, prox, request, trainer_with};
use crate::model_source::ModelSource;

#[derive(Module, Debug)]
struct Normed {
    layer: Linear,
    norm: BatchNorm,
}

impl Encoder for Normed {
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        let h = self.layer.forward(x.flatten::<2>(1, 3));
        relu(self.norm.forward(h, cx))
    }
}

fn normed(task: Task, device: &Device) -> Box<dyn Model> {
    let features = Normed {
        layer: LinearConfig::new(784, 4).init(device),
        norm: BatchNorm::new(4, device),
    };
    Box::new(Headed::on(features, 4, task, device))
}

fn simulation(algorithm: impl Algorithm) -> Simulation {
    compiled(ModelSource::own_boxed("normed", normed), algorithm)
}

fn trainer(clients: &[usize]) -> AppTrainer<'static> {
    trainer_with(|| Box::new(base()), simulation, clients)
}

#[test]
fn clients_of_apps_are_those_of_the_simulation() {
    let both = [(); 2].map(|()| simulation(base()));
    equals_its_simulation(both, |client| trainer(&[client]));
    let both = [(); 2].map(|()| simulation(prox(0.25)));
    let with_term = |client| trainer_with(|| Box::new(prox(0.5)), simulation, &[client]);
    equals_its_simulation(both, with_term);
}

/// As PyTorch makes a model: statistics of 0 and 1, and a count of the batches.
fn initial() -> Arrays {
    let array = |shape: &[usize], value: f32| {
        let n: usize = shape.iter().product();
        let bytes: Vec<u8> = (0..n).flat_map(|_| value.to_le_bytes()).collect();
        Array::new(Dtype::F32, shape.to_vec(), bytes).unwrap()
    };
    let counter = Array::new(Dtype::I64, vec![], 7_i64.to_le_bytes().to_vec()).unwrap();
    let named = [
        ("features.layer.weight", array(&[4, 784], 0.01)),
        ("features.layer.bias", array(&[4], 0.0)),
        ("features.norm.weight", array(&[4], 1.0)),
        ("features.norm.bias", array(&[4], 0.0)),
        ("features.norm.running_mean", array(&[4], 0.0)),
        ("features.norm.running_var", array(&[4], 1.0)),
        ("features.norm.num_batches_tracked", counter),
        ("head.weight", array(&[10, 4], 0.1)),
        ("head.bias", array(&[10], 0.0)),
    ];
    Arrays::from_iter(named.map(|(name, array)| (name.to_owned(), array)))
}

fn trained(clients: &[usize]) -> Content {
    let content = request(initial(), &[("server-round", ConfigValue::Int(1))]);
    trainer(clients).answer("train", &content).unwrap()
}

fn floats(content: &Content, name: &str) -> Vec<f32> {
    let bytes = content.arrays("arrays").unwrap()[name].bytes().to_vec();
    let words = bytes.chunks(4);
    words
        .map(|word| f32::from_le_bytes(word.try_into().unwrap()))
        .collect()
}

#[test]
fn statistics_are_averaged_by_examples() {
    let all = trained(&[0, 1, 2]);
    let each = [0, 1, 2].map(|client| trained(&[client]));
    let examples = each.each_ref().map(|reply| {
        let MetricValue::Int(n) = reply.metrics("metrics").unwrap()["num-examples"] else {
            panic!("{reply:?}");
        };
        n as f32
    });
    let all_examples: f32 = examples.iter().sum();
    for (name, first) in [("running_mean", 0.0), ("running_var", 1.0)] {
        let name = format!("features.norm.{name}");
        let each = each.each_ref().map(|reply| floats(reply, &name));
        for (i, found) in floats(&all, &name).into_iter().enumerate() {
            let weighted = each.iter().zip(&examples).map(|(own, n)| own[i] * n);
            let expected = weighted.sum::<f32>() / all_examples;
            assert!(
                (found - expected).abs() < 1e-5,
                "{name}: {found}, {expected}"
            );
            // It was trained.
            assert!((found - first).abs() > 1e-3, "{name}: {found}");
        }
    }
}

/// What comes back has the names and shapes of what was sent, so that `load_state_dict` takes it.
#[test]
fn replies_have_the_names_of_a_state_dict() {
    let (sent, reply) = (initial(), trained(&[0]));
    let found = reply.arrays("arrays").unwrap();
    let shapes = |arrays: &Arrays| {
        let mut all: Vec<(String, Dtype, Vec<usize>)> = arrays
            .iter()
            .map(|(name, array)| (name.clone(), array.dtype(), array.shape().to_vec()))
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    };
    assert_eq!(shapes(found), shapes(&sent));
    // Nothing is computed with it.
    let counter = "features.norm.num_batches_tracked";
    assert_eq!(found[counter], sent[counter]);
}
