//! Low-rank adapters of linear layers.

use burn::tensor::{Device, Tensor, TensorData};
use fedround_models::{ForwardCx, Layer, Layout, LowRank, Model, Task, Train, build};

const TASK: Task = Task {
    input: [1, 16, 16],
    classes: 10,
};

/// A model of a name with other values than zeros.
fn base(name: &str) -> Box<dyn Model> {
    let model = build(name, TASK, None, &Device::flex()).unwrap();
    let leaves = model.leaves().into_iter();
    let values = leaves.map(|leaf| numbers(&leaf.shape, 7));
    model.with_leaves(values.collect())
}

fn numbers(shape: &[usize], step: usize) -> TensorData {
    let n: usize = shape.iter().product();
    let values = (0..n).map(|i| ((i * step) % 11) as f32 / 40.0 - 0.1);
    TensorData::new(values.collect::<Vec<f32>>(), shape.to_vec())
}

fn adapted(name: &str, train: &str) -> Box<dyn Model> {
    match train.parse().unwrap() {
        Train::LowRank(adapters) => adapters.adapt(base(name)).unwrap(),
        Train::All => base(name),
    }
}

fn logits(model: &dyn Model) -> Vec<f32> {
    let x = Tensor::<4>::from_data(numbers(&[3, 1, 16, 16], 3), &Device::flex());
    let output = model.call("forward", &[x.into()], &ForwardCx::training());
    let logits = Tensor::<2>::from_dispatch(output.unwrap().value.into_dispatch());
    logits.into_data().iter::<f32>().collect()
}

#[test]
fn a_model_begins_as_its_base() {
    let adapted = adapted("lenet5", "lora:4");
    let leaves = adapted.leaves();
    let names: Vec<&str> = leaves.iter().map(|leaf| leaf.name.as_str()).collect();
    assert_eq!(
        names[..2],
        ["features.fc1.lora_a.weight", "features.fc1.lora_b.weight"]
    );
    assert_eq!(names.last(), Some(&"head.lora_b.weight"));
    let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let random = leaves.iter().map(|leaf| match leaf.layer {
        Layer::Linear => numbers(&leaf.shape, 5),
        _ => TensorData::zeros::<f32, _>(leaf.shape.clone()),
    });
    let begun = adapted.with_leaves(random.collect());
    assert_eq!(
        bits(logits(begun.as_ref())),
        bits(logits(base("lenet5").as_ref()))
    );
}

#[test]
fn adapters_add_a_product_to_the_weight() {
    let adapted = adapted("logistic", "lora:2:6");
    let leaves = adapted.leaves();
    let values: Vec<_> = leaves.iter().map(|l| numbers(&l.shape, 5)).collect();
    let trained = adapted.with_leaves(values.clone());
    let merged = trained.merged().unwrap();
    let [a, b] = [&values[0], &values[1]].map(|v| v.iter::<f32>().collect::<Vec<_>>());
    let before = base("logistic").leaves()[0].value();
    let after = merged.leaves()[0].value().iter::<f32>().collect::<Vec<_>>();
    for (i, w) in before.iter::<f32>().enumerate() {
        let (input, output) = (i / 10, i % 10);
        let product: f32 = (0..2).map(|k| a[2 * input + k] * b[10 * k + output]).sum();
        assert!((after[i] - (w + 3.0 * product)).abs() < 1e-6);
    }
    let (own, of_merged) = (logits(trained.as_ref()), logits(merged.as_ref()));
    assert_eq!(own, of_merged);
    assert_ne!(own, logits(base("logistic").as_ref()));
    assert!(merged.merged().is_none());
}

#[test]
fn the_rank_is_at_most_that_of_the_layer() {
    let shapes: Vec<_> = adapted("logistic", "lora:64").leaves();
    assert_eq!(shapes[0].shape, [256, 10]);
    assert_eq!(shapes[1].shape, [10, 10]);
}

#[test]
fn names_of_weights() {
    let of = |name: &str| LowRank::weight_of(name);
    assert_eq!(of("head.lora_a.weight").as_deref(), Some("head.weight"));
    assert_eq!(of("a.0.q.lora_b.weight").as_deref(), Some("a.0.q.weight"));
    assert_eq!(of("head.weight"), None);
}

#[test]
fn texts_round_trip() {
    for text in ["all", "lora:8", "lora:8:16", "lora:4:0.5"] {
        assert_eq!(text.parse::<Train>().unwrap().to_string(), text);
    }
    for text in ["", "lora", "lora:", "lora:0", "lora:2:0", "lora:2:x", "8"] {
        let error = text.parse::<Train>().unwrap_err().to_string();
        assert!(error.contains("lora:RANK"), "{error}");
    }
}

#[test]
fn files_of_pytorch_have_both_matrices_transposed() {
    let shapes: Vec<_> = adapted("logistic", "lora:2").leaves();
    let shapes: Vec<_> = shapes
        .iter()
        .map(|leaf| Layout::PyTorch.shape(leaf))
        .collect();
    let inputs = base("logistic").leaves()[0].shape[0];
    assert_eq!(shapes, [vec![2, inputs], vec![10, 2]]);
}
