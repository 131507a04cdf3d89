//! Clients that fail or are late take no part in a round, and everything else is as without them.

use fedround::algorithms::{FedAvg, Scaffold, registry};
use fedround::prelude::*;
use fedround::simulation::{Distribution, Faults, RoundStats, Simulation};

use crate::common::{bits, dealt, digits, on_threads, weights};

/// FedAvg of the first clients, each of which counts its rounds.
#[derive(Hyper, Debug, Clone)]
struct Counted<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Clients that are there.
    #[hyper(default = 5)]
    pub clients: usize,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Counted<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.clients(0, self.clients);
        let w_k = w.broadcast(&s_t).map(|k, w| {
            k.set_state("rounds", &(k.scalar_state("rounds") + 1.0));
            self.client_update(k, w)
        });
        self.aggregate(server, w_k)
    }
}

fn base() -> FedAvg {
    FedAvg {
        fraction: 0.4,
        batch: 4,
        lr: 0.1,
        ..FedAvg::default()
    }
}

fn counted(clients: usize) -> Counted {
    Counted {
        base: base(),
        clients,
    }
}

const SIZES: [usize; 5] = [8, 8, 8, 8, 8];

fn federation(algorithm: &dyn Algorithm, threads: usize) -> Simulation {
    let mut end = 0;
    let mut part = |n: usize| {
        end += n;
        (end - n..end).collect()
    };
    let parts = SIZES.map(&mut part).to_vec();
    let data = digits(50, 10).train;
    on_threads(algorithm, "logistic", dealt(&data, parts, 3), threads)
}

fn faulty(algorithm: &dyn Algorithm, faults: &Faults) -> Simulation {
    federation(algorithm, 2)
        .with_faults(faults.clone())
        .unwrap()
}

fn rounds(simulation: &mut Simulation, n: usize) -> Vec<RoundStats> {
    (0..n).map(|_| simulation.run_round().unwrap()).collect()
}

fn listed(speeds: &[f64]) -> Option<Distribution> {
    Some(Distribution::Listed(speeds.to_vec()))
}

#[test]
fn without_failures_nothing_changes() {
    let clock = Faults {
        speed: Some("lognormal:1:1".parse().unwrap()),
        bandwidth: Some("exponential:5".parse().unwrap()),
        deadline: Some(f64::INFINITY),
        ..Faults::default()
    };
    let scaffold = Scaffold {
        fraction: 0.4,
        batch: 4,
        ..Scaffold::default()
    };
    let algorithms: [&dyn Algorithm; 2] = [&base(), &scaffold];
    for algorithm in algorithms {
        let mut plain = federation(algorithm, 2);
        let expected = rounds(&mut plain, 4);
        for faults in [&Faults::default(), &clock] {
            let mut simulation = faulty(algorithm, faults);
            let found = rounds(&mut simulation, 4);
            assert_eq!(bits(&weights(&simulation)), bits(&weights(&plain)));
            for (found, expected) in found.into_iter().zip(&expected) {
                assert_eq!(found.virtual_seconds.is_some(), faults.has_clock());
                let found = RoundStats {
                    virtual_seconds: None,
                    ..found
                };
                assert_eq!(found, *expected);
            }
        }
    }
}

#[test]
fn a_late_client_is_as_if_it_were_not_there() {
    // The last client computes a thousand times as long.
    let slow = |deadline| Faults {
        speed: listed(&[1.0, 1.0, 1.0, 1.0, 0.001]),
        deadline: Some(deadline),
        ..Faults::default()
    };
    let all = rounds(&mut faulty(&counted(5), &slow(f64::INFINITY)), 1);
    let longest = all[0].virtual_seconds.unwrap();
    let mut simulation = faulty(&counted(5), &slow(longest / 2.0));
    let found = rounds(&mut simulation, 3);
    let mut others = federation(&counted(4), 2);
    let expected = rounds(&mut others, 3);
    assert_eq!(bits(&weights(&simulation)), bits(&weights(&others)));
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!((&found.late[..], &found.failed[..]), (&[4][..], &[][..]));
        assert_eq!(found.train_loss, expected.train_loss);
        assert_eq!(found.bytes_up, expected.bytes_up);
        // The server waits for it until the deadline.
        assert_eq!(found.virtual_seconds, Some(longest / 2.0));
    }
    let state = |s: &Simulation, k| s.client_state(k, "counted.rounds").unwrap();
    assert_eq!(state(&simulation, 3), Some(vec![vec![3.0]]));
    assert_eq!(state(&simulation, 4), None);
}

#[test]
fn the_fastest_of_more_clients_take_part() {
    let speeds = [1.0, 8.0, 2.0, 4.0, 0.5];
    let faults = |over_select| Faults {
        speed: listed(&speeds),
        over_select,
        ..Faults::default()
    };
    // Two of five are asked for, and all are called.
    let mut simulation = faulty(&base(), &faults(2.5));
    for stats in rounds(&mut simulation, 3) {
        assert_eq!(stats.surplus, [0, 2, 4]);
        // Equal clients take times as their speeds.
        let all = rounds(&mut faulty(&counted(5), &faults(1.0)), 1);
        let slowest = all[0].virtual_seconds.unwrap();
        let second = stats.virtual_seconds.unwrap();
        let ratio = slowest / second;
        assert!((ratio - 8.0).abs() < 0.1, "{slowest} and {second}");
        assert_eq!(stats.client_steps, 4);
    }
}

#[test]
fn virtual_time_is_that_of_the_counts() {
    // 10 classes of 784 weights and a bias, down and up, at 1 Mbit/s.
    let faults = Faults {
        bandwidth: Some(Distribution::Constant(1.0)),
        ..Faults::default()
    };
    let stats = rounds(&mut faulty(&counted(5), &faults), 1).remove(0);
    let bits = 8.0 * (stats.bytes_up + stats.bytes_down) as f64 / 5.0;
    let found = stats.virtual_seconds.unwrap();
    assert!((found - bits / 1e6).abs() < 1e-9, "{found}");
}

#[test]
fn failures_repeat_with_other_threads_and_differ_between_rounds() {
    let faults = Faults {
        dropout: 0.5,
        speed: Some("lognormal:1:1".parse().unwrap()),
        bandwidth: Some("uniform:1:20".parse().unwrap()),
        ..Faults::default()
    };
    let run = |threads| {
        let simulation = federation(&counted(5), threads);
        let mut simulation = simulation.with_faults(faults.clone()).unwrap();
        let found = rounds(&mut simulation, 12);
        (bits(&weights(&simulation)), found)
    };
    let (one, stats) = run(1);
    let (three, other) = run(3);
    assert_eq!(one, three);
    let named = |all: &[RoundStats]| {
        let each = all.iter();
        let each = each.map(|s| (s.failed.clone(), s.virtual_seconds.map(f64::to_bits)));
        each.collect::<Vec<_>>()
    };
    assert_eq!(named(&stats), named(&other));
    let failed: Vec<usize> = stats.iter().map(|s| s.failed.len()).collect();
    let all: usize = failed.iter().sum();
    assert!((15..=45).contains(&all), "{failed:?}");
    let mut sets: Vec<_> = stats.iter().map(|s| s.failed.clone()).collect();
    sets.sort();
    sets.dedup();
    assert!(sets.len() > 5, "{sets:?}");
}

#[test]
fn a_round_with_too_few_clients_changes_nothing() {
    let faults = Faults {
        dropout: 0.3,
        min_clients: 4,
        ..Faults::default()
    };
    let mut simulation = faulty(&counted(5), &faults);
    let mut skipped = 0;
    for round in 1..=12 {
        let before = bits(&weights(&simulation));
        let stats = simulation.run_round().unwrap();
        assert_eq!(simulation.round(), round);
        assert_eq!(stats.skipped, stats.failed.len() > 1);
        assert_eq!(stats.skipped, bits(&weights(&simulation)) == before);
        skipped += usize::from(stats.skipped);
    }
    assert!((1..12).contains(&skipped), "{skipped}");
}

#[test]
fn every_algorithm_runs_with_clients_that_fail() {
    let faults = Faults {
        dropout: 0.3,
        speed: Some("lognormal:1:0.5".parse().unwrap()),
        over_select: 1.3,
        ..Faults::default()
    };
    let data = digits(48, 8).train;
    let (mut failed, mut trained) = (0, 0);
    // The columns that `fair` reads are those of Adult.
    let registry = registry();
    for name in registry.names().into_iter().filter(|name| *name != "fair") {
        let algorithm = registry.parse(name).unwrap();
        let parts = (0..8).map(|k| (6 * k..6 * k + 6).collect()).collect();
        let simulation = on_threads(&*algorithm, "2nn", dealt(&data, parts, 3), 2);
        let simulation = simulation.with_public(data.clone());
        let mut simulation = simulation.with_faults(faults.clone()).unwrap();
        for _ in 0..2 {
            let stats = simulation.run_round();
            let stats = stats.unwrap_or_else(|error| panic!("{name}: {error}"));
            failed += stats.failed.len();
            trained += usize::from(!stats.skipped);
        }
    }
    assert!(failed > 30 && trained > 30, "{failed}, {trained}");
}

/// FedAvg of single updates as they arrive.
#[derive(Hyper, Debug, Clone)]
struct Arriving<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Whether the update is of a sample of the clients that arrive, and these are all of them.
    #[hyper(default = false)]
    pub sampled: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Arriving<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let arrived = server.arrivals(5, 1);
        if self.sampled {
            let w_k = w.broadcast(&arrived.sample(1.0));
            w_k.map(|k, w| self.client_update(k, w)).mean()
        } else {
            let w_k = w.dispatch(&arrived).map(|k, w| self.client_update(k, w));
            // All but client 0.
            let taken = server.clients_where(&arrived.map_on_server(|k| k.number()));
            w_k.restrict(&taken).mean()
        }
    }
}

fn arriving(sampled: bool, dropout: f64) -> Simulation {
    let base = base();
    let faults = Faults {
        dropout,
        speed: listed(&[1.0; 5]),
        ..Faults::default()
    };
    faulty(&Arriving { base, sampled }, &faults)
}

#[test]
fn clients_that_arrive_fail_no_more() {
    let found = rounds(&mut arriving(true, 0.5), 12);
    let trained = found.iter().filter(|stats| !stats.skipped).count();
    // Nobody arrives only if all five fail as they begin.
    assert!(trained > 10, "{trained}");
}

#[test]
fn updates_that_arrive_in_a_skipped_round_do_not_arrive_again() {
    let mut simulation = arriving(false, 0.0);
    assert!(rounds(&mut simulation, 1)[0].skipped);
    let mut resumed = arriving(false, 0.0);
    resumed.restore(&simulation.save().unwrap()).unwrap();
    let found = rounds(&mut simulation, 4);
    assert!(found.iter().all(|stats| !stats.skipped));
    // All began at the same time.
    assert_eq!(found[0].virtual_seconds, Some(0.0));
    rounds(&mut resumed, 4);
    assert_eq!(bits(&weights(&resumed)), bits(&weights(&simulation)));
}
