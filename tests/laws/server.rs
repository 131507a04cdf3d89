//! Laws of the server's work for each client of a cohort, and with released features.

use fedround::algorithms::FedAvg;
use fedround::prelude::*;
use fedround::simulation::{CohortBatch, Simulation};

use crate::common::{assert_close, bits, dealt, digits, on_threads, run, weights};

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 4,
        lr: 0.1,
        ..FedAvg::default()
    }
}

/// Moves each client's model a few steps back to the one that was sent, on its client or on the
/// server.
#[derive(Hyper, Debug, Clone)]
pub struct Pulled<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// How many steps.
    #[hyper(default = 3)]
    pub steps: usize,
    /// Whether the server does it.
    #[hyper(default = true)]
    pub on_server: bool,
    /// Whether the clients get the result and hand it in again.
    #[hyper(default = false)]
    pub and_back: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Pulled<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w
            .broadcast(&server.all_clients())
            .map(|k, w| self.client_update(k, w));
        if self.on_server {
            let pulled = w_k.gather().map(|k, y| {
                let mut y = y;
                for _ in 0..self.steps {
                    y -= 0.1 * (&y - k.get(&w));
                }
                y
            });
            if self.and_back {
                pulled.scatter().mean()
            } else {
                pulled.mean()
            }
        } else {
            let pulled = w_k.map(|k, y| {
                let mut y = y;
                for _ in 0..self.steps {
                    y -= 0.1 * (&y - k.global_params());
                }
                y
            });
            pulled.mean()
        }
    }
}

fn pulled(steps: usize, on_server: bool) -> Pulled {
    Pulled {
        base: base(),
        steps,
        on_server,
        and_back: false,
    }
}

/// Clients of several sizes.
fn ragged() -> Vec<Vec<usize>> {
    vec![
        (0..5).collect(),
        (5..9).collect(),
        (9..18).collect(),
        (18..20).collect(),
    ]
}

fn of_ragged(algorithm: &dyn Algorithm, threads: usize, group: usize) -> Simulation {
    let data = digits(20, 1).train;
    let federation = dealt(&data, ragged(), 3);
    let simulation = on_threads(algorithm, "2nn", federation, threads);
    simulation.with_cohort_batch(CohortBatch::Clients(group))
}

fn after_two(algorithm: &dyn Algorithm, threads: usize, group: usize) -> Vec<f32> {
    let mut simulation = of_ragged(algorithm, threads, group);
    run(&mut simulation, 2);
    weights(&simulation)
}

#[test]
fn the_mean_of_gathered_values_is_their_mean() {
    let gathered = after_two(&pulled(0, true), 2, 1);
    let plain = after_two(&pulled(0, false), 2, 1);
    assert_eq!(bits(&gathered), bits(&plain));
}

#[test]
fn work_on_the_server_is_that_on_the_clients() {
    let on_server = after_two(&pulled(3, true), 2, 1);
    assert_eq!(bits(&on_server), bits(&after_two(&pulled(3, false), 2, 1)));
    assert_ne!(bits(&on_server), bits(&after_two(&pulled(0, true), 2, 1)));
}

#[test]
fn workers_do_not_matter_and_groups_agree() {
    let alone = after_two(&pulled(3, true), 1, 1);
    assert_eq!(bits(&alone), bits(&after_two(&pulled(3, true), 3, 1)));
    assert_close(&after_two(&pulled(3, true), 2, 3), &alone, 2e-6);
}

#[test]
fn what_is_gathered_and_scattered_is_counted() {
    let back = Pulled {
        and_back: true,
        ..pulled(3, true)
    };
    let mut simulation = of_ragged(&back, 2, 1);
    let stats = run(&mut simulation, 2);
    let model = 4 * weights(&simulation).len() as u64;
    // Four clients get the model and their pulled one, and send theirs twice.
    assert_eq!(stats.bytes_down, 2 * 4 * model);
    assert_eq!(stats.bytes_up, 2 * 4 * model);
    assert_eq!(
        bits(&weights(&simulation)),
        bits(&after_two(&pulled(3, true), 2, 1))
    );
}

/// A client's model trains at others, once for each client that has one.
#[derive(Hyper, Debug, Clone)]
pub struct Visits<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// The first of the clients that are visited.
    #[hyper(default = 0)]
    pub at: usize,
    /// How many are visited.
    #[hyper(default = 1)]
    pub hosts: usize,
    /// Whether models go by a visit, or all clients that are visited get the one model.
    #[hyper(default = true)]
    pub visit: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Visits<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let hosts = server.clients(self.at, self.hosts);
        if self.visit {
            let w_k = w.broadcast(&server.all_clients()).gather();
            let (trained, n) =
                w_k.evaluate_on(&hosts, |k, w| (self.client_update(k, w), k.num_examples()));
            // Back among the values of the cohort that they came from.
            let next = w_k.zip(&trained).map(|_, (w, trained)| 0.0 * w + trained);
            next.weighted_mean(&n)
        } else {
            let w_k = w.broadcast(&hosts).map(|k, w| self.client_update(k, w));
            w_k.mean()
        }
    }
}

#[test]
fn a_visit_runs_at_the_clients_that_are_visited() {
    // Steps on all examples, whose order depends on how many maps came before.
    let visits = |at, hosts, visit| Visits {
        base: FedAvg {
            batch: 1000,
            ..base()
        },
        at,
        hosts,
        visit,
    };
    for (at, hosts) in [(1, 1), (0, 2), (0, 4)] {
        let found = after_two(&visits(at, hosts, true), 2, 1);
        assert_close(&found, &after_two(&visits(at, hosts, false), 2, 1), 1e-6);
        assert_close(&after_two(&visits(at, hosts, true), 2, 3), &found, 2e-6);
        let alone = after_two(&visits(at, hosts, true), 1, 1);
        assert_eq!(bits(&alone), bits(&found));
    }
    let mut simulation = of_ragged(&visits(0, 2, true), 2, 1);
    let stats = run(&mut simulation, 1);
    let model = 4 * weights(&simulation).len() as u64;
    // To all four, whose models go to two clients and come back from each with a number.
    assert_eq!(stats.bytes_down, 4 * model + 8 * model);
    assert_eq!(stats.bytes_up, 4 * model + 8 * (model + 4));
}

/// Every client's model becomes noise at the first one, which looks for a model of its own there.
#[derive(Hyper, Debug, Clone)]
pub struct Noisy {
    /// Of the noise.
    #[hyper(default = 1.0)]
    pub sigma: f32,
}

#[federated]
impl Algorithm for Noisy {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        // All others keep one.
        let others = w.broadcast(&server.clients_except(0, 1));
        others.map(|k, w| k.set_state("own", &w));
        let w_k = w.broadcast(&server.all_clients()).gather();
        let noise = w_k.evaluate_on(&server.clients(0, 1), |k, w| {
            (0.0 * k.state_or("own", &w)).clip(1.0).noise(self.sigma)
        });
        noise.mean()
    }
}

#[test]
fn every_visitor_meets_noise_of_its_own() {
    for group in [1, 4] {
        let mut simulation = of_ragged(&Noisy { sigma: 1.0 }, 2, group);
        run(&mut simulation, 1);
        let noise = weights(&simulation);
        let power = noise.iter().map(|x| f64::from(x * x)).sum::<f64>() / noise.len() as f64;
        // That of the mean of four, not of one that is drawn four times.
        assert!((power - 0.25).abs() < 0.03, "{power}");
        let kept = |client: usize| {
            simulation
                .client_state(client, "noisy.own")
                .unwrap()
                .is_some()
        };
        assert_eq!([0, 1, 2].map(kept), [false, true, true]);
    }
}

/// Keeps on the server, or on each client, what the client's models have moved by so far.
#[derive(Hyper, Debug, Clone)]
pub struct Kept<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Whether the server keeps it.
    #[hyper(default = true)]
    pub on_server: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Kept<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w
            .broadcast(&server.sample(0.5))
            .map(|k, w| self.client_update(k, w));
        if self.on_server {
            let moved = w_k.gather().map(|k, y| {
                let c = k.state("c") + (&y - k.get(&w));
                k.set_state("c", &c);
                c
            });
            w + 0.5 * moved.mean()
        } else {
            let moved = w_k.map(|k, y| {
                let c = k.state("c") + (&y - k.global_params());
                k.set_state("c", &c);
                c
            });
            w + 0.5 * moved.mean()
        }
    }
}

#[test]
fn the_server_keeps_a_state_for_each_client() {
    let after = |on_server, group| {
        let kept = Kept {
            base: base(),
            on_server,
        };
        let mut simulation = of_ragged(&kept, 2, group);
        run(&mut simulation, 5);
        weights(&simulation)
    };
    assert_eq!(bits(&after(true, 1)), bits(&after(false, 1)));
    assert_close(&after(true, 2), &after(false, 1), 1e-5);
}

/// The server adds noise to each client's model; with the sum of the models beside it.
#[derive(Hyper, Debug, Clone)]
pub struct NoisedFor {
    /// `σ`.
    #[hyper(default = 0.1, range = 0.0..)]
    pub sigma: f32,
}

#[federated]
impl Algorithm for NoisedFor {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients()).gather();
        w_k.map(|_, w| (0.0 * w).clip(1.0).noise(self.sigma)).mean()
    }
}

#[test]
fn the_server_draws_anew_for_each_client_and_like_the_seed() {
    let noised = NoisedFor { sigma: 1.0 };
    let alone = after_two(&noised, 1, 1);
    assert_eq!(bits(&alone), bits(&after_two(&noised, 3, 1)));
    assert_eq!(bits(&alone), bits(&after_two(&noised, 2, 3)));
    // The mean of four clients' noises: σ/√4, within 5 %.
    let square: f32 = alone.iter().map(|x| x * x).sum();
    let deviation = (square / alone.len() as f32).sqrt();
    assert!((deviation - 0.5).abs() < 0.025, "{deviation}");
}

/// A step on rows that all clients share, weighted by a number of each client.
#[derive(Hyper, Debug, Clone)]
pub struct Weighted {
    /// Rows of each client.
    #[hyper(default = 3)]
    pub rows: usize,
    /// Whether the loss maps over the cohort.
    #[hyper(default = false)]
    pub inside: bool,
}

#[federated]
impl Algorithm for Weighted {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let (n_k, x_k, y_k) = w.broadcast(&server.all_clients()).map(|k, _| {
            let b = k.batch(self.rows);
            (k.num_examples(), b.x.release("rows"), b.y.release("labels"))
        });
        let (n_k, x_k, y_k) = (n_k.gather(), x_k.gather(), y_k.gather());
        let (x, y) = (x_k.concat(), y_k.concat());
        if self.inside {
            server.run(|s| {
                let w = s.get(&w);
                &w - 0.01
                    * grad(&w, |w| {
                        let loss_k = x_k
                            .zip(&y_k)
                            .map(|k, (x, y)| cross_entropy(k.forward(w, &x), &y));
                        s.get(&loss_k.sum())
                    })
            })
        } else {
            let w_k = n_k.map(|k, n| {
                let (w, x, y) = (k.get(&w), k.get(&x), k.get(&y));
                let g = grad(&w, |w| &n * cross_entropy(k.forward(w, &x), &y));
                0.01 * n * (w - g)
            });
            w_k.mean()
        }
    }
}

#[test]
fn a_gradient_weighted_by_a_number_of_each_client_is_its_own() {
    let spec = Weighted {
        rows: 3,
        inside: false,
    };
    assert_close(&after_two(&spec, 1, 4), &after_two(&spec, 1, 1), 1e-6);
}

/// It is of all clients at once, which no gradient is.
#[test]
fn a_loss_over_a_cohort_is_an_error_that_says_what_to_do() {
    let spec = Weighted {
        rows: 3,
        inside: true,
    };
    let error = fedround::stage(&spec).map(fedround::passes::fed::link);
    let error = error.unwrap().unwrap_err().to_string();
    let expected = "found values of a whole cohort in it; take the gradient for each client";
    assert!(error.contains(expected), "{error}");
    assert!(error.contains("tests/laws/server.rs"), "{error}");
}
