//! Steps of each optimizer, on a client and on the server.

use fedround::__private::for_each;
use fedround::optim::{Adam, Sgd};
use fedround::prelude::*;

use super::reference::Reference;
use super::{EXAMPLES, before_and_after, client, server};
use crate::common::{assert_close, bits};

const STEPS: usize = 10;

/// `∇ Σ (w⁴/4 + 0.3 w)`, at any place.
fn gradient<T: Tree>(w: &T) -> T {
    w.mul(w).mul(w).add_scalar(0.3)
}

fn slope(w: f64) -> f64 {
    w * w * w + 0.3
}

/// Ten steps in one round of a client, whose loop carries the optimizer.
fn local<O: Optimizer + 'static>(opt: impl Fn() -> O + 'static) -> (Vec<f32>, Vec<f32>) {
    let update = move |k: &ClientCx, w: Params| {
        let start = (w.clone(), opt().start(&w));
        for_each(k.batches(STEPS, EXAMPLES), start, |_, (mut w, mut opt)| {
            let g = gradient(&w);
            opt.step(&mut w, g);
            (w, opt)
        })
        .0
    };
    before_and_after(client(update), 1)
}

/// One step on the server in each of ten rounds, which keeps the optimizer between them.
fn across_rounds<O: Optimizer + 'static>(opt: impl Fn() -> O + 'static) -> (Vec<f32>, Vec<f32>) {
    let update = move |server: &ServerCx, mut w: Server<Params>| {
        let mut opt = opt().resume(server, "opt", &w);
        let g = gradient(&w);
        opt.step(&mut w, g);
        opt.keep(server, "opt");
        w
    };
    before_and_after(server(update), STEPS)
}

fn agrees<O: Optimizer + 'static>(opt: impl Fn() -> O + Clone + 'static, reference: Reference) {
    for (before, after) in [local(opt.clone()), across_rounds(opt)] {
        let expected = reference.steps(&before, STEPS as i32, slope);
        assert_close(&after, &expected, 2e-6);
    }
}

#[test]
fn sgd_is_pytorchs() {
    let plain = Reference {
        lr: 0.1,
        ..Reference::default()
    };
    agrees(|| Sgd::new(0.1), plain);
    let decay = Reference {
        weight_decay: 0.05,
        ..plain
    };
    agrees(|| Sgd::new(0.1).weight_decay(0.05), decay);
    let polyak = Reference {
        momentum: 0.9,
        ..decay
    };
    agrees(|| Sgd::new(0.1).weight_decay(0.05).momentum(0.9), polyak);
    let nesterov = Reference {
        nesterov: true,
        ..polyak
    };
    let opt = || Sgd::new(0.1).weight_decay(0.05).momentum(0.9).nesterov();
    agrees(opt, nesterov);
}

#[test]
fn adam_is_pytorchs() {
    let adam = Reference {
        lr: 0.05,
        adam: Some((0.9, 0.999, 1e-8)),
        ..Reference::default()
    };
    agrees(|| Adam::new(0.05), adam);
    let coupled = Reference {
        weight_decay: 0.1,
        ..adam
    };
    agrees(|| Adam::new(0.05).weight_decay(0.1), coupled);
    let adam_w = Reference {
        decoupled: true,
        ..coupled
    };
    agrees(|| Adam::new(0.05).weight_decay(0.1).decoupled(), adam_w);
    let fed_adam = Reference {
        adam: Some((0.5, 0.99, 1e-3)),
        ..adam
    };
    agrees(|| Adam::new(0.05).betas(0.5, 0.99).eps(1e-3), fed_adam);
}

#[test]
fn nothing_added_is_plain_descent_bit_for_bit() {
    let plain = bits(&local(|| Sgd::new(0.1)).1);
    let none = || Sgd::new(0.1).momentum(0.0).weight_decay(0.0);
    assert_eq!(bits(&local(none).1), plain);
    assert_eq!(bits(&local(move || none().nesterov()).1), plain);
    let adam = bits(&local(|| Adam::new(0.1)).1);
    let none = || Adam::new(0.1).weight_decay(0.0);
    assert_eq!(bits(&local(none).1), adam);
    assert_eq!(bits(&local(move || none().decoupled()).1), adam);
}

#[test]
fn polyaks_and_nesterovs_momentum_differ() {
    let polyak = || Sgd::new(0.1).momentum(0.9);
    assert_ne!(
        bits(&local(polyak).1),
        bits(&local(move || polyak().nesterov()).1)
    );
}

#[test]
fn a_step_may_have_a_size_of_its_own() {
    let update = |k: &ClientCx, w: Params| {
        let start = (w.clone(), Sgd::new(0.1).start(&w), Scalar::from(0.0));
        let batches = k.batches(STEPS, EXAMPLES);
        for_each(batches, start, |_, (mut w, mut opt, mut t)| {
            let lr = optim::schedule::inverse_sqrt(0.1, &t);
            let g = gradient(&w);
            opt.step_at(lr, &mut w, g);
            t += 1.0;
            (w, opt, t)
        })
        .0
    };
    let (before, after) = before_and_after(client(update), 1);
    let descend = |&w: &f32| {
        let step = |w: f64, t: u32| w - 0.1 / f64::from(t + 1).sqrt() * slope(w);
        (0..STEPS as u32).fold(f64::from(w), step) as f32
    };
    let expected: Vec<f32> = before.iter().map(descend).collect();
    assert_close(&after, &expected, 1e-6);
}

/// AdaGrad. Duchi, Hazan & Singer 2011, "Adaptive Subgradient Methods for Online Learning and
/// Stochastic Optimization".
#[derive(Clone)]
struct AdaGrad {
    lr: Scalar,
}

impl Optimizer for AdaGrad {
    type State = Params;
    const STATE: &'static [&'static str] = &["sum"];

    fn lr(&self) -> Scalar {
        self.lr.clone()
    }

    fn init(&self, w: &Params) -> Params {
        w.zeros_like()
    }

    fn direction(&self, sum: &mut Params, _: &Params, g: &Params) -> Params {
        *sum += Tree::mul(g, g);
        g.div(&sum.sqrt().add_scalar(1e-10))
    }
}

#[test]
fn an_optimizer_of_ones_own_steps_everywhere() {
    let opt = || AdaGrad { lr: 0.1.into() };
    for (before, after) in [local(opt), across_rounds(opt)] {
        let descend = |&w: &f32| {
            let step = |(w, sum): (f64, f64), _| {
                let (g, sum) = (slope(w), sum + slope(w) * slope(w));
                (w - 0.1 * g / (sum.sqrt() + 1e-10), sum)
            };
            (0..STEPS).fold((f64::from(w), 0.0), step).0 as f32
        };
        let expected: Vec<f32> = before.iter().map(descend).collect();
        assert_close(&after, &expected, 2e-6);
    }
}
