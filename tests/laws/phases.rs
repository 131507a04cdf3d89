//! Phases of rounds, and cohorts by number.

use fedround::Experiment;
use fedround::algorithms::FedAvg;
use fedround::prelude::*;

use crate::common::{GREY, assert_close};
use crate::common::{bits, compile, digits, federation, run, simulation, trained, weights};
use crate::rows::numbered;

/// Adds to the model in a first phase, doubles it in a third, takes from it in the rest; how many
/// rounds there were is a state of all.
#[derive(Hyper, Debug, Clone)]
pub struct Steps {
    /// Rounds of the first phase.
    #[hyper(default = 2)]
    pub add: usize,
    /// Rounds of the second.
    #[hyper(default = 0)]
    pub nothing: usize,
    /// Rounds of the third.
    #[hyper(default = 1)]
    pub double: usize,
}

#[federated]
impl Algorithm for Steps {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let rounds = server.run(|s| s.scalar_state("rounds") + 1.0);
        server.set_state("rounds", &rounds);
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            k.set_state("seen", &(k.scalar_state("seen") + 1.0));
            w
        });
        let w = w_k.mean();
        if server.phase("add", self.add) {
            server.run(|s| s.get(&w).add_scalar(1.0))
        } else if server.phase("nothing", self.nothing) {
            server.run(|s| 0.0 * s.get(&w))
        } else if server.phase("double", self.double) {
            server.run(|s| 2.0 * s.get(&w))
        } else {
            server.run(|s| s.get(&w).add_scalar(-3.0))
        }
    }
}

fn steps(add: usize, nothing: usize, double: usize) -> Steps {
    Steps {
        add,
        nothing,
        double,
    }
}

#[test]
fn phases_come_in_order_and_states_outlive_them() {
    let data = digits(8, 1).train;
    let mut simulation = simulation(&steps(2, 0, 1), "logistic", federation(&data, "iid", 2, 1));
    let mut expected = weights(&simulation);
    let rules: [fn(f32) -> f32; 5] = [
        |w| w + 1.0,
        |w| w + 1.0,
        |w| 2.0 * w,
        |w| w - 3.0,
        |w| w - 3.0,
    ];
    for (t, rule) in rules.into_iter().enumerate() {
        run(&mut simulation, 1);
        expected.iter_mut().for_each(|w| *w = rule(*w));
        assert_close(&weights(&simulation), &expected, 1e-5);
        let rounds = [(t + 1) as f32];
        let (server, client) = ("steps.rounds", "steps.seen");
        assert_eq!(
            simulation.server_state(server).unwrap().unwrap().concat(),
            rounds
        );
        assert_eq!(
            simulation
                .client_state(1, client)
                .unwrap()
                .unwrap()
                .concat(),
            rounds
        );
    }
}

#[test]
fn a_program_knows_the_program_of_each_round() {
    let program = compile(&steps(2, 0, 1), "logistic", GREY);
    let lines: Vec<Option<String>> = program.phases().into_iter().map(|(l, _)| l).collect();
    let line = |text: &str| Some(text.to_owned());
    assert_eq!(
        lines,
        [
            line("phase steps.add, rounds 1 to 2"),
            line("phase steps.double, rounds 3 to 3"),
            line("from round 4 on")
        ]
    );
    let all = program.phases();
    for (round, phase) in [(1, 0), (2, 0), (3, 1), (4, 2), (100, 2)] {
        assert!(std::ptr::eq(program.at(round), all[phase].1), "{round}");
    }
    let none = compile(&steps(0, 0, 0), "logistic", GREY);
    assert_eq!(none.phases().len(), 1);
    assert!(none.phases()[0].0.is_none());
}

/// Trains some clients of an inner algorithm's, by their numbers.
#[derive(Hyper, Debug, Clone)]
pub struct Chosen {
    /// The first.
    #[hyper(default = 1)]
    pub first: usize,
    /// How many.
    #[hyper(default = 2)]
    pub count: usize,
    /// Whether it is all others.
    #[hyper(default = false)]
    pub others: bool,
    /// Share of them.
    #[hyper(default = 1.0)]
    pub share: f32,
}

#[federated]
impl Algorithm for Chosen {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let cohort = if self.others {
            server.clients_except(self.first, self.count)
        } else {
            server.clients(self.first, self.count)
        };
        let w_k = w.broadcast(&cohort.sample(self.share)).map(|k, w| {
            k.set_state("seen", &(k.scalar_state("seen") + 1.0));
            w
        });
        w_k.mean()
    }
}

/// How often each of six clients was there in some rounds.
fn seen(others: bool, share: f32, rounds: usize) -> Vec<f32> {
    let data = digits(12, 1).train;
    let chosen = Chosen {
        first: 1,
        count: 2,
        others,
        share,
    };
    let mut simulation = simulation(&chosen, "logistic", federation(&data, "iid", 6, 1));
    run(&mut simulation, rounds);
    let count = |k| {
        simulation
            .client_state(k, "chosen.seen")
            .unwrap()
            .map_or(0.0, |s| s[0][0])
    };
    (0..6).map(count).collect()
}

#[test]
fn clients_are_taken_by_their_numbers() {
    assert_eq!(seen(false, 1.0, 3), [0.0, 3.0, 3.0, 0.0, 0.0, 0.0]);
    assert_eq!(seen(true, 1.0, 3), [3.0, 0.0, 0.0, 3.0, 3.0, 3.0]);
}

#[test]
fn a_cohort_is_sampled_from_itself_alone() {
    let seen = seen(true, 0.5, 12);
    assert_eq!(seen[1..3], [0.0, 0.0]);
    // Two of the four others in each round, and each of them at some time.
    assert_eq!(seen.iter().sum::<f32>(), 24.0);
    let others = [0, 3, 4, 5].map(|k: usize| seen[k]);
    assert!(others.iter().all(|n| (1.0..12.0).contains(n)), "{seen:?}");
}

#[test]
fn numbers_that_no_client_has_are_an_error() {
    let data = digits(4, 1).train;
    let none = Chosen {
        first: 2,
        count: 3,
        others: false,
        share: 1.0,
    };
    let mut simulation = simulation(&none, "logistic", federation(&data, "iid", 2, 1));
    let error = simulation.run_round().unwrap_err().to_string();
    assert!(
        error.contains("needs at least 3 clients; the run has 2"),
        "{error}"
    );
}

/// Nothing but a phase around the base.
#[derive(Hyper, Debug, Clone)]
pub struct Waits<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Rounds in which nothing happens.
    #[hyper(default = 0)]
    pub wait: usize,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Waits<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        if server.phase("wait", self.wait) {
            w
        } else {
            self.base.round(server, w)
        }
    }
}

#[test]
fn a_phase_without_rounds_is_skipped() {
    let data = digits(40, 1).train;
    let deal = || federation(&data, "iid", 4, 7);
    let base = FedAvg {
        fraction: 1.0,
        ..FedAvg::default()
    };
    let waits = Waits {
        base: base.clone(),
        wait: 0,
    };
    let plain = trained(&base, "logistic", deal(), 2);
    assert_eq!(bits(&trained(&waits, "logistic", deal(), 2)), bits(&plain));
    let mut waiting = simulation(&Waits { wait: 2, ..waits }, "logistic", deal());
    let first = weights(&waiting);
    run(&mut waiting, 2);
    assert_eq!(bits(&weights(&waiting)), bits(&first));
    run(&mut waiting, 1);
    assert_ne!(bits(&weights(&waiting)), bits(&first));
}

#[test]
fn a_plug_ins_phases_come_before_those_of_its_base() {
    let twice = Waits {
        base: Waits {
            base: steps(1, 0, 1),
            wait: 4,
        },
        wait: 3,
    };
    let program = compile(&twice, "logistic", GREY);
    let lines = program.phases().into_iter();
    let lines: Vec<String> = lines.filter_map(|(line, _)| line).collect();
    assert_eq!(
        lines,
        [
            "phase waits.wait_2, rounds 1 to 3",
            "phase waits.wait, rounds 4 to 7",
            "phase steps.add, rounds 8 to 8",
            "phase steps.double, rounds 9 to 9",
            "from round 10 on",
        ]
    );
}

/// Reads features that only a later round sets, or an earlier one has set.
#[derive(Hyper, Debug, Clone)]
pub struct Kept {
    /// Rounds that set them.
    #[hyper(default = 0)]
    pub before: usize,
}

#[federated]
impl Algorithm for Kept {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients());
        if server.phase("before", self.before) {
            w_k.map(|k, w| {
                k.set_state("x", &k.collect(2, |b| function("numbers", &b.x)));
                w
            });
        } else {
            w_k.map(|k, w| {
                k.set_state("twice", &(2.0 * k.tensor_state("x")));
                w
            });
        }
        w
    }
}

#[test]
fn features_that_nobody_kept_are_an_error_that_names_them() {
    let error = numbered(&Kept { before: 0 }, &[3], 1).run_round();
    let error = error.unwrap_err().to_string();
    let expected = "the state `kept.x` is read before it is set";
    assert!(error.contains(expected), "{error}");
    let mut simulation = numbered(&Kept { before: 1 }, &[3], 1);
    simulation.run_round().unwrap();
    simulation.run_round().unwrap();
    let mut twice = simulation
        .client_state(0, "kept.twice")
        .unwrap()
        .unwrap()
        .concat();
    twice.sort_by(f32::total_cmp);
    assert_eq!(twice, [2.0, 4.0, 6.0]);
}

/// Reads a state that another phase sets, if by its right name.
#[derive(Hyper, Debug, Clone)]
struct Anchored {
    /// Rounds that set it.
    #[hyper(default = 1)]
    warm: usize,
    /// Whether its name is the right one.
    #[hyper(default = true)]
    right: bool,
}

#[federated]
impl Algorithm for Anchored {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        if server.phase("warm", self.warm) {
            if self.right {
                server.set_state("anchor", &w);
            } else {
                server.set_state("anchr", &w);
            }
            w
        } else {
            0.5 * server.state("anchor") + 0.5 * w
        }
    }
}

#[test]
fn a_state_that_no_phase_sets_is_an_error() {
    for warm in [0, 1, 2] {
        let prepared = |right| {
            let run = Experiment::new(Anchored { warm, right }).model("logistic");
            run.data(digits(50, 20)).clients(2).prepare(1)
        };
        prepared(true).unwrap();
        let error = prepared(false).err().unwrap().to_string();
        let expected = "state `anchored.anchor` is read but never set";
        assert!(
            error.contains("phases.rs") && error.contains(expected),
            "{error}"
        );
    }
}
