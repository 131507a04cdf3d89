//! Auxiliary networks beside a model: their sizes, names, functions and errors.

use std::collections::BTreeMap;

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor, TensorData};
use fedround_models::{
    AUXILIARIES, AnyTensor, Assembled, AuxiliaryTask, Classifier, ForwardCx, Model, Task, assemble,
    find,
};

const COLOUR: Task = Task {
    input: [3, 32, 32],
    classes: 10,
};

fn around(clients: usize, variants: &[(&str, &str)]) -> AuxiliaryTask {
    let own = |(name, variant): &(&str, &str)| ((*name).to_owned(), (*variant).to_owned());
    AuxiliaryTask {
        task: COLOUR,
        clients,
        variants: variants.iter().map(own).collect(),
    }
}

fn with(
    model: &str,
    functions: &[&str],
    variants: &[(&str, &str)],
) -> Result<Box<dyn Model>, String> {
    let device = Device::default();
    let base = find(model).unwrap().build(COLOUR, &device).unwrap();
    let needed: Vec<String> = functions.iter().map(|f| (*f).to_owned()).collect();
    let built = assemble(base, &needed, &around(5, variants), &device);
    built.map(|built| built.model).map_err(|e| e.to_string())
}

/// Trained parameters of a part.
fn count(model: &dyn Model, part: &str) -> usize {
    let leaves = model.leaves().into_iter().filter(|l| !l.buffer);
    let own = leaves.filter(|l| l.name.split('.').next() == Some(part));
    own.map(|l| l.shape.iter().product::<usize>()).sum()
}

fn images(n: usize) -> AnyTensor {
    Tensor::<4>::ones([n, 3, 32, 32], &Device::default()).into()
}

fn call(model: &dyn Model, function: &str, inputs: &[AnyTensor]) -> AnyTensor {
    let output = model.call(function, inputs, &ForwardCx::inference());
    output.unwrap_or_else(|e| panic!("{e}")).value
}

/// The counts of the papers.
#[test]
fn parameter_counts() {
    let of = |model: &str, function: &str, part: &str| {
        count(with(model, &[function], &[]).unwrap().as_ref(), part)
    };
    let resnet = "resnet50";
    assert_eq!(of(resnet, "discriminate", "discriminator"), 1_314_309);
    assert_eq!(of("fedaa-cnn", "identify", "identifier"), 394_753);
    assert_eq!(of("2nn", "generate", "generator"), 12_648_774);
    assert_eq!(of("lenet5", "judge", "judge"), 62_006);
    // 32-32-32-32-2, but for its first layer.
    assert_eq!(
        of("2nn", "expose", "adversary"),
        200 * 32 + 32 + 2 * (32 * 32 + 32) + 66
    );
    let linear = with(resnet, &["discriminate"], &[("discriminator", "linear")]);
    assert_eq!(count(linear.unwrap().as_ref(), "discriminator"), 1_314_309);
}

#[test]
fn all_functions_give_their_shapes() {
    let names = AUXILIARIES.iter().flat_map(|n| n.function_names());
    let needed: Vec<&str> = names.chain(["represent"]).collect();
    let model = with("lenet5", &needed, &[]).unwrap();
    let h = call(model.as_ref(), "represent", &[images(2)]);
    assert_eq!(h.shape(), [2, 84]);
    let shape = |function: &str, inputs: &[&AnyTensor]| {
        let inputs: Vec<AnyTensor> = inputs.iter().map(|&x| x.clone()).collect();
        call(model.as_ref(), function, &inputs).shape()
    };
    let x = &images(2);
    let halves = call(model.as_ref(), "disentangle", std::slice::from_ref(&h));
    assert_eq!(shape("discriminate", &[&h]), [2, 5]);
    assert_eq!(shape("identify", &[&h]), [2, 1]);
    assert_eq!(shape("generate", &[x]), [2, 3, 32, 32]);
    assert_eq!(shape("code", &[x]), [2, 4096]);
    assert_eq!(shape("judge", &[x]), [2, 10]);
    assert_eq!(shape("auxiliary", &[&h]), [2, 10]);
    assert_eq!(shape("decode", &[&h]), [2, 3, 32, 32]);
    assert_eq!(shape("arrange", &[&h]), [2, 24]);
    assert_eq!(shape("expose", &[&h]), [2, 2]);
    assert_eq!(halves.shape(), [2, 168]);
    assert_eq!(shape("classify_specific", &[&h]), [2, 10]);
    assert_eq!(shape("tell_domain", &[&h]), [2, 1]);
    assert_eq!(shape("mutual", &[&h, &h]), [2, 1]);
    assert_eq!(shape("rebuild", &[&halves]), [2, 84]);
}

#[test]
fn every_variant_is_built() {
    for network in &AUXILIARIES {
        for variant in network.variants {
            let function = network.function_names().next().unwrap();
            let model = with("fedaa-cnn", &[function], &[(network.name, variant.name)]);
            let found = count(model.unwrap().as_ref(), network.name);
            assert!(found > 0, "{} {}", network.name, variant.name);
        }
    }
    let variants = [("generator", "resnet")];
    let model = with("2nn", &["code"], &variants).unwrap();
    let code = call(model.as_ref(), "code", &[images(3)]);
    assert_eq!(code.shape(), [3, 2]);
}

/// Leaves of the base keep their names and their order, so that its initial values are the same.
#[test]
fn the_base_is_first_and_the_others_have_their_names() {
    let model = with("moon-lenet5", &["represent", "discriminate", "judge"], &[]).unwrap();
    let base = find("moon-lenet5").unwrap();
    let base = base.build(COLOUR, &Device::default()).unwrap().leaves();
    let leaves = model.leaves();
    for (leaf, own) in leaves.iter().zip(&base) {
        assert_eq!(leaf.name, own.name);
    }
    let rest = &leaves[base.len()..];
    assert_eq!(rest[0].name, "discriminator.layers.0.weight");
    assert_eq!(rest[0].shape, [256, 512]);
    assert!(rest[0].modules.contains(&"Linear".to_owned()));
    let judge = rest.iter().filter(|l| l.name.starts_with("judge."));
    for (leaf, own) in judge.clone().zip(&base) {
        assert_eq!(leaf.name, format!("judge.{}", own.name));
        assert_eq!((leaf.layer, &leaf.modules), (own.layer, &own.modules));
    }
    assert_eq!(judge.count(), base.len());
}

#[test]
fn a_model_that_lacks_nothing_is_left_alone() {
    let device = Device::default();
    let base = find("2nn").unwrap().build(COLOUR, &device).unwrap();
    let needed = ["forward", "features", "encode"].map(str::to_owned);
    let Assembled { model, auxiliaries } =
        assemble(base, &needed, &around(5, &[]), &device).unwrap();
    assert_eq!(model.functions(), ["forward", "features", "head"]);
    assert!(auxiliaries.is_empty());
}

/// A pass through one network updates its own buffers and gives the others' as they are.
#[test]
fn buffers_of_the_networks_that_did_not_run_stay() {
    let model = with("fedaa-cnn-bn", &["judge", "generate"], &[]).unwrap();
    let leaves = model.leaves();
    // Values that tell all buffers apart.
    let values = leaves
        .iter()
        .enumerate()
        .map(|(i, leaf)| match leaf.buffer {
            true => TensorData::full(leaf.shape.clone(), 1.0 + i as f32),
            false => leaf.value(),
        });
    let model = model.with_leaves(values.collect());
    let model = model.to_device(&Device::default());
    let buffers: Vec<_> = model.leaves().into_iter().filter(|l| l.buffer).collect();
    for (function, part) in [
        ("forward", "features"),
        ("judge", "judge"),
        ("code", "generator"),
    ] {
        let output = model.call(function, &[images(2)], &ForwardCx::training());
        let after = output.unwrap().buffers;
        assert_eq!(after.len(), buffers.len());
        for (leaf, after) in buffers.iter().zip(after) {
            let after = Tensor::<1>::from_dispatch(after).into_data();
            // The generator's decoder does not run for a code.
            let ran = leaf.name.starts_with(part) && !leaf.name.contains("decoder");
            assert_eq!(after != leaf.value(), ran, "{function}: {}", leaf.name);
        }
    }
}

/// A classifier of one layer with a part that has a network's name.
#[derive(Module, Debug)]
struct Named {
    identifier: Linear,
}

impl Classifier for Named {
    fn features(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        x.flatten(1, 3)
    }

    fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
        self.identifier.forward(h)
    }
}

#[test]
fn errors_say_what_there_is() {
    let expect = |found: Result<Box<dyn Model>, String>, expected: &str| {
        let found = found.err().unwrap();
        assert!(found.contains(expected), "{found}");
    };
    let needed = ["discriminate"];
    expect(
        with("2nn", &needed, &[("discriminat", "mlp")]),
        "unknown auxiliary network `discriminat`; there are discriminator, identifier",
    );
    expect(
        with("2nn", &needed, &[("discriminator", "cnn")]),
        "`discriminator` has no variant `cnn`; there are mlp, linear, resnet",
    );
    expect(
        with("lenet5", &needed, &[("discriminator", "resnet")]),
        "needs representations that are square images of at least 8x8, found 84 numbers",
    );
    let device = Device::default();
    let base = || {
        Box::new(Named {
            identifier: LinearConfig::new(3072, 10).init(&device),
        })
    };
    let named = |function: &str, task: AuxiliaryTask| {
        let built = assemble(base(), &[function.to_owned()], &task, &device);
        built.map(|built| built.model).map_err(|e| e.to_string())
    };
    expect(
        named("identify", around(5, &[])),
        "the model has a part `identifier` of its own",
    );
    let odd = AuxiliaryTask {
        task: Task {
            input: [1, 30, 30],
            ..COLOUR
        },
        clients: 5,
        variants: BTreeMap::new(),
    };
    expect(
        named("generate", odd),
        "needs images whose sides are multiples of 4, found 30x30",
    );
}

#[test]
fn calls_of_functions_that_are_not_there_point_to_networks() {
    let error = |model: &dyn Model, function: &str, inputs: &[AnyTensor]| {
        let called = model.call(function, inputs, &ForwardCx::inference());
        called.err().unwrap().to_string()
    };
    let base = with("2nn", &[], &[]).unwrap();
    let found = error(base.as_ref(), "identify", &[]);
    let expected = "unknown function of the model `identify`; there are forward, features, head; \
                    the networks in `AUXILIARIES` give more, which `assemble` adds";
    assert_eq!(found, expected);
    let both = with("2nn", &["identify", "represent"], &[]).unwrap();
    let found = error(both.as_ref(), "encode", &[]);
    let expected = "unknown function of the model `encode`; there are forward, features, head, \
                    represent, identify; the networks in `AUXILIARIES` give more, which `assemble` adds";
    assert_eq!(found, expected);
    let found = error(both.as_ref(), "identify", &[images(1)]);
    let expected = "`identify` takes floats of rank 2 as its tensor 1, found floats [1, 3, 32, 32]";
    assert_eq!(found, expected);
}
