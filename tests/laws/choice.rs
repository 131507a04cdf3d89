//! Clients that the server chooses from what it knows, clients that choose for themselves, and named random
//! streams.

use std::collections::BTreeSet;

use fedround::Experiment;
use fedround::algorithms::FedAvg;
use fedround::experiment::{Report, Settings};
use fedround::prelude::*;
use fedround::simulation::parties::Loopback;
use fedround::simulation::{CohortBatch, RoundStats, Simulation};

use crate::common::{assert_close, bits, digits, federation, run, simulation, weights};

const CLIENTS: usize = 6;

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 5,
        lr: 0.1,
        ..FedAvg::default()
    }
}

fn of(algorithm: &dyn Algorithm) -> Simulation {
    let data = digits(60, 10).train;
    simulation(algorithm, "logistic", federation(&data, "iid", CLIENTS, 3))
}

fn after(algorithm: &dyn Algorithm, rounds: usize) -> (Vec<f32>, RoundStats) {
    let mut simulation = of(algorithm);
    let stats = run(&mut simulation, rounds);
    (weights(&simulation), stats)
}

/// FedAvg whose clients take part by chance.
#[derive(Hyper, Debug, Clone)]
pub struct ByChance<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// The probability.
    #[hyper(default = 0.5)]
    pub p: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for ByChance<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.bernoulli(self.p);
        let w_k = w.broadcast(&s_t).map(|k, w| self.client_update(k, w));
        self.aggregate(server, w_k)
    }
}

#[test]
fn with_probability_one_everyone_takes_part_and_with_zero_rounds_are_skipped() {
    let chance = |p| ByChance { base: base(), p };
    let mut all = of(&chance(1.0));
    let stats = run(&mut all, 2);
    assert_eq!(stats.client_steps, 2 * CLIENTS as u64);
    let mut none = of(&chance(0.0));
    let before = weights(&none);
    let stats = run(&mut none, 2);
    assert!(stats.skipped && none.round() == 2);
    assert_eq!((stats.bytes_up, stats.bytes_down), (0, 0));
    assert_eq!(bits(&weights(&none)), bits(&before));
    // Somewhere between, some rounds are smaller than others.
    let mut some = of(&chance(0.5));
    let sizes: Vec<u64> = (0..8).map(|_| run(&mut some, 1).client_steps / 2).collect();
    assert!(sizes.iter().any(|n| *n != sizes[0]) && sizes.iter().all(|n| *n <= 6));
}

/// As [`ByChance`], with a probability for each half of the clients.
#[derive(Hyper, Debug, Clone)]
pub struct ByOwnChance<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// The probability of clients 0, 1 and 2.
    #[hyper(default = 0.5)]
    pub first: f32,
    /// The probability of clients 3, 4 and 5.
    #[hyper(default = 0.5)]
    pub last: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for ByOwnChance<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let p_k = server
            .all_clients()
            .map_on_server(|k| (k.number() - 2.5).select(self.last, self.first));
        let s_t = server.bernoulli_by(&p_k);
        s_t.map_on_server(|k| {
            let seen = k.scalar_state("seen") + 1.0;
            k.set_state("seen", &seen);
            seen
        });
        let w_k = w.broadcast(&s_t).map(|k, w| self.client_update(k, w));
        self.aggregate(server, w_k)
    }
}

#[test]
fn each_client_takes_part_with_its_own_probability() {
    let own = |first, last| ByOwnChance {
        base: base(),
        first,
        last,
    };
    let mut half = of(&own(1.0, 0.0));
    run(&mut half, 2);
    let seen = |k| {
        let leaves = half.server_state_for(k, "byownchance.seen").unwrap();
        leaves.map_or(0.0, |leaves| leaves[0][0])
    };
    let seen: Vec<f32> = (0..CLIENTS).map(seen).collect();
    assert_eq!(seen, [2.0, 2.0, 2.0, 0.0, 0.0, 0.0]);
    // The same probability for everyone draws the cohorts of `bernoulli`.
    let chance = ByChance {
        base: base(),
        p: 0.5,
    };
    let sizes = |algorithm: &dyn Algorithm| -> Vec<u64> {
        let mut simulation = of(algorithm);
        let rounds = 0..8;
        rounds
            .map(|_| run(&mut simulation, 1).client_steps / 2)
            .collect()
    };
    assert_eq!(sizes(&own(0.5, 0.5)), sizes(&chance));
}

/// Trains the clients whose last loss is largest: those of whom there is none come first.
#[derive(Hyper, Debug, Clone)]
pub struct Worst<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// How many clients.
    #[hyper(default = 2)]
    pub count: usize,
    /// Whether they are drawn in proportion to their scores, instead of the largest.
    #[hyper(default = false)]
    pub draws: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Worst<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let score = server
            .all_clients()
            .map_on_server(|k| 9.0 - k.scalar_state("seen"));
        let s_t = if self.draws {
            server.sample_by(&score, self.count)
        } else {
            server.top(&score, self.count)
        };
        let w_k = w.broadcast(&s_t).map(|k, w| self.client_update(k, w));
        s_t.map_on_server(|k| {
            let seen = k.scalar_state("seen") + 1.0;
            k.set_state("seen", &seen);
            seen
        });
        self.aggregate(server, w_k)
    }
}

/// How many rounds a client was in, as the server counts.
fn seen(simulation: &Simulation) -> Vec<f32> {
    let of = |k| simulation.server_state_for(k, "worst.seen").unwrap();
    (0..CLIENTS)
        .map(|k| of(k).map_or(0.0, |leaves| leaves[0][0]))
        .collect()
}

#[test]
fn scores_that_the_server_keeps_choose_the_cohort() {
    let worst = |draws| Worst {
        base: base(),
        count: 2,
        draws,
    };
    let mut ranked = of(&worst(false));
    run(&mut ranked, 1);
    assert_eq!(seen(&ranked), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    run(&mut ranked, 1);
    assert_eq!(seen(&ranked), [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    run(&mut ranked, 4);
    assert_eq!(seen(&ranked), [2.0; CLIENTS]);
    // Scores 9, 8 and so on are all but equal: everyone is drawn before long, two a round.
    let mut drawn = of(&worst(true));
    run(&mut drawn, 8);
    assert_eq!(seen(&drawn).iter().sum::<f32>(), 16.0);
    assert!(seen(&drawn).iter().all(|n| *n > 0.0), "{:?}", seen(&drawn));
}

#[test]
fn a_run_goes_on_with_the_scores_of_its_checkpoint() {
    let worst = Worst {
        base: base(),
        count: 2,
        draws: true,
    };
    let mut whole = of(&worst);
    run(&mut whole, 3);
    let saved = whole.save().unwrap();
    run(&mut whole, 3);
    let mut resumed = of(&worst);
    resumed.restore(&saved).unwrap();
    run(&mut resumed, 3);
    assert_eq!(seen(&resumed), seen(&whole));
    assert_eq!(bits(&weights(&resumed)), bits(&weights(&whole)));
}

/// Every client trains, and sends its model if its own draw, or the size of its update, says so.
#[derive(Hyper, Debug, Clone)]
pub struct Willing<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// The probability.
    #[hyper(default = 0.5)]
    pub p: f32,
    /// Whether another stream is drawn from in between.
    #[hyper(default = false)]
    pub other: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Willing<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let (w_k, sends_k) = w.broadcast(&server.all_clients()).map(|k, w| {
            let mut w = self.client_update(k, w);
            if self.other {
                w = &w + 0.0 * k.stream("other").normal() * &w;
            }
            (w, k.stream("send").bernoulli(self.p))
        });
        let senders = server.clients_where(&sends_k.gather());
        self.aggregate(server, w_k.restrict(&senders))
    }
}

#[test]
fn what_a_client_does_not_send_is_neither_counted_nor_charged() {
    let willing = |p, other| Willing {
        base: base(),
        p,
        other,
    };
    let (mean, stats) = after(&willing(0.5, false), 1);
    let model = 4 * mean.len() as u64;
    // Each client sends a number, and those that send a model its weight as well.
    let senders = (stats.bytes_up - 4 * CLIENTS as u64) / (model + 4);
    assert_eq!(stats.bytes_up, 4 * CLIENTS as u64 + senders * (model + 4));
    assert!((1..CLIENTS as u64).contains(&senders), "{senders}");
    assert_eq!(stats.client_steps, 2 * CLIENTS as u64);
    // Everyone: FedAvg. Draws of another name change nothing.
    let (all, _) = after(&willing(1.0, false), 2);
    assert_eq!(bits(&all), bits(&after(&base(), 2).0));
    assert_eq!(
        bits(&after(&willing(0.5, true), 3).0),
        bits(&after(&willing(0.5, false), 3).0)
    );
}

#[test]
fn a_round_in_which_nobody_sends_is_skipped() {
    let willing = Willing {
        base: base(),
        p: 0.0,
        other: false,
    };
    let mut nobody = of(&willing);
    let before = weights(&nobody);
    let stats = run(&mut nobody, 2);
    assert!(stats.skipped && nobody.round() == 2);
    assert_eq!(bits(&weights(&nobody)), bits(&before));
}

#[test]
fn groups_of_clients_draw_what_each_draws_alone() {
    let willing = Willing {
        base: base(),
        p: 0.5,
        other: true,
    };
    let mut alone = of(&willing);
    let mut grouped = of(&willing).with_cohort_batch(CohortBatch::Clients(3));
    let (a, b) = (run(&mut alone, 3), run(&mut grouped, 3));
    assert_eq!(a.bytes_up, b.bytes_up);
    assert_close(&weights(&grouped), &weights(&alone), 2e-6);
}

/// The server keeps what it draws.
#[derive(Hyper, Debug, Clone)]
pub struct Draws {}

#[federated]
impl Algorithm for Draws {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let draws = server.stream("draws");
        let (u, z, b) = (draws.uniform(), draws.normal(), draws.bernoulli(0.5));
        server.set_state("u", &u);
        server.set_state("z", &z);
        server.set_state("b", &b);
        let order = draws.permutation(10);
        server.set_state("order", &order);
        let hit = server.run(|s| {
            let rows = s.get(&order).zero_inputs();
            s.loss(&s.get(&w), &rows, &s.get(&order))
        });
        server.set_state("loss", &hit);
        w
    }
}

#[test]
fn the_server_draws_from_named_streams() {
    let mut simulation = of(&Draws {});
    let (mut uniform, mut normal, mut ones) = (vec![], vec![], 0.0);
    let mut orders = BTreeSet::new();
    for _ in 0..400 {
        run(&mut simulation, 1);
        let kept = |name: &str| simulation.server_state(name).unwrap().unwrap().concat();
        uniform.push(kept("draws.u")[0]);
        normal.push(kept("draws.z")[0]);
        ones += kept("draws.b")[0];
        // Each class once: the mean loss of images without content is that of guessing.
        assert!((kept("draws.loss")[0] - 10f32.ln()).abs() < 0.1);
        let mut order = kept("draws.order");
        orders.insert(bits(&order));
        order.sort_by(f32::total_cmp);
        assert!(
            order.iter().copied().eq((0..10u8).map(f32::from)),
            "{order:?}"
        );
    }
    // Of 3,628,800 orders.
    assert!(orders.len() > 390, "{}", orders.len());
    let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
    let spread = |values: &[f32]| mean(&values.iter().map(|x| x * x).collect::<Vec<_>>());
    assert!(uniform.iter().all(|u| (0.0..1.0).contains(u)));
    assert!((mean(&uniform) - 0.5).abs() < 0.08);
    assert!(mean(&normal).abs() < 0.25 && (spread(&normal) - 1.0).abs() < 0.3);
    assert!((ones / 400.0 - 0.5).abs() < 0.13, "{ones}");
}

/// A run between a coordinator and two parties, and one in a single process.
fn at_parties(algorithm: impl Algorithm + Clone) {
    let experiment = || {
        let settings = Settings {
            clients: CLIENTS,
            cohort_batch: CohortBatch::Off,
            eval_every: 2,
            threads: 1,
            ..Settings::default()
        };
        Experiment::new(algorithm.clone())
            .model("logistic")
            .data(digits(60, 20))
            .settings(settings)
    };
    let hosts = [vec![0, 2, 5], vec![1, 3, 4]].map(|clients| {
        experiment()
            .prepare(3)
            .unwrap()
            .into_party(clients)
            .unwrap()
    });
    let parties = Box::new(Loopback::new(hosts.into()));
    let run = experiment().prepare(3).unwrap();
    let found = run
        .with_parties(parties, 1)
        .unwrap()
        .train(&mut ())
        .unwrap();
    let expected = experiment().run(3).unwrap();
    let text = |report: &Report| format!("{:?} {:?}", report.scores, report.history.last());
    let losses = |report: &Report| -> Vec<u64> {
        let rounds = report.history.iter();
        rounds.map(|round| round.train_loss.to_bits()).collect()
    };
    assert_eq!(losses(&found), losses(&expected), "{}", text(&found));
}

#[test]
fn parties_make_the_same_choices() {
    at_parties(Worst {
        base: base(),
        count: 2,
        draws: true,
    });
    at_parties(Willing {
        base: base(),
        p: 0.5,
        other: false,
    });
}
