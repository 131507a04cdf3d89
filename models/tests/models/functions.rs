//! The functions of each model, by name.

use burn::tensor::{Device, Int, Tensor};
use fedround_models::layers::{Mlp, NormKind};
use fedround_models::{
    AdultMlp, AnyTensor, BlockKind, CaptionConfig, Discriminator, ForwardCx, Model, Moon,
    ResNetConfig, ResNetGenerator, SimSiam, Stem, Task, VaeConfig, VqaConfig,
};

const TASK: Task = Task {
    input: [3, 8, 8],
    classes: 4,
};

fn encoder() -> ResNetConfig {
    ResNetConfig {
        stem: Stem::Small,
        block: BlockKind::Basic,
        depths: [1; 4],
        width: 2,
        norm: NormKind::Batch,
    }
}

fn floats<const D: usize>(shape: [usize; D]) -> AnyTensor {
    Tensor::<D>::ones(shape, &Device::default()).into()
}

fn words() -> AnyTensor {
    Tensor::<2, Int>::zeros([2, 3], &Device::default()).into()
}

fn word() -> AnyTensor {
    Tensor::<1, Int>::zeros([2], &Device::default()).into()
}

/// Calls every function of a model, in training; `rows` says with what and what shape they give.
fn check(model: &dyn Model, rows: &[(&str, Vec<AnyTensor>, &[usize])]) {
    let names: Vec<&str> = rows.iter().map(|(name, ..)| *name).collect();
    assert_eq!(model.functions(), names);
    for (name, inputs, shape) in rows {
        let cx = ForwardCx::training();
        let output = model.call(name, inputs, &cx).unwrap();
        assert_eq!(output.value.shape(), *shape, "{name}");
        let buffers = model.leaves().iter().filter(|l| l.buffer).count();
        assert_eq!(output.buffers.len(), buffers);
    }
}

#[test]
fn projections() {
    let device = Device::default();
    let image = || vec![floats([2, 3, 8, 8])];
    let (e, f) = (encoder().encoder(3, &device), encoder().features());
    check(
        &Moon::new(e.clone(), f, 5, TASK, &device),
        &[
            ("forward", image(), &[2, 4]),
            ("project", image(), &[2, 5]),
            ("head", vec![floats([2, 5])], &[2, 4]),
        ],
    );
    check(
        &SimSiam::new(e, f, 5, TASK, &device),
        &[
            ("forward", image(), &[2, 4]),
            ("project", image(), &[2, 16]),
            ("head", vec![floats([2, 16])], &[2, 4]),
        ],
    );
}

#[test]
fn adversaries() {
    let device = Device::default();
    let h = || vec![floats([2, 8])];
    check(
        &Mlp::new(&[8, 4, 1], &device),
        &[("discriminate", h(), &[2, 1])],
    );
    let plane = Discriminator::resnet(encoder(), 8, 2, 3, &device);
    check(&plane, &[("discriminate", h(), &[2, 3])]);
    let rows = Task {
        input: [1, 1, 8],
        classes: 2,
    };
    let row = || vec![floats([2, 1, 1, 8])];
    check(
        &AdultMlp::new(rows, &device),
        &[
            ("forward", row(), &[2, 2]),
            ("features", row(), &[2, 32]),
            ("head", vec![floats([2, 32])], &[2, 2]),
        ],
    );
}

#[test]
#[should_panic(expected = "expected representations of 3 square images, found 8 features")]
fn a_representation_that_is_no_image() {
    Discriminator::resnet(encoder(), 8, 3, 3, &Device::default());
}

#[test]
fn generators() {
    let device = Device::default();
    let image = || vec![floats([2, 3, 8, 8])];
    let vae = VaeConfig {
        width: 4,
        latent: 5,
        ..VaeConfig::new([3, 8, 8])
    };
    check(
        &vae.init(&device),
        &[
            ("encode", image(), &[2, 10]),
            ("sample", vec![floats([2, 10])], &[2, 5]),
            ("decode", vec![floats([2, 5])], &[2, 3, 8, 8]),
            ("reconstruct", image(), &[2, 3, 8, 8]),
        ],
    );
    let plain = ResNetGenerator::new(3, 2, 1, &device);
    check(
        &plain,
        &[
            ("reconstruct", image(), &[2, 3, 8, 8]),
            ("encode", image(), &[2, 2]),
        ],
    );
}

#[test]
fn language() {
    let device = Device::default();
    let image = || floats([2, 3, 16, 16]);
    let captions = CaptionConfig {
        encoder: encoder(),
        embedding: 3,
        attention: 4,
        units: 3,
        ..CaptionConfig::new(7)
    };
    check(
        &captions.init(&device),
        &[
            ("forward", vec![image(), words()], &[2, 3, 7]),
            ("encode_image", vec![image()], &[2, 4, 16]),
            ("features", vec![image()], &[2, 16]),
            ("decode", vec![floats([2, 4, 16]), words()], &[2, 3, 7]),
            ("start", vec![floats([2, 4, 16])], &[2, 6]),
            (
                "step",
                vec![floats([2, 4, 16]), word(), floats([2, 6])],
                &[2, 13],
            ),
        ],
    );
    let questions = VqaConfig {
        image: encoder(),
        image_classes: 6,
        units: 2,
        joint: 4,
        answers: 5,
        ..VqaConfig::new(7)
    };
    check(
        &questions.init(&device),
        &[
            ("forward", vec![image(), words()], &[2, 5]),
            ("encode_image", vec![image()], &[2, 6]),
            ("encode_question", vec![words()], &[2, 8]),
            ("head", vec![floats([2, 6]), floats([2, 8])], &[2, 5]),
        ],
    );
}
