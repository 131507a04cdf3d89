//! Numbers of parameters, against those of the papers.

use burn::tensor::Device;
use fedround_models::{
    AdultMlp, CaptionConfig, DigitsConfig, Discriminator, FedAaConfig, LgLeNet5, LgMlp, Model,
    ResNetConfig, SimSiam, Stem, Task, VaeConfig, VqaConfig, find, identifier,
};

const GREY: Task = Task {
    input: [1, 28, 28],
    classes: 10,
};
const COLOUR: Task = Task {
    input: [3, 32, 32],
    classes: 10,
};

fn device() -> Device {
    Device::default()
}

/// Trained parameters of a part; the empty part is the whole model.
fn trained(model: &dyn Model, part: &str) -> usize {
    let leaves = model.leaves().into_iter();
    let of_part = leaves.filter(|l| !l.buffer && l.name.starts_with(part));
    of_part.map(|l| l.shape.iter().product::<usize>()).sum()
}

#[test]
fn lg_fedavg() {
    let lenet = LgLeNet5::new(COLOUR, &device());
    assert_eq!(trained(&lenet, ""), 64_102);
    assert_eq!(trained(&lenet, "features."), 2_872);
    let mlp = LgMlp::new(GREY, &device());
    assert_eq!(trained(&mlp, ""), 633_226);
    assert_eq!(trained(&mlp, "head."), 99_978);
    let rows = Task {
        input: [1, 1, 93],
        classes: 2,
    };
    let adult = AdultMlp::new(rows, &device());
    assert_eq!(
        trained(&adult, "features."),
        93 * 32 + 32 + 2 * (32 * 32 + 32)
    );
    // 32-32-32-1 with a second logit.
    assert_eq!(trained(&adult, "head."), 2 * (32 * 32 + 32) + 2 * 33);
}

#[test]
fn questions() {
    let vqa = VqaConfig::new(1_000).init(&device());
    assert_eq!(trained(&vqa, "head."), 5_149_200);
    // torchvision's ResNet-18 of 1000 classes.
    assert_eq!(trained(&vqa, "features.image."), 11_689_512);
    // torch.nn.LSTM(300, 512, 2) and the vectors.
    assert_eq!(trained(&vqa, "features.question."), 3_768_320 + 300 * 1_000);
    assert_eq!(trained(&vqa, ""), 20_607_032 + 300 * 1_000);
}

#[test]
fn fedaa() {
    let cnn = FedAaConfig::default().init(COLOUR, &device());
    assert_eq!(trained(&cnn, ""), 3_825_930);
    assert_eq!(
        trained(&identifier(256, &device()), ""),
        131_584 + 262_656 + 513
    );
}

#[test]
fn captions() {
    let model = CaptionConfig::new(1_000).init(&device());
    assert_eq!(trained(&model, "features."), 23_508_032);
    let attention = 2048 * 512 + 512 + 512 * 512 + 512 + 512 + 1;
    let start = 2 * (2048 * 512 + 512);
    let gate = 512 * 2048 + 2048;
    let lstm = 4 * 512 * (512 + 2048 + 512 + 2);
    let words = 1_000 * 512 + 512 * 1_000 + 1_000;
    assert_eq!(
        trained(&model, "head."),
        attention + start + gate + lstm + words
    );
}

#[test]
fn adcol() {
    let config = ResNetConfig {
        stem: Stem::ImageNet,
        ..ResNetConfig::resnet50()
    };
    let encoder = config.encoder(3, &device());
    let model = SimSiam::new(encoder, config.features(), 512, COLOUR, &device());
    assert_eq!(trained(&model, ""), 37_157_962);
    assert_eq!(trained(&model, "features."), 23_508_032);
    assert_eq!(trained(&model, "projector."), 12_595_200);
    assert_eq!(trained(&model, "predictor."), 1_054_730);
    let buffers = model.leaves().into_iter().filter(|l| l.buffer);
    assert_eq!(buffers.map(|l| l.shape[0]).sum::<usize>(), 66_432);
    assert_eq!(
        trained(&Discriminator::mlp(2048, 5, &device()), ""),
        1_314_309
    );
    let digits = Task {
        input: [3, 28, 28],
        classes: 10,
    };
    let cnn = DigitsConfig::default().init(digits, &device());
    assert_eq!(trained(&cnn, ""), 14_219_210);
    let small = find("adcol-digits").unwrap().build(digits, &device());
    assert_eq!(trained(&*small.unwrap(), ""), 292_858);
}

#[test]
fn residual_networks() {
    let small = ResNetConfig::resnet50().init(COLOUR, &device());
    assert_eq!(trained(&small, ""), 23_520_842);
    let imagenet = Task {
        input: [3, 224, 224],
        classes: 1000,
    };
    let config = ResNetConfig {
        stem: Stem::ImageNet,
        ..ResNetConfig::resnet50()
    };
    assert_eq!(trained(&config.init(imagenet, &device()), ""), 25_557_032);
}

#[test]
fn fedfed() {
    let vae = VaeConfig::new([3, 32, 32]).init(&device());
    assert_eq!(trained(&vae, ""), 12_648_774);
}
