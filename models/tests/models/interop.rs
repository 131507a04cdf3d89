//! Models with weights in PyTorch's files against PyTorch itself.
//!
//! Expected logits, `tests/interop/logits.json`, are what `tests/interop/logits.py` prints; it says
//! how weights and images are made, which is repeated here.

use std::path::PathBuf;

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor, TensorData};
use fedround_models::layers::{Lstm, LstmState};
use fedround_models::{
    FedAaConfig, ForwardCx, Function, Layout, Leaf, Model, NamedValues, Network, NormKind, Task,
    Weights, find, load_weights, to_safetensors, to_torch_file,
};
use serde_json::Value;

const GREY: Task = Task {
    input: [1, 28, 28],
    classes: 10,
};
const COLOUR: Task = Task {
    input: [3, 32, 32],
    classes: 10,
};
const TOLERANCE: f32 = 1e-5;

/// An LSTM over the rows of an image, whose last output is classified.
#[derive(Module, Debug)]
struct Gates {
    lstm: Lstm,
    head: Linear,
}

impl Gates {
    fn forward(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        let [batch, _, rows, columns] = x.dims();
        let start = LstmState::zeros(batch, 16, &x.device());
        let (_, last) = self.lstm.forward(x.reshape([batch, rows, columns]), start);
        self.head.forward(last.hidden)
    }
}

impl Network for Gates {
    fn functions() -> Vec<Function<Self>> {
        vec![Function::new("forward", Self::forward)]
    }
}

fn models() -> Vec<(&'static str, Task, Box<dyn Model>)> {
    let device = Device::default();
    let bundled = |name: &str| find(name).unwrap().build(GREY, &device).unwrap();
    let normed = FedAaConfig {
        filters: [8, 16],
        units: [32, 24],
        norm: Some(NormKind::Batch),
    };
    let gates = Gates {
        lstm: Lstm::new(28, 16, &device),
        head: LinearConfig::new(16, 10).init(&device),
    };
    vec![
        ("2nn", GREY, bundled("2nn")),
        ("cnn", GREY, bundled("cnn")),
        ("normed-cnn", COLOUR, Box::new(normed.init(COLOUR, &device))),
        ("lstm", GREY, Box::new(gates)),
    ]
}

fn waves(frequency: f64, shape: &[usize]) -> Vec<f64> {
    let n = shape.iter().product::<usize>() as u32;
    (0..n)
        .map(|i| (frequency * f64::from(i).powi(2)).cos())
        .collect()
}

/// A tensor as `logits.py` makes it.
fn values(name: &str, shape: &[usize], frequency: f64) -> Vec<f32> {
    let norm = name.ends_with("running_var") || (shape.len() == 1 && name.ends_with("weight"));
    let inputs = shape[1..].iter().product::<usize>() as f64;
    let waves = waves(frequency, shape).into_iter();
    let all = waves.map(|wave| match shape.len() {
        _ if norm => 1.0 + wave / 2.0,
        1 => wave / 10.0,
        _ => 2.0 * wave / inputs.sqrt(),
    });
    all.map(|x| x as f32).collect()
}

/// The `state_dict` of a model, in the order of its leaves.
fn state_dict(leaves: &[Leaf]) -> Vec<(String, Vec<usize>, Vec<f32>)> {
    let name = |leaf: &Leaf| Layout::PyTorch.name(&leaf.name, leaf);
    let mut sorted: Vec<String> = leaves.iter().map(name).collect();
    sorted.sort_unstable();
    let tensors = leaves.iter().map(|leaf| {
        let (name, shape) = (name(leaf), Layout::PyTorch.shape(leaf));
        let at = sorted.iter().position(|other| *other == name).unwrap();
        let values = values(&name, &shape, 0.1 + 0.37 * at as f64);
        (name, shape, values)
    });
    tensors.collect()
}

fn named(tensors: &[(String, Vec<usize>, Vec<f32>)]) -> Vec<NamedValues<'_>> {
    let all = tensors.iter().map(|(name, shape, values)| NamedValues {
        name,
        shape,
        values,
    });
    all.collect()
}

/// A file of the test's own.
fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn logits(model: &dyn Model, task: Task) -> Vec<f32> {
    let [c, h, w] = task.input;
    let images = waves(0.05, &[2, c, h, w]).into_iter().map(|x| x as f32);
    let images = TensorData::new(images.collect::<Vec<_>>(), [2, c, h, w]);
    let x = Tensor::<4>::from_data(images, &Device::default());
    let output = model.call("forward", &[x.into()], &ForwardCx::inference());
    let logits = Tensor::<2>::from_dispatch(output.unwrap().value.into_dispatch());
    logits.into_data().try_to_vec().unwrap()
}

#[test]
fn logits_are_pytorchs() {
    let text = include_str!("../../../tests/interop/logits.json");
    let all: Value = serde_json::from_str(text).unwrap();
    for (name, task, model) in models() {
        let tensors = state_dict(&model.leaves());
        let path = write(
            &format!("{name}.pt"),
            &to_torch_file(&named(&tensors)).unwrap(),
        );
        let loaded = load_weights(model.as_ref(), "", &path, &[]).unwrap();
        let rows = all[name].as_array().unwrap().iter();
        let expected = rows.flat_map(|row| row.as_array().unwrap());
        let found = logits(loaded.as_ref(), task);
        assert_eq!(found.len(), expected.clone().count());
        for (found, expected) in found.iter().zip(expected) {
            let expected = expected.as_f64().unwrap() as f32;
            assert!(
                (found - expected).abs() < TOLERANCE,
                "{name}: {found}, {expected}"
            );
        }
    }
}

/// What is exported is what was loaded, in either kind of file.
#[test]
fn exported_weights_come_back() {
    for (name, _, model) in models() {
        let leaves = model.leaves();
        let tensors = state_dict(&leaves);
        let files = [
            to_torch_file(&named(&tensors)).unwrap(),
            to_safetensors(&named(&tensors), Layout::PyTorch).unwrap(),
        ];
        for bytes in files {
            let path = write(&format!("{name}.weights"), &bytes);
            let weights = Weights::read(&path, &[]).unwrap();
            assert_eq!(weights.layout(), Layout::PyTorch);
            let fitted = weights.fit(&leaves).unwrap();
            assert_eq!(fitted.report.loaded.len(), leaves.len());
            for ((leaf, values), (name, _, expected)) in
                leaves.iter().zip(fitted.values).zip(&tensors)
            {
                let found = Layout::PyTorch.from_ours(leaf, &values.unwrap());
                assert!(found == *expected, "{name}");
            }
        }
    }
}
