//! Noise on the gradients of what the server trains.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor};
use fedround::algorithms::DpSgd;
use fedround::models::layers::BatchNorm;
use fedround::models::{Classifier, ForwardCx};

use super::adcol::{adcol, judge, own, parties, parties_with};
use super::*;

/// As little noise as there may be.
const LEAST: f32 = 2e-6;

fn private<A>(base: A, clip: f32, sigma: f32) -> DpSgd<A> {
    DpSgd { base, clip, sigma }
}

#[test]
fn with_little_noise_and_a_wide_bound_nothing_is_another() {
    let mut plain = parties(&adcol(1.0));
    let mut private = parties(&private(adcol(1.0), 10.0, LEAST));
    run(&mut plain, 2);
    run(&mut private, 2);
    assert_close(&judge(&private), &judge(&plain), 1e-5);
    assert_close(&own(&private, 0), &own(&plain, 0), 1e-5);
}

#[test]
fn parties_train_as_they_did_and_the_bound_and_the_noise_are_felt() {
    let after = |clip: f32, sigma: f32| {
        let mut simulation = parties(&private(adcol(1.0), clip, sigma));
        run(&mut simulation, 1);
        (judge(&simulation), own(&simulation, 1))
    };
    let ((wide, first), (narrow, other), (noised, _)) =
        (after(10.0, LEAST), after(0.01, LEAST), after(0.01, 1.0));
    assert_eq!(bits(&first), bits(&other));
    assert!(farthest(&wide, &narrow) > 1e-5);
    assert!(farthest(&noised, &narrow) > 1e-5);
}

/// Two clients with a gradient each, as long as half their examples are many, along `w`. The next
/// parameters are the direction of the server's step.
#[derive(Hyper, Debug, Clone)]
pub struct Lengths {
    /// Rows of a client.
    #[hyper(default = 1)]
    pub rows: usize,
}

#[federated]
impl Algorithm for Lengths {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let (x_k, y_k) = w.broadcast(&server.all_clients()).map(|k, w| {
            let b = k.batch(self.rows);
            // The network is there because it is applied.
            let r = k.apply("represent", &w, &b.x);
            let told = k.apply("discriminate", &w, &r).sq_norm();
            let x =
                b.x.zeros_like()
                    .add_scalar(k.num_examples() / 2.0 + 0.0 * told);
            (x.release("a length"), b.y.release("a class"))
        });
        let (x, y) = (x_k.gather().concat(), y_k.gather().concat());
        server.run(|s| {
            let (x, y) = (s.get(&x).tensor(), s.get(&y).labels());
            self.server_gradient(s, &s.get(&w), &x, &y)
        })
    }

    fn server_gradient(
        &self,
        _: &ServerComputeCx,
        w: &Params,
        x: &fedround::prelude::Tensor,
        _: &Labels,
    ) -> Params {
        let length = (x.sq_norm() / 784.0).sqrt();
        length / w.sq_norm().sqrt() * w
    }
}

/// What `Lengths` makes under a bound of 1, of gradients of length 3 and 0.5, and what it began with.
fn stepped(sigma: f32) -> (Simulation, Vec<f32>, f32) {
    let algorithm = private(Lengths { rows: 1 }, 1.0, sigma);
    let mut simulation = simulation(&algorithm, "2nn", of_sizes(&[6, 1]));
    let start = judge(&simulation);
    let length = weights(&simulation)
        .iter()
        .map(|w| w * w)
        .sum::<f32>()
        .sqrt();
    run(&mut simulation, 1);
    (simulation, start, length)
}

#[test]
fn each_gradient_is_as_long_as_the_bound_at_most() {
    let (simulation, start, length) = stepped(LEAST);
    // 3 becomes 1, 0.5 stays: the mean of both.
    let expected: Vec<f32> = start.iter().map(|w| 0.75 * w / length).collect();
    assert_close(&judge(&simulation), &expected, 1e-5);
    // Of all else nothing is trained here.
    let rest = part(&simulation, "discriminator", false);
    assert!(rest.iter().all(|w| *w == 0.0));
}

#[test]
fn noise_is_as_wide_as_it_says() {
    let sigma = 3.0;
    let (plain, _, _) = stepped(LEAST);
    let (noised, _, _) = stepped(sigma);
    let (a, b) = (judge(&noised), judge(&plain));
    let n = a.len() as f64;
    let noise: Vec<f64> = a.iter().zip(&b).map(|(a, b)| f64::from(a - b)).collect();
    let mean = noise.iter().sum::<f64>() / n;
    let variance = noise.iter().map(|x| x * x).sum::<f64>() / n;
    // On the sum of two, of which the step is half: (σ C / 2)².
    let expected = f64::from(sigma * sigma) / 4.0;
    assert!(mean.abs() < 5.0 * (expected / n).sqrt(), "{mean}");
    // Five deviations of the estimate of a normal variance.
    assert!(
        (variance / expected - 1.0).abs() < 5.0 * (2.0 / n).sqrt(),
        "{variance}"
    );
    let rest = part(&noised, "discriminator", false);
    assert!(rest.iter().all(|w| *w == 0.0));
}

#[test]
fn a_sigma_of_zero_is_refused() {
    let error = fedround::stage(&private(adcol(1.0), 1.0, 0.0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "hyper-parameter `sigma`: expected ≥ 0.000001, found 0"
    );
}

/// DP-SGD that forgets its noise.
#[derive(Hyper, Debug, Clone)]
pub struct Unnoised<A = Adcol> {
    /// ADCOL, of which the steps are the server's.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Unnoised<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        server.claim(Dp::Central);
        self.base.round(server, w)
    }

    fn server_gradient(
        &self,
        s: &ServerComputeCx,
        w: &Params,
        x: &fedround::prelude::Tensor,
        y: &Labels,
    ) -> Params {
        let mut sum = w.zeros_like();
        for (x, y) in s.rows(1, 1, (x.clone(), y.clone())) {
            sum += self.base.server_gradient(s, w, &x, &y).clip(1.0);
        }
        sum
    }
}

#[test]
fn a_sum_without_noise_is_refused() {
    let staged = fedround::stage(&Unnoised { base: adcol(1.0) }).unwrap();
    let error = fedround::passes::fed::link(staged).unwrap_err().to_string();
    for text in [
        "central differential privacy is claimed at",
        "dp_sgd.rs",
        "without noise on what is bounded",
    ] {
        assert!(error.contains(text), "{error}");
    }
}

/// Images by their mean and deviation, which are running statistics.
#[derive(Module, Debug)]
struct Normed {
    norm: BatchNorm,
    head: Linear,
}

impl Classifier for Normed {
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        self.norm.forward(x, cx).flatten(1, 3)
    }

    fn head(&self, h: Tensor<2>, _: &ForwardCx) -> Tensor<2> {
        self.head.forward(h)
    }
}

/// A server that trains all networks on a few examples.
#[derive(Hyper, Debug, Clone)]
pub struct Judging {}

#[federated]
impl Algorithm for Judging {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let (x_k, y_k) = w.broadcast(&server.all_clients()).map(|k, _| {
            let b = k.batch(2);
            (b.x.release("images"), b.y.release("classes"))
        });
        let (x, y) = (x_k.gather().concat(), y_k.gather().concat());
        server.run(|s| {
            let (x, y) = (s.get(&x).tensor(), s.get(&y).labels());
            let w = s.get(&w);
            let g = self.server_gradient(s, &w, &x, &y);
            w - g
        })
    }

    fn server_gradient(
        &self,
        s: &ServerComputeCx,
        w: &Params,
        x: &fedround::prelude::Tensor,
        _: &Labels,
    ) -> Params {
        grad(w, |w| {
            let r = s.apply("represent", w, x);
            s.apply("discriminate", w, &r).sq_norm()
        })
    }
}

#[test]
fn running_statistics_do_not_tell_of_rows() {
    let device = Device::default();
    let trained = |algorithm: &dyn Algorithm| {
        let model = Normed {
            norm: BatchNorm::new(1, &device),
            head: LinearConfig::new(784, 10).init(&device),
        };
        let mut simulation = parties_with(algorithm, Box::new(model));
        let start = (part(&simulation, "norm", true), judge(&simulation));
        run(&mut simulation, 1);
        (start, (part(&simulation, "norm", true), judge(&simulation)))
    };
    // Scale and shift are trained, and the statistics with them.
    let (start, end) = trained(&Judging {});
    let changed = start.0.iter().zip(&end.0).filter(|(a, b)| a != b);
    assert!(changed.count() >= 3, "{start:?} {end:?}");
    let (start, end) = trained(&private(Judging {}, 1.0, 1.0));
    assert_eq!(start.0, end.0);
    assert!(farthest(&start.1, &end.1) > 1e-3);
}
