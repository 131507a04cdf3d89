//! Gradients of networks from images to classes.

use fedround_models::{
    BlockKind, Classifier, DigitsConfig, Encoder, FedAaConfig, Headed, LgLeNet5, LgMlp, NormKind,
    Stem, Task,
};

use super::check::{At, check};
use super::{TINY, shallow};
use crate::gradients::case::{device, weigh};

/// All functions of an encoder with a linear head.
fn check_headed<E: Encoder>(name: &str, model: &Headed<E>, task: Task) {
    let [c, h, w] = task.input;
    let x = |at: &At| at.floats([5, c, h, w]);
    check(name, model, |m, at| weigh(m.forward(x(at), &at.cx)));
    check(name, &model.features, |m, at| {
        weigh(m.features(x(at), &at.cx))
    });
    let [width, _] = model.head.weight.dims();
    check(name, model, |m, at| {
        weigh(m.head(at.floats([2, width]), &at.cx))
    });
}

#[test]
fn residual_networks() {
    for (name, config) in [
        (
            "basic",
            shallow(BlockKind::Basic, Stem::Small, NormKind::Batch),
        ),
        (
            "bottleneck",
            shallow(BlockKind::Bottleneck, Stem::ImageNet, NormKind::Group(2)),
        ),
    ] {
        let task = Task {
            input: [1, 8, 8],
            ..TINY
        };
        check_headed(name, &config.init(task, &device()), task);
    }
}

#[test]
fn lenet_with_deep_heads() {
    let model = LgLeNet5::new(TINY, &device());
    check("lg-lenet5", &model, |m, at| {
        weigh(m.forward(at.floats([2, 1, 16, 16]), &at.cx))
    });
    check("features", &model.features, |m, at| {
        weigh(m.features(at.floats([2, 1, 16, 16]), &at.cx))
    });
    check("head", &model.head, |m, at| {
        weigh(m.forward(at.floats([2, 16]), &at.cx))
    });
}

#[test]
fn mlp_with_deep_heads() {
    let task = Task {
        input: [1, 1, 2],
        ..TINY
    };
    let model = LgMlp::new(task, &device());
    let x = |at: &At| at.floats([2, 1, 1, 2]);
    check("lg-mlp", &model, |m, at| weigh(m.forward(x(at), &at.cx)));
}

#[test]
fn fedaa() {
    for norm in [None, Some(NormKind::Batch)] {
        let config = FedAaConfig {
            filters: [2, 3],
            units: [4, 3],
            norm,
        };
        check_headed("fedaa", &config.init(TINY, &device()), TINY);
    }
}

#[test]
fn digits() {
    let config = DigitsConfig {
        channels: [2, 2, 3],
        units: [4, 3],
        norm: NormKind::Batch,
    };
    let task = Task {
        input: [1, 8, 8],
        ..TINY
    };
    check_headed("digits", &config.init(task, &device()), task);
}
