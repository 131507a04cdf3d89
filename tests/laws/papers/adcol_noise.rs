//! ADCOL under noise, or with normalised rows: parties train against the discriminator with rows of the size that the
//! server trained it on.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use fedround::algorithms::{FixedParties, Older, OlderSize};
use fedround::models::{Classifier, ForwardCx};

use super::adcol::{OWN, Simplex, adcol, judge, older, own, parties, parties_with};
use super::fixed_parties::fixed;
use super::*;

/// Weight of the divergence: large, so that little differences show.
const MU: f32 = 10.0;

/// A classifier that is the same for every size of its representations, whose L1 norm that is.
#[derive(Module, Debug)]
struct Large {
    inner: Simplex,
    size: f64,
}

impl Classifier for Large {
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        self.inner.features(x, cx).mul_scalar(self.size)
    }

    fn head(&self, h: Tensor<2>, cx: &ForwardCx) -> Tensor<2> {
        self.inner.head(h.div_scalar(self.size), cx)
    }
}

/// A party's model and the discriminator, after three rounds with representations of this size.
fn after(algorithm: &dyn Algorithm, size: f64) -> [Vec<f32>; 2] {
    let inner = Simplex::new(&Device::default());
    let mut simulation = parties_with(algorithm, Box::new(Large { inner, size }));
    run(&mut simulation, 3);
    [own(&simulation, 0)[..OWN].to_vec(), judge(&simulation)]
}

/// ADCOL with so little noise that nothing but its bound is left of it.
fn bounded() -> Adcol {
    Adcol {
        noise: RepresentationNoise::Laplace,
        epsilon: 1e8,
        ..adcol(MU)
    }
}

#[test]
fn little_noise_leaves_representations_of_length_one() {
    let after = |noise: RepresentationNoise, epsilon: f32| {
        let mut simulation = parties(&Adcol {
            noise,
            epsilon,
            ..adcol(1.0)
        });
        run(&mut simulation, 2);
        judge(&simulation)
    };
    // Theirs have it already.
    let plain = after(RepresentationNoise::None, 5.0);
    assert_close(&after(RepresentationNoise::Laplace, 1e8), &plain, 1e-5);
    assert!(farthest(&after(RepresentationNoise::Laplace, 1.0), &plain) > 1e-3);
}

#[test]
fn the_size_of_representations_does_not_matter_under_noise_or_once_they_are_normalised() {
    let normalised = || Adcol {
        normalised: true,
        ..adcol(MU)
    };
    let of_several_rounds = |base, size| Older {
        base,
        size,
        ..older("2", MU)
    };
    let of_a_few = |noise, normalised| FixedParties {
        noise,
        normalised,
        epsilon: 1e8,
        ..fixed(3, MU)
    };
    // Each beside what it is if parties train against rows as they are.
    let algorithms: [[&dyn Algorithm; 2]; 6] = [
        [&bounded(), &adcol(MU)],
        [&normalised(), &adcol(MU)],
        [
            &of_several_rounds(bounded(), OlderSize::L1),
            &of_several_rounds(bounded(), OlderSize::Raw),
        ],
        [
            &of_several_rounds(normalised(), OlderSize::Normalised),
            &of_several_rounds(bounded(), OlderSize::Raw),
        ],
        [
            &of_a_few(RepresentationNoise::Laplace, false),
            &of_a_few(RepresentationNoise::None, false),
        ],
        [
            &of_a_few(RepresentationNoise::None, true),
            &of_a_few(RepresentationNoise::None, false),
        ],
    ];
    for [sized, raw] in algorithms {
        let [own, server] = after(sized, 1.0);
        let [large_own, large_server] = after(sized, 8.0);
        assert_close(&large_own, &own, 5e-6);
        assert_close(&large_server, &server, 5e-6);
        let far = farthest(&after(raw, 1.0)[0], &after(raw, 8.0)[0]);
        assert!(far > 5e-5, "{far}");
    }
}
