//! Clip, claims, release and personal parts, when they run.

use fedround::algorithms::FedAvg;
use fedround::exec::{CompileError, Program};
use fedround::models::{self, Losses};
use fedround::prelude::*;
use fedround::trace::TracedModel;

use crate::common::{GREY, assert_close, dealt, digits, leaves, run, simulation, trained, weights};

/// FedAvg on clipped updates: `w + 1/m Σ clip(w_k − w)`.
#[derive(Hyper, Debug, Clone)]
pub struct Clipped<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `C`.
    #[hyper(default = 1.0, range = 0.0..)]
    pub clip: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Clipped<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let delta = self.base.client_update(k, w) - k.global_params();
        k.global_params() + delta.clip(self.clip)
    }
}

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 10,
        lr: 0.1,
        ..FedAvg::default()
    }
}

fn clipped(clip: f32) -> Clipped {
    Clipped { base: base(), clip }
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f32>().sqrt()
}

#[test]
fn a_clipped_update_is_as_long_as_its_bound_and_a_short_one_is_kept() {
    let data = digits(20, 10).train;
    let alone = || dealt(&data, vec![(0..20).collect()], 9);
    let start = weights(&simulation(&base(), "logistic", alone()));
    let plain = trained(&base(), "logistic", alone(), 1);
    let length = distance(&plain, &start);
    assert_close(
        &trained(&clipped(2.0 * length), "logistic", alone(), 1),
        &plain,
        1e-6,
    );
    let bound = 0.25 * length;
    let shorter = trained(&clipped(bound), "logistic", alone(), 1);
    assert!((distance(&shorter, &start) - bound).abs() < 1e-5 * bound);
    // In the same direction.
    let expected = plain.iter().zip(&start).map(|(w, s)| s + 0.25 * (w - s));
    assert_close(&shorter, &expected.collect::<Vec<f32>>(), 1e-6);
}

#[test]
fn an_update_of_zero_is_clipped_to_zero() {
    let still = Clipped {
        base: FedAvg { lr: 0.0, ..base() },
        clip: 1.0,
    };
    let data = digits(20, 10).train;
    let alone = || dealt(&data, vec![(0..20).collect()], 9);
    let start = weights(&simulation(&still, "logistic", alone()));
    assert_close(&trained(&still, "logistic", alone(), 2), &start, 0.0);
}

/// FedPer's shape: every client trains a head of its own.
#[derive(Hyper, Debug, Clone)]
pub struct OwnHead<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for OwnHead<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let own = k.personal(&["head"], &w);
        let w = self.base.client_update(k, own);
        k.set_personal(&["head"], &w);
        w.replace_parts(&["head"], &k.global_params())
    }
}

#[test]
fn a_personal_head_stays_and_is_kept() {
    let data = digits(20, 10).train;
    let alone = || dealt(&data, vec![(0..20).collect()], 9);
    let mut own = simulation(&OwnHead { base: base() }, "2nn", alone());
    let start = leaves(&own);
    run(&mut own, 2);
    let names = own.parameters().unwrap().into_iter().map(|(name, ..)| name);
    let names: Vec<String> = names.collect();
    for ((name, before), after) in names.iter().zip(&start).zip(leaves(&own)) {
        assert_eq!(*before == after, name.starts_with("head."), "{name}");
    }
    // With one client and its head kept, the shared features move as without personal parts.
    let mut plain = simulation(&base(), "2nn", alone());
    run(&mut plain, 2);
    for ((name, own), plain) in names.iter().zip(leaves(&own)).zip(leaves(&plain)) {
        assert_eq!(own == plain, name.starts_with("features."), "{name}");
    }
}

/// Names a part that no model has.
#[derive(Hyper, Debug, Clone)]
pub struct UnknownPart<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for UnknownPart<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let trained = self.base.client_update(k, w);
        trained.replace_parts(&["neck"], &k.global_params())
    }
}

/// Uploads its logits.
#[derive(Hyper, Debug, Clone)]
pub struct Logits {
    /// Examples of a batch.
    #[hyper(default = 10, range = 1..)]
    pub batch: usize,
}

#[federated]
impl Algorithm for Logits {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.all_clients();
        let z_k = w.broadcast(&s_t).map(|k, w| {
            let b = k.batch(self.batch);
            k.forward(&w, &b.x).release("the data are public")
        });
        let loss_k = z_k.mean().broadcast(&s_t);
        let loss_k = loss_k.map(|k, z| cross_entropy(z.tensor(), &k.batch(self.batch).y));
        loss_k.mean() * w
    }
}

fn refused(algorithm: &dyn Algorithm) -> String {
    let model = models::find("2nn").unwrap();
    let built = model.build(GREY, &Default::default()).unwrap();
    let tracer = TracedModel::new("2nn", built, GREY, Losses::default());
    match Program::compile(algorithm, tracer) {
        Err(error @ CompileError::Lower(_)) => error.to_string(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it compiles"),
    }
}

#[test]
fn an_unknown_part_is_refused_with_the_known_ones() {
    let error = refused(&UnknownPart { base: base() });
    assert!(
        error.ends_with("the model has no part `neck`; it has features, head"),
        "{error}"
    );
}

#[test]
fn released_features_are_averaged_and_their_bytes_counted() {
    let data = digits(20, 10).train;
    let two = |second: usize| dealt(&data, vec![(0..10).collect(), (10..second).collect()], 9);
    let logits = Logits { batch: 10 };
    let mut simulation = simulation(&logits, "2nn", two(20));
    let start = weights(&simulation);
    let stats = run(&mut simulation, 1);
    assert_ne!(weights(&simulation), start);
    let model = 4 * start.len() as u64;
    let features = 4 * 10 * 10;
    // Each of two clients gets the model and the mean logits, and sends its own and a loss.
    assert_eq!(stats.bytes_down, 2 * (model + features));
    assert_eq!(stats.bytes_up, 2 * (features + 4));
    let error = self::simulation(&logits, "2nn", two(15))
        .run_round()
        .unwrap_err();
    let error = error.to_string();
    assert!(error.contains("of shapes [10, 10] and [5, 10]"), "{error}");
}

/// Moves by the gradient on one batch.
#[derive(Hyper, Debug, Clone)]
pub struct OneStep<A = FedAvg> {
    /// What aggregates.
    pub base: A,
    /// Examples of the batch.
    #[hyper(default = 10, range = 1..)]
    pub size: usize,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for OneStep<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let b = k.batch(self.size);
        &w - 0.1 * self.gradient(k, &w, &b)
    }
}

#[test]
fn one_batch_is_the_first_of_a_loop() {
    let data = digits(20, 10).train;
    let alone = || dealt(&data, vec![(0..20).collect()], 9);
    let one = OneStep {
        base: base(),
        size: 20,
    };
    let looped = FedAvg {
        batch: 20,
        ..base()
    };
    assert_close(
        &trained(&one, "logistic", alone(), 3),
        &trained(&looped, "logistic", alone(), 3),
        1e-6,
    );
}

/// Local DP: each client adds noise to its clipped update.
#[derive(Hyper, Debug, Clone)]
pub struct Noisy<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `C`.
    #[hyper(default = 1.0, range = 0.0..)]
    pub clip: f32,
    /// `σ`.
    #[hyper(default = 0.1, range = 0.0..)]
    pub sigma: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Noisy<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let delta = self.base.client_update(k, w) - k.global_params();
        k.global_params() + delta.clip(self.clip).noise(self.sigma)
    }
}

#[test]
fn noise_has_its_deviation_and_follows_the_seed() {
    let data = digits(20, 10).train;
    let clients = |seed| dealt(&data, vec![(0..10).collect(), (10..20).collect()], seed);
    let noisy = Noisy {
        base: base(),
        clip: 1.0,
        sigma: 0.05,
    };
    let plain = trained(&clipped(1.0), "logistic", clients(9), 1);
    let once = trained(&noisy, "logistic", clients(9), 1);
    assert_eq!(once, trained(&noisy, "logistic", clients(9), 1));
    // The mean of two clients' noises, over 7,850 parameters: σ/√2, within 5 %.
    let deviation = distance(&once, &plain) / (plain.len() as f32).sqrt();
    let expected = 0.05 / 2f32.sqrt();
    assert!(
        (deviation - expected).abs() < 0.05 * expected,
        "{deviation}, expected {expected}"
    );
}
