//! Tensors that are made of other tensors: functions, signs, clips, noise, descent.

use fedround::algorithms::FedAvg;
use fedround::data::{Column, Examples};
use fedround::models::Task;
use fedround::optim::Lbfgs;
use fedround::prelude::*;
use fedround::simulation::Simulation;

use crate::common::{
    assert_close, compile, dealt, digits, federation, run, simulation, trained, weights,
};
use crate::rows::keep;

/// Vectors as examples, of one client.
fn of(algorithm: &dyn Algorithm, rows: &[[f32; 2]], labels: &[u16]) -> Simulation {
    let x = Column::floats("x", [1, 1, 2], rows.concat()).unwrap();
    let examples = Examples::of_columns(vec![x], labels.to_vec()).unwrap();
    let task = Task {
        input: [1, 1, 2],
        classes: 10,
    };
    let federation = dealt(&examples, vec![(0..rows.len()).collect()], 3);
    let program = compile(algorithm, "logistic", task);
    let mut simulation = federation.simulation(program, 1);
    simulation.run_round().unwrap();
    simulation
}

fn kept(simulation: &Simulation, name: &str) -> Vec<f32> {
    simulation.client_state(0, name).unwrap().unwrap().concat()
}

/// Keeps what becomes of a client's examples.
#[derive(Hyper, Debug, Clone)]
pub struct Becomes {}

#[federated]
impl Algorithm for Becomes {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        w.broadcast(&server.all_clients()).map(|k, w| {
            // The batch as a matrix, whatever its order.
            let h = k.collect(8, |b| k.apply("features", &w, &b.x));
            k.set_state("sign", &h.sign());
            k.set_state("clipped", &h.clip_rows(1.0));
            k.set_state("softmax", &function("softmax", &h));
            k.set_state("blank", &k.classes().zero_inputs());
            w
        });
        w
    }
}

#[test]
fn signs_clips_and_functions_are_of_each_entry_or_row() {
    let rows = [[3.0, 0.0], [0.3, -0.4]];
    let simulation = of(&Becomes {}, &rows, &[7, 7]);
    let becomes = |name: &str| kept(&simulation, &format!("becomes.{name}"));
    assert_eq!(becomes("sign"), [1.0, 0.0, 1.0, -1.0]);
    // Of norm 3 and ½: 1 and ½.
    assert_close(&becomes("clipped"), &[1.0, 0.0, 0.3, -0.4], 1e-6);
    let p = |a: f32, b: f32| 1.0 / (1.0 + (b - a).exp());
    let softmax = [p(3.0, 0.0), p(0.0, 3.0), p(0.3, -0.4), p(-0.4, 0.3)];
    assert_close(&becomes("softmax"), &softmax, 1e-6);
}

#[test]
fn a_client_has_its_own_classes_and_the_server_all() {
    let rows = [[0.0, 0.0]; 5];
    for (labels, classes) in [([1, 1, 1, 1, 1], 1), ([0, 3, 9, 3, 0], 3)] {
        let simulation = of(&Becomes {}, &rows, &labels);
        assert_eq!(kept(&simulation, "becomes.blank"), vec![0.0; 2 * classes]);
    }
    let simulation = of(&Noised { scale: 0.0 }, &rows, &[0; 5]);
    assert_eq!(kept(&simulation, "noised.x"), vec![0.0; 2 * 10]);
}

/// Keeps Laplace noise on inputs of every class.
#[derive(Hyper, Debug, Clone)]
pub struct Noised {
    /// `b`.
    #[hyper(default = 0.5)]
    pub scale: f32,
}

#[federated]
impl Algorithm for Noised {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let x = server.run(|s| s.classes().zero_inputs().laplace(self.scale));
        keep(server, "x", &x);
        w
    }
}

#[test]
fn laplace_noise_has_its_moments() {
    let data = digits(4, 1).train;
    let of = |seed: u64| {
        let deal = federation(&data, "iid", 2, seed);
        let mut simulation = simulation(&Noised { scale: 0.5 }, "logistic", deal);
        run(&mut simulation, 1);
        kept(&simulation, "noised.x")
    };
    let x = of(5);
    let mean = |f: fn(f32) -> f32| x.iter().map(|x| f(*x)).sum::<f32>() / x.len() as f32;
    // 7840 numbers: b, 2 b² and 0 within four deviations; a Gaussian's E |x| is 0.564.
    assert!((mean(f32::abs) - 0.5).abs() < 0.023, "{}", mean(f32::abs));
    assert!((mean(|x| x * x) - 0.5).abs() < 0.051, "{}", mean(|x| x * x));
    assert!(mean(|x| x).abs() < 0.032, "{}", mean(|x| x));
    assert_eq!(of(5), x);
    assert_ne!(of(6), x);
}

/// Inverts the model: inputs that it takes for each class, by L-BFGS.
#[derive(Hyper, Debug, Clone)]
pub struct Inverts {
    /// Iterations.
    #[hyper(default = 5)]
    pub iterations: usize,
}

#[federated]
impl Algorithm for Inverts {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let y_k = w
            .broadcast(&server.all_clients())
            .map(|k, _| k.classes().release("names of classes"));
        let loss_k = y_k.gather().map(|k, y| {
            let (w, x) = (k.get(&w), y.zero_inputs().noise(1.0));
            let of = |x: &Tensor| cross_entropy(k.forward(&w, x), &y);
            let found = Lbfgs::new(3).armijo(10).minimize(&x, self.iterations, of);
            (of(&x), of(&found))
        });
        server.set_state("before", &loss_k.0.mean());
        server.set_state("after", &loss_k.1.mean());
        w
    }
}

#[test]
fn descent_on_features_lowers_the_loss() {
    let data = digits(40, 1).train;
    for iterations in [1, 5, 20] {
        let deal = federation(&data, "shards:2", 3, 1);
        let mut simulation = simulation(&Inverts { iterations }, "logistic", deal);
        let first = weights(&simulation);
        run(&mut simulation, 1);
        let [before, after] = ["before", "after"].map(|name| {
            let kept = simulation.server_state(&format!("inverts.{name}")).unwrap();
            kept.unwrap()[0][0]
        });
        assert!(after < before, "{iterations}: {before} {after}");
        assert!(iterations < 20 || after < 0.1 * before, "{before} {after}");
        // The model is as it was.
        assert_eq!(weights(&simulation), first);
    }
}

/// Clients look at all of their examples before they train.
#[derive(Hyper, Debug, Clone)]
pub struct LooksFirst<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for LooksFirst<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let h = k.collect(8, |b| k.apply("features", &w, &b.x));
        k.set_state("norm", &h.sq_norm());
        self.base.client_update(k, w)
    }
}

#[test]
fn what_is_collected_does_not_change_the_training_after_it() {
    let base = FedAvg {
        fraction: 1.0,
        epochs: 2,
        batch: 5,
        lr: 0.1,
        ..FedAvg::default()
    };
    let data = digits(60, 1).train;
    let after = |algorithm: &dyn Algorithm| {
        trained(algorithm, "logistic", federation(&data, "iid", 3, 3), 2)
    };
    let plain = after(&base);
    // Clients that collect are not in groups, which round otherwise.
    assert_close(&after(&LooksFirst { base }), &plain, 1e-5);
}
