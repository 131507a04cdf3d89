//! Gradients of projections, discriminators of representations, and adversaries.

use fedround_models::layers::Mlp;
use fedround_models::{
    AdultHidden, BlockKind, Classifier, DeepHeaded, Discriminator, Encoder, Moon, NormKind,
    SimSiam, Stem, Task, identifier,
};

use super::check::check;
use super::{TINY, shallow};
use crate::gradients::case::{device, weigh};

const IMAGES: [usize; 4] = [5, 1, 8, 8];
const TASK: Task = Task {
    input: [1, 8, 8],
    ..TINY
};

#[test]
fn moon() {
    let config = shallow(BlockKind::Basic, Stem::Small, NormKind::Group(2));
    let encoder = config.encoder(1, &device());
    let model = Moon::new(encoder, config.features(), 4, TASK, &device());
    check("moon", &model, |m, at| {
        weigh(m.forward(at.floats(IMAGES), &at.cx))
    });
    check("project", &model, |m, at| {
        weigh(m.project(at.floats(IMAGES), &at.cx))
    });
    check("head", &model, |m, at| {
        weigh(m.head(at.floats([3, 4]), &at.cx))
    });
}

#[test]
fn simsiam() {
    let config = shallow(BlockKind::Basic, Stem::Small, NormKind::Batch);
    let encoder = config.encoder(1, &device());
    let model = SimSiam::new(encoder, config.features(), 4, TASK, &device());
    check("simsiam", &model, |m, at| {
        weigh(m.forward(at.floats(IMAGES), &at.cx))
    });
    check("project", &model, |m, at| {
        weigh(m.project(at.floats(IMAGES), &at.cx))
    });
    check("head", &model, |m, at| {
        weigh(m.head(at.floats([5, 16]), &at.cx))
    });
}

#[test]
fn discriminators() {
    let config = shallow(BlockKind::Basic, Stem::Small, NormKind::Group(2));
    for (name, model, features) in [
        ("mlp", Discriminator::mlp(6, 3, &device()), 6),
        ("linear", Discriminator::linear(6, 3, &device()), 6),
        (
            "resnet",
            Discriminator::resnet(config, 128, 2, 3, &device()),
            128,
        ),
    ] {
        check(name, &model, |m, at| {
            weigh(m.discriminate(at.floats([2, features]), &at.cx))
        });
    }
    check("identifier", &identifier(6, &device()), |m: &Mlp, at| {
        weigh(m.forward(at.floats([2, 6]), &at.cx))
    });
}

#[test]
fn adult() {
    let model = DeepHeaded {
        features: AdultHidden {
            mlp: Mlp::new(&[5, 4, 4, 4], &device()),
        },
        head: Mlp::new(&[4, 4, 4, 2], &device()),
    };
    check("forward", &model, |m, at| {
        weigh(m.forward(at.floats([3, 1, 1, 5]), &at.cx))
    });
    check("features", &model.features, |m, at| {
        weigh(m.features(at.floats([3, 1, 1, 5]), &at.cx))
    });
}
