//! Gradients of networks from images to images.

use fedround_models::{ForwardCx, ResNetGenerator, VaeConfig};

use super::check::{check, check_in};
use crate::gradients::case::{device, weigh};

const IMAGES: [usize; 4] = [2, 1, 8, 8];

fn vae() -> fedround_models::BetaVae {
    let config = VaeConfig {
        width: 4,
        latent: 5,
        ..VaeConfig::new([1, 8, 8])
    };
    config.init(&device())
}

#[test]
fn beta_vae() {
    check("encode", &vae(), |m, at| {
        weigh(m.encode(at.floats(IMAGES), &at.cx))
    });
    check("decode", &vae(), |m, at| {
        weigh(m.decode(at.floats([2, 5]), &at.cx))
    });
    // In training, the code of an image is drawn at random.
    check_in(ForwardCx::inference, "reconstruct", &vae(), |m, at| {
        weigh(m.reconstruct(at.floats(IMAGES), &at.cx))
    });
}

#[test]
fn resnet_generator() {
    let model = ResNetGenerator::new(1, 3, 2, &device());
    check("reconstruct", &model, |m, at| {
        weigh(m.reconstruct(at.floats(IMAGES), &at.cx))
    });
}
