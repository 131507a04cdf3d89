//! AdFL: weights by adversarial images, against the equations by hand.

use super::*;

pub(super) fn adfl(base: FedAvg) -> Adfl {
    Adfl {
        base,
        steps: 3,
        epsilon: 0.1,
        start: AdflStart::White,
        decay: 0.0,
        ..Adfl::default()
    }
}

/// Keeps the clients' trained models, and takes their uniform mean.
#[derive(Hyper, Debug, Clone)]
pub struct Apart<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Apart<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let w = self.base.client_update(k, w);
        k.set_state("own", &w);
        w
    }

    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        w_k.mean()
    }
}

/// How an image comes about.
struct Steps {
    steps: usize,
    size: f64,
    start: f64,
    black: f64,
    white: f64,
}

impl Steps {
    fn of(algorithm: &Adfl) -> Self {
        let [epsilon, black, white] =
            [algorithm.epsilon, algorithm.black, algorithm.white].map(f64::from);
        Self {
            steps: algorithm.steps,
            size: epsilon * (white - black),
            start: if algorithm.start == AdflStart::White {
                white
            } else {
                black
            },
            black,
            white,
        }
    }
}

/// A client's model `softmax(xW + b)`, in `f64`.
struct Reader(Vec<f64>);

impl Reader {
    fn softmax(&self, x: &[f64]) -> Vec<f64> {
        let mut z = self.0[x.len() * 10..].to_vec();
        for (x, row) in x.iter().zip(self.0.chunks(10)) {
            z.iter_mut().zip(row).for_each(|(z, w)| *z += x * w);
        }
        let top = z.iter().copied().fold(f64::MIN, f64::max);
        let sum: f64 = z.iter().map(|z| (z - top).exp()).sum();
        z.iter().map(|z| (z - top).exp() / sum).collect()
    }

    /// An image of class `c`, by signs of the gradient `W (p − e_c)`.
    fn image(&self, c: usize, by: &Steps) -> Vec<f64> {
        let mut x = vec![by.start; 784];
        for _ in 0..by.steps {
            let mut d = self.softmax(&x);
            d[c] -= 1.0;
            for (x, row) in x.iter_mut().zip(self.0.chunks(10)) {
                let g: f64 = row.iter().zip(&d).map(|(w, d)| w * d).sum();
                let sign = if g == 0.0 { 0.0 } else { g.signum() };
                *x = (*x - by.size * sign).clamp(by.black, by.white);
            }
        }
        x
    }

    /// `q`: the probability of class `c`, where it is the largest.
    fn read(&self, x: &[f64], c: usize) -> f64 {
        let p = self.softmax(x);
        if p.iter().all(|other| *other <= p[c]) {
            p[c]
        } else {
            0.0
        }
    }
}

/// Eq. (1) to (3).
fn hand_weights(models: &[Reader], by: &Steps) -> Vec<f64> {
    let mut totals = vec![0.0; models.len()];
    for (j, author) in models.iter().enumerate() {
        for c in 0..10 {
            let x = author.image(c, by);
            for (k, reader) in models.iter().enumerate().filter(|(k, _)| *k != j) {
                let q = reader.read(&x, c);
                totals[k] += q;
                totals[j] += q;
            }
        }
    }
    let sum: f64 = totals.iter().sum();
    totals.iter().map(|w| w / sum).collect()
}

/// The models that clients trained in a first round, and their uniform mean.
fn apart(base: FedAvg, sizes: &[usize]) -> (Vec<Vec<f32>>, Vec<f32>) {
    let apart = Apart { base };
    let mut simulation = simulation(&apart, "logistic", of_sizes(sizes));
    run(&mut simulation, 1);
    let own = |k| {
        simulation
            .client_state(k, "apart.own")
            .unwrap()
            .unwrap()
            .concat()
    };
    ((0..sizes.len()).map(own).collect(), weights(&simulation))
}

#[test]
fn weights_are_those_of_the_equations() {
    // Long enough that the clients' models are sure of different classes.
    let (sizes, longer) = (
        [20, 50, 30],
        FedAvg {
            epochs: 5,
            ..base()
        },
    );
    let (models, uniform) = apart(longer.clone(), &sizes);
    let readers: Vec<Reader> = models
        .iter()
        .map(|m| Reader(m.iter().copied().map(f64::from).collect()))
        .collect();
    for (steps, start, [black, white]) in [
        (0, AdflStart::Black, [0.0, 1.0]),
        (3, AdflStart::White, [0.0, 1.0]),
        (3, AdflStart::Black, [0.0, 1.0]),
        (3, AdflStart::White, [-2.0, 2.0]),
        (3, AdflStart::Black, [-2.0, 2.0]),
    ] {
        let algorithm = Adfl {
            steps,
            start,
            black,
            white,
            ..adfl(longer.clone())
        };
        let w = hand_weights(&readers, &Steps::of(&algorithm));
        let mean = |i: usize| -> f32 {
            let sum = models.iter().zip(&w).map(|(m, w)| w * f64::from(m[i]));
            sum.sum::<f64>() as f32
        };
        let expected: Vec<f32> = (0..uniform.len()).map(mean).collect();
        let found = trained(&algorithm, "logistic", of_sizes(&sizes), 1);
        assert_close(&found, &expected, 5e-6);
        assert!(farthest(&found, &uniform) > 1e-4, "{start:?}, {steps}");
    }
}

/// The server tells the mean and the spread of what models read of the others' images.
#[test]
fn the_spread_of_what_is_read_is_told() {
    let sizes = [20, 50, 30];
    let longer = FedAvg {
        epochs: 5,
        ..base()
    };
    let (models, _) = apart(longer.clone(), &sizes);
    let readers: Vec<Reader> = models
        .iter()
        .map(|m| Reader(m.iter().copied().map(f64::from).collect()))
        .collect();
    let algorithm = adfl(longer);
    let (mut q, by) = (vec![], Steps::of(&algorithm));
    for (j, author) in readers.iter().enumerate() {
        for c in 0..10 {
            let x = author.image(c, &by);
            let others = readers.iter().enumerate().filter(|(k, _)| *k != j);
            q.extend(others.map(|(_, reader)| reader.read(&x, c)));
        }
    }
    let mean = q.iter().sum::<f64>() / q.len() as f64;
    let variance = q.iter().map(|q| (q - mean).powi(2)).sum::<f64>() / q.len() as f64;
    let mut simulation = simulation(&algorithm, "logistic", of_sizes(&sizes));
    let told = run(&mut simulation, 1).server_numbers;
    assert!((told["adfl.q_mean"] - mean).abs() < 1e-5, "{told:?} {mean}");
    assert!(
        (told["adfl.q_std"] - variance.sqrt()).abs() < 1e-5,
        "{told:?}"
    );
}

#[test]
fn two_clients_always_weigh_the_same() {
    let sizes = [15, 60];
    let (_, uniform) = apart(base(), &sizes);
    for start in [AdflStart::Noise, AdflStart::Black, AdflStart::White] {
        let algorithm = Adfl {
            start,
            ..adfl(base())
        };
        let found = trained(&algorithm, "logistic", of_sizes(&sizes), 1);
        assert_close(&found, &uniform, 1e-6);
    }
}

#[test]
fn models_that_are_the_same_stay_what_they_are() {
    // Every image is read by all others as by its author, so that all weights are the same.
    let same = adfl(FedAvg { lr: 0.0, ..base() });
    let mut simulation = simulation(&same, "logistic", of_sizes(&[10, 40, 20]));
    let first = weights(&simulation);
    run(&mut simulation, 2);
    assert_close(&weights(&simulation), &first, 1e-7);
}

#[test]
fn who_is_alone_is_read_by_nobody_and_counts_fully() {
    let one = trained(&adfl(base()), "logistic", of_sizes(&[30]), 2);
    let plain = trained(&base(), "logistic", of_sizes(&[30]), 2);
    assert_close(&one, &plain, 1e-6);
}

#[test]
fn the_order_of_clients_does_not_matter() {
    let after = |order: [usize; 3]| {
        let mut deal = of_sizes(&[20, 50, 30]);
        deal.dataset.client_indices = order.map(|k| deal.dataset.client_indices[k].clone()).into();
        trained(&adfl(full_batch()), "logistic", deal, 2)
    };
    assert_close(&after([0, 1, 2]), &after([2, 0, 1]), 1e-5);
}

#[test]
fn nothing_but_models_crosses() {
    let ad = run(
        &mut simulation(&adfl(base()), "logistic", of_sizes(&[20, 30, 10])),
        1,
    );
    let plain = run(
        &mut simulation(&base(), "logistic", of_sizes(&[20, 30, 10])),
        1,
    );
    assert_eq!(ad.bytes_down, plain.bytes_down);
    // FedAvg's clients tell how many examples they have.
    assert_eq!(ad.bytes_up + 3 * 4, plain.bytes_up);
    assert_eq!(ad.bytes_up, 3 * 4 * 7_850);
    assert_eq!(ad.client_steps, plain.client_steps);
}

#[test]
fn the_step_of_the_fourth_round_is_half_of_the_first() {
    let decayed = Adfl {
        decay: 0.5,
        ..adfl(full_batch())
    };
    let mut simulation = simulation(&decayed, "logistic", of_sizes(&[30]));
    run(&mut simulation, 3);
    let third = leaves(&simulation);
    run(&mut simulation, 1);
    let step = |lr: f32| {
        let plain = FedAvg { lr, ..full_batch() };
        let mut plain = crate::common::simulation(&plain, "logistic", of_sizes(&[30]));
        assert!(plain.set_parameters(third.clone()));
        run(&mut plain, 1);
        weights(&plain)
    };
    assert_close(&weights(&simulation), &step(LR / 2.0), 1e-6);
    assert!(farthest(&weights(&simulation), &step(LR)) > 1e-5);
}
