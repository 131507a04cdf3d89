//! Features and labels that were released, and what the server does with them.

use fedround::algorithms::FedAvg;
use fedround::prelude::*;
use fedround::simulation::{CohortBatch, Simulation};

use crate::common::adversary::Adversary;
use crate::common::{assert_close, bits, dealt, digits, on_threads, run, trained, weights};

/// What the server makes of the examples that it is given.
#[derive(Hyper, Debug, Clone)]
pub struct Given {
    /// Examples that a client releases, at most.
    #[hyper(default = 100)]
    pub size: usize,
    /// Steps on the server.
    #[hyper(default = 1)]
    pub steps: usize,
    /// `η`.
    #[hyper(default = 0.1)]
    pub lr: f32,
    /// Whether it trains a model for each client, and takes their mean.
    #[hyper(default = false)]
    pub apart: bool,
}

#[federated]
impl Algorithm for Given {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let (x_k, y_k) = w.broadcast(&server.all_clients()).map(|k, _| {
            let b = k.batch(self.size);
            (
                b.x.release("the data are public"),
                b.y.release("the data are public"),
            )
        });
        let (x_k, y_k) = (x_k.gather(), y_k.gather());
        if self.apart {
            let w_k = x_k.zip(&y_k).map(|k, (x, y)| {
                let mut w = k.get(&w);
                for _ in 0..self.steps {
                    w -= self.lr * grad(&w, |w| cross_entropy(k.forward(w, &x), &y));
                }
                w
            });
            w_k.mean()
        } else {
            let (x, y) = (x_k.concat(), y_k.concat());
            server.run(|s| {
                let (x, y) = (s.get(&x), s.get(&y));
                let mut w = s.get(&w);
                for _ in 0..self.steps {
                    w -= self.lr * grad(&w, |w| cross_entropy(s.forward(w, &x), &y));
                }
                w
            })
        }
    }
}

fn given() -> Given {
    Given {
        size: 100,
        steps: 1,
        lr: 0.1,
        apart: false,
    }
}

/// Clients of several sizes, each with digits of its own: client `i` has those of label `i`.
fn by_label(sizes: &[usize]) -> Vec<Vec<usize>> {
    let labels = digits(200, 1).train;
    let own = |(label, &size): (usize, &usize)| {
        let labels = labels.labels().iter().enumerate();
        let own = labels.filter(|(_, l)| usize::from(**l) == label);
        own.map(|(i, _)| i).take(size).collect()
    };
    sizes.iter().enumerate().map(own).collect()
}

fn of(algorithm: &dyn Algorithm, threads: usize, group: usize) -> Simulation {
    let data = digits(200, 1).train;
    let federation = dealt(&data, by_label(&[5, 3, 5, 5, 2]), 3);
    let simulation = on_threads(algorithm, "2nn", federation, threads);
    simulation.with_cohort_batch(CohortBatch::Clients(group))
}

fn after_two(algorithm: &dyn Algorithm, threads: usize, group: usize) -> Vec<f32> {
    let mut simulation = of(algorithm, threads, group);
    run(&mut simulation, 2);
    weights(&simulation)
}

/// One step on all examples of every client, weighted by how many there are: FedSGD.
fn fed_sgd() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 100,
        lr: 0.1,
        ..FedAvg::default()
    }
}

#[test]
fn a_server_with_all_examples_takes_the_step_of_fed_sgd() {
    let central = after_two(&given(), 2, 1);
    assert_close(&central, &after_two(&fed_sgd(), 2, 1), 2e-6);
}

#[test]
fn a_server_that_trains_for_each_client_does_what_clients_do() {
    let apart = Given {
        apart: true,
        ..given()
    };
    let data = digits(20, 1).train;
    // Clients of one size have one weight.
    let alike = || {
        dealt(
            &data,
            vec![(0..5).collect(), (5..10).collect(), (10..15).collect()],
            3,
        )
    };
    assert_close(
        &trained(&apart, "2nn", alike(), 2),
        &trained(&fed_sgd(), "2nn", alike(), 2),
        2e-6,
    );
}

#[test]
fn workers_do_not_matter_and_groups_agree_on_features_of_several_shapes() {
    let apart = Given {
        apart: true,
        steps: 3,
        ..given()
    };
    let alone = after_two(&apart, 1, 1);
    assert_eq!(bits(&alone), bits(&after_two(&apart, 3, 1)));
    assert_close(&after_two(&apart, 2, 3), &alone, 2e-6);
}

#[test]
fn a_client_is_known_by_its_number() {
    // The clients' digits have their numbers for labels.
    let adversary = Adversary {
        examples: 100,
        steps: 30,
        lr: 0.1,
    };
    let told = Given {
        steps: 30,
        ..given()
    };
    assert_eq!(
        bits(&after_two(&adversary, 2, 3)),
        bits(&after_two(&told, 2, 1))
    );
    let mut simulation = of(&adversary, 2, 1);
    run(&mut simulation, 2);
    let data = digits(200, 1).train;
    let own: Vec<usize> = by_label(&[5, 3, 5, 5, 2]).concat();
    let seen = data.subset(&own);
    let accuracy = simulation.evaluate(&seen).unwrap().accuracy;
    assert!(accuracy > 0.9, "{accuracy}");
}

#[test]
fn bytes_are_those_of_the_examples_that_crossed() {
    let mut simulation = of(&given(), 2, 1);
    let stats = run(&mut simulation, 1);
    let examples = 5 + 3 + 5 + 5 + 2;
    // Pixels and a label of each.
    assert_eq!(stats.bytes_up, 4 * examples * (28 * 28 + 1));
    // The server's gradients are no local steps.
    assert_eq!(stats.client_steps, 0);
    assert!(stats.train_loss.is_nan());
}
