//! ADCOL: parties train alone but for a discriminator, to which they send representations.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::activation::softmax;
use burn::tensor::{Device, Tensor};
use fedround::algorithms::{Older, OlderSize};
use fedround::exec::assemble_for;
use fedround::models::{AuxiliaryTask, Classifier, ForwardCx, Model};

use super::*;

/// A classifier whose representations have an L1 norm of 1.
#[derive(Module, Debug)]
pub(super) struct Simplex {
    features: Linear,
    head: Linear,
}

pub(super) const WIDTH: usize = 8;

impl Simplex {
    pub(super) fn new(device: &Device) -> Self {
        Self {
            features: LinearConfig::new(784, WIDTH).init(device),
            head: LinearConfig::new(WIDTH, 10).init(device),
        }
    }
}

impl Classifier for Simplex {
    fn features(&self, x: Tensor<4>, _: &ForwardCx) -> Tensor<2> {
        softmax(self.features.forward(x.flatten::<2>(1, 3)), 1)
    }

    fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
        self.head.forward(h)
    }
}

/// Parameters of it, and of a discriminator for three parties: 8, 512, 512, 3.
pub(super) const OWN: usize = 784 * WIDTH + WIDTH + WIDTH * 10 + 10;
pub(super) const JUDGE: u64 = (WIDTH as u64 * 512 + 512) + (512 * 512 + 512) + (512 * 3 + 3);

pub(super) fn adcol(mu: f32) -> Adcol {
    Adcol {
        base: base(),
        share: 1.0,
        rows: 16,
        d_lr: 0.05,
        d_momentum: 0.9,
        mu,
        sample: 1.0,
        passes: 1,
        normalised: false,
        noise: RepresentationNoise::None,
        epsilon: 5.0,
    }
}

pub(super) const SIZES: [usize; 3] = [20, 33, 10];

pub(super) fn parties(algorithm: &dyn Algorithm) -> Simulation {
    parties_with(algorithm, Box::new(Simplex::new(&Device::default())))
}

pub(super) fn parties_with(algorithm: &dyn Algorithm, model: Box<dyn Model>) -> Simulation {
    let device = Device::default();
    let around = AuxiliaryTask {
        task: GREY,
        clients: SIZES.len(),
        variants: Default::default(),
    };
    let built = assemble_for(algorithm, model, &around, &device).unwrap();
    let program = compile_model(algorithm, "of a test", built.model, GREY);
    of_sizes(&SIZES).simulation(program, 2)
}

/// What a party keeps: its model, and the discriminator as it was while it trained.
pub(super) fn own(simulation: &Simulation, party: usize) -> Vec<f32> {
    let own = simulation.client_state(party, "adcol.Model").unwrap();
    own.unwrap().concat()
}

pub(super) fn judge(simulation: &Simulation) -> Vec<f32> {
    part(simulation, "discriminator", true)
}

#[test]
fn without_its_term_every_party_trains_alone_whatever_the_discriminator() {
    let solo = Solo {
        epochs: 1,
        batch: 10,
        lr: LR,
        ..Solo::default()
    };
    let mut solo = parties(&solo);
    let first = leaves(&parties(&adcol(0.0)));
    assert!(solo.set_parameters(first[..4].to_vec()));
    run(&mut solo, 3);
    for factor in [1.0, -7.0] {
        let mut simulation = parties(&adcol(0.0));
        let mut changed = first.clone();
        changed[4..].iter_mut().flatten().for_each(|w| *w *= factor);
        assert!(simulation.set_parameters(changed));
        run(&mut simulation, 3);
        for k in 0..3 {
            let expected = solo.client_state(k, "solo.own").unwrap().unwrap().concat();
            assert_eq!(bits(&own(&simulation, k)[..OWN]), bits(&expected), "{k}");
        }
    }
    let mut against = parties(&adcol(1.0));
    assert!(against.set_parameters(first));
    run(&mut against, 3);
    let expected = solo.client_state(0, "solo.own").unwrap().unwrap().concat();
    assert!(farthest(&own(&against, 0)[..OWN], &expected) > 1e-5);
}

#[test]
fn the_server_trains_the_discriminator_and_nobody_else_does() {
    let mut simulation = parties(&adcol(1.0));
    let model = part(&simulation, "discriminator", false);
    for _ in 0..2 {
        let received = judge(&simulation);
        run(&mut simulation, 1);
        for k in 0..3 {
            // Parties leave it as they got it.
            assert_eq!(bits(&own(&simulation, k)[OWN..]), bits(&received), "{k}");
        }
        assert!(farthest(&judge(&simulation), &received) > 1e-6);
    }
    // No party's model is on the server.
    let after = part(&simulation, "discriminator", false);
    assert_eq!(bits(&after), bits(&model));
    assert_ne!(own(&simulation, 0)[..OWN], own(&simulation, 1)[..OWN]);
}

#[test]
fn representations_go_up_and_the_discriminator_down() {
    // Shares of 20, 33 and 10 examples, rounded up.
    for (sample, rows) in [(1.0, 63), (0.2, 4 + 7 + 2), (0.5, 10 + 17 + 5)] {
        let mut simulation = parties(&Adcol {
            sample,
            ..adcol(1.0)
        });
        let stats = run(&mut simulation, 2);
        assert_eq!(stats.bytes_down, 4 * 3 * JUDGE, "{sample}");
        assert_eq!(stats.bytes_up, 4 * rows * WIDTH as u64, "{sample}");
    }
}

#[test]
fn a_party_that_is_not_drawn_keeps_its_model() {
    let mut simulation = parties(&Adcol {
        share: 0.34,
        ..adcol(1.0)
    });
    let states = |s: &Simulation| [0, 1, 2].map(|k| s.client_state(k, "adcol.Model").unwrap());
    let mut last = states(&simulation);
    for _ in 0..3 {
        run(&mut simulation, 1);
        let now = states(&simulation);
        assert_eq!(last.iter().zip(&now).filter(|(a, b)| a != b).count(), 1);
        last = now;
    }
}

pub(super) fn older(discriminators: &str, mu: f32) -> Older {
    Older {
        base: adcol(1.0),
        discriminators: discriminators.to_owned(),
        mu,
        size: OlderSize::Raw,
    }
}

#[test]
fn discriminators_of_earlier_rounds_are_as_many_as_there_were() {
    let alone = |rounds: usize| {
        let mut simulation = parties(&adcol(1.0));
        run(&mut simulation, rounds);
        own(&simulation, 0)
    };
    let many = |discriminators: &str, rounds: usize| {
        let mut simulation = parties(&older(discriminators, 1.0));
        run(&mut simulation, rounds);
        own(&simulation, 0)
    };
    assert_eq!(bits(&many("1", 3)), bits(&alone(3)));
    // In the first round there is but one.
    assert_close(&many("5", 1), &alone(1), 1e-6);
    let (two, five) = (many("2", 3), many("5", 3));
    assert!(farthest(&two, &alone(3)) > 1e-6);
    assert!(farthest(&two, &five) > 1e-7);
    // In the second the oldest of five is that of the first, four times: not so of two.
    assert!(farthest(&many("2", 2), &many("5", 2)) > 1e-7);
}

#[test]
fn a_party_keeps_what_it_was_sent() {
    let mut simulation = parties(&older("5", 1.0));
    let mut sent = vec![];
    for _ in 0..3 {
        sent.push(judge(&simulation));
        let stats = run(&mut simulation, 1);
        assert_eq!(stats.bytes_down, 4 * 3 * JUDGE);
    }
    for (ago, expected) in [(1, 2), (2, 1), (3, 0), (4, 0)] {
        let kept = simulation
            .client_state(1, &format!("older.ago_{ago}"))
            .unwrap();
        let kept = kept.unwrap().concat();
        assert_eq!(bits(&kept[OWN..]), bits(&sent[expected]), "{ago}");
    }
}

#[test]
fn without_their_term_discriminators_are_of_no_matter() {
    let trained = |algorithm: &dyn Algorithm| {
        let mut simulation = parties(algorithm);
        run(&mut simulation, 2);
        own(&simulation, 1)[..OWN].to_vec()
    };
    assert_close(&trained(&older("2", 0.0)), &trained(&adcol(0.0)), 1e-6);
}

#[test]
fn parties_learn_their_classes_against_a_discriminator() {
    let mut simulation = parties(&Adcol {
        passes: 5,
        ..adcol(1.0)
    });
    let first = run(&mut simulation, 1).train_loss;
    let last = run(&mut simulation, 5).train_loss;
    assert!(last < first, "{first} {last}");
}

/// What normalisation does is in `adcol_noise`.
#[test]
fn normalised_representations_take_as_many_bytes() {
    let after = |normalised| {
        let mut simulation = parties(&Adcol {
            normalised,
            ..adcol(1.0)
        });
        let stats = run(&mut simulation, 2);
        (judge(&simulation), stats.bytes_up)
    };
    let ((with, up), (without, as_many)) = (after(true), after(false));
    assert_eq!(up, as_many);
    // Entries of rows with a sum of 1 are an eighth, and 1 in the mean square.
    assert!(farthest(&with, &without) > 1e-3);
}
