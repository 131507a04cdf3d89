//! Files of weights: their layouts, parts of their names, and what does not fit.

use std::collections::HashMap;
use std::path::PathBuf;

use burn::tensor::Device;
use fedround_models::{
    AUXILIARIES, AuxiliaryTask, Layer, Layout, Leaf, MODELS, NamedValues, Task, Weights,
    WeightsError, assemble, find, to_safetensors,
};
use safetensors::tensor::{Dtype, TensorView, serialize};

const TASK: Task = Task {
    input: [1, 28, 28],
    classes: 10,
};

fn leaves(model: &str) -> Vec<Leaf> {
    let model = find(model).unwrap().build(TASK, &Device::default());
    model.unwrap().leaves()
}

/// Other numbers for each leaf.
fn numbered(leaves: &[Leaf]) -> Vec<Vec<f32>> {
    let of = |(i, leaf): (usize, &Leaf)| {
        let n = leaf.shape.iter().product::<usize>() as u32;
        (0..n).map(|j| (1000 * i) as f32 + j as f32).collect()
    };
    leaves.iter().enumerate().map(of).collect()
}

fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// A file of leaves in our layout, with this in its metadata.
fn with_metadata(name: &str, leaves: &[Leaf], about: &[(&str, &str)]) -> PathBuf {
    let values = numbered(leaves);
    let bytes = values
        .iter()
        .map(|values| -> Vec<u8> { values.iter().flat_map(|x| x.to_le_bytes()).collect() });
    let bytes: Vec<Vec<u8>> = bytes.collect();
    let views = leaves.iter().zip(&bytes).map(|(leaf, bytes)| {
        let view = TensorView::new(Dtype::F32, leaf.shape.clone(), bytes).unwrap();
        (leaf.name.as_str(), view)
    });
    let about = about
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let about: HashMap<String, String> = about.collect();
    write(name, &serialize(views, Some(about)).unwrap())
}

/// The second layer of the 2NN is square: a transposed one has the same shape.
#[test]
fn square_layers_of_our_own_files_are_not_transposed() {
    let leaves = leaves("2nn");
    let values = numbered(&leaves);
    let tensors = leaves
        .iter()
        .zip(&values)
        .map(|(leaf, values)| NamedValues {
            name: &leaf.name,
            shape: &leaf.shape,
            values,
        });
    let bytes = to_safetensors(&tensors.collect::<Vec<_>>(), Layout::Fedround).unwrap();
    let ours = [
        write("ours.safetensors", &bytes),
        with_metadata(
            "old.safetensors",
            &leaves,
            &[("producer", "fedround 0.1.0")],
        ),
        with_metadata("burn.safetensors", &leaves, &[("producer", "burn")]),
    ];
    for path in ours {
        let fitted = Weights::read(&path, &[]).unwrap().fit(&leaves).unwrap();
        let found: Vec<Vec<f32>> = fitted.values.into_iter().map(Option::unwrap).collect();
        assert!(found == values, "{}", path.display());
    }
    let path = with_metadata("theirs.safetensors", &leaves[2..3], &[("format", "pt")]);
    let weights = Weights::read(&path, &[]).unwrap();
    assert_eq!(weights.layout(), Layout::PyTorch);
    let square = weights.fit(&leaves).unwrap().values[2].clone().unwrap();
    // The file holds this leaf alone, whose numbers are from 0.
    assert_eq!(square[1], 200.0);
}

#[test]
fn an_unknown_layout_is_refused() {
    let path = with_metadata(
        "later.safetensors",
        &leaves("logistic"),
        &[("layout", "rows")],
    );
    let error = Weights::read(&path, &[]).err().unwrap();
    assert!(
        matches!(&error, WeightsError::Layout { found, .. } if found == "rows"),
        "{error}"
    );
}

#[test]
fn a_backbone_is_loaded_and_the_rest_is_named() {
    let leaves = leaves("2nn");
    let (backbone, _) = leaves.split_at(4);
    let mut others = backbone.to_vec();
    others.push(Leaf {
        name: "decoder.weight".into(),
        ..leaves[0].clone()
    });
    let path = with_metadata("backbone.safetensors", &others, &[("layout", "fedround")]);
    let fitted = Weights::read(&path, &[]).unwrap().fit(&leaves).unwrap();
    let names = |leaves: &[Leaf]| leaves.iter().map(|l| l.name.clone()).collect::<Vec<_>>();
    assert_eq!(fitted.report.loaded, names(backbone));
    assert_eq!(fitted.report.drawn, ["head.weight", "head.bias"]);
    assert_eq!(fitted.report.left_over, ["decoder.weight"]);
    let has: Vec<bool> = fitted.values.iter().map(Option::is_some).collect();
    assert_eq!(has, [true, true, true, true, false, false]);
}

#[test]
fn clashing_shapes_and_foreign_files_are_errors() {
    let (small, large) = (leaves("logistic"), leaves("2nn"));
    let path = with_metadata("small.safetensors", &small, &[("layout", "fedround")]);
    let weights = Weights::read(&path, &[]).unwrap();
    let error = weights.fit(&large).err().unwrap().to_string();
    let expected = "`head.weight` expected [200, 10], found [784, 10]";
    assert!(error.contains(expected), "{error}");
    let weights = Weights::read(&path, &[("head", "fc")]).unwrap();
    let error = weights.fit(&large).err().unwrap().to_string();
    assert!(
        error.contains("`head.bias`") && error.contains("`features.fc1.weight`"),
        "{error}"
    );
}

/// Initial values are drawn for layers that we know; a bundled network's matrices are all of those.
#[test]
fn matrices_of_bundled_networks_are_of_known_layers() {
    let device = Device::default();
    let known = |name: &str, leaves: Vec<Leaf>| {
        for leaf in leaves.iter().filter(|leaf| leaf.shape.len() > 1) {
            assert_ne!(leaf.layer, Layer::Other, "{name}: {}", leaf.name);
        }
    };
    for info in MODELS.iter().filter(|info| !info.name.contains("resnet50")) {
        let task = Task {
            input: [3, 32, 32],
            classes: 10,
        };
        let model = info.build_with(task, Some(20), &device).unwrap();
        known(info.name, model.leaves());
    }
    let task = Task {
        input: [1, 28, 28],
        classes: 10,
    };
    let mut refused = vec![];
    for auxiliary in AUXILIARIES {
        for variant in auxiliary.variant_names() {
            let around = AuxiliaryTask {
                task,
                clients: 4,
                variants: [(auxiliary.name.to_owned(), variant.to_owned())].into(),
            };
            let base = find("2nn").unwrap().build(task, &device).unwrap();
            let needed: Vec<String> = auxiliary.function_names().map(str::to_owned).collect();
            match assemble(base, &needed, &around, &device) {
                Ok(assembled) => known(auxiliary.name, assembled.model.leaves()),
                Err(error) => refused.push(format!("{} {variant}: {error}", auxiliary.name)),
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
