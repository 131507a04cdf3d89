//! Medians, trimmed means and Krum, and the attacks that they withstand.

use fedround::algorithms::{Krum, LabelFlip, Median, SignFlip, TrimmedMean};
use fedround::data::Examples;
use fedround::ir::fed::Kind;

use super::*;
use crate::common::distance;

/// The mean in which all clients weigh the same.
#[derive(Hyper, Debug, Clone)]
pub struct Uniform<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Uniform<A> {
    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        w_k.mean()
    }
}

fn trimmed<A>(base: A, beta: f32) -> TrimmedMean<A> {
    TrimmedMean { base, beta }
}

fn krum<A>(base: A, byzantine: usize, selected: usize) -> Krum<A> {
    Krum {
        base,
        byzantine,
        selected,
    }
}

/// The first `n` of the clients of [`deal`] are malicious.
fn flipped(n: usize, scale: f32) -> SignFlip {
    SignFlip {
        base: full_batch(),
        malicious: n as f32 / 6.0,
        scale,
    }
}

fn deal() -> Deal {
    let data = digits(120, 1).train;
    let parts = (0..6).map(|k| (20 * k..20 * (k + 1)).collect());
    dealt(&data, parts.collect(), 7)
}

fn of(algorithm: &dyn Algorithm) -> Simulation {
    simulation(algorithm, "logistic", deal())
}

fn after(algorithm: &dyn Algorithm, rounds: usize) -> Vec<f32> {
    trained(algorithm, "logistic", deal(), rounds)
}

/// What clients send in a round, in the order of their numbers.
pub(super) fn uploads(simulation: &mut Simulation) -> Vec<Vec<f32>> {
    let mut sent: Vec<(usize, Vec<f32>)> = vec![];
    let round = simulation.run_round_observed(|seen| {
        if seen.sent && seen.kind == Kind::Params {
            let leaves = seen.tensors.into_iter();
            let values = leaves.flat_map(|leaf| leaf.values).collect();
            sent.push((seen.client, values));
        }
    });
    round.unwrap_or_else(|error| panic!("{error}"));
    sent.sort_by_key(|(client, _)| *client);
    sent.into_iter().map(|(_, values)| values).collect()
}

/// A variance that moved away from the trained one could be negative.
#[test]
fn malicious_clients_send_running_statistics_as_they_are() {
    let data = digits(24, 1).train;
    let of = |algorithm: &dyn Algorithm| {
        let small = fedround::models::ResNetConfig {
            width: 2,
            ..fedround::models::ResNetConfig::resnet18()
        };
        let model = small.init(GREY, &Default::default());
        let program = compile_model(algorithm, "tiny", Box::new(model), GREY);
        let deal = dealt(&data, vec![(0..12).collect(), (12..24).collect()], 7);
        let mut simulation = deal.simulation(program, 2);
        run(&mut simulation, 1);
        let names = simulation.parameters().unwrap().into_iter();
        let names = names.map(|(name, ..)| name);
        names.zip(leaves(&simulation)).collect::<Vec<_>>()
    };
    for ((name, honest), (_, found)) in of(&full_batch()).iter().zip(of(&flipped(6, 5.0))) {
        assert_eq!(*honest == found, name.contains("running_"), "{name}");
    }
}

#[test]
fn nothing_trimmed_is_the_mean() {
    let uniform = Uniform { base: base() };
    let expected = bits(&after(&uniform, 2));
    assert_eq!(bits(&after(&trimmed(base(), 0.0), 2)), expected);
    assert_ne!(bits(&after(&trimmed(base(), 0.2), 2)), expected);
}

/// Of three clients, all but the middle one is trimmed.
#[test]
fn the_most_that_is_trimmed_leaves_the_median() {
    let sizes = || of_sizes(&[40, 40, 40]);
    let median = trained(&Median { base: base() }, "logistic", sizes(), 2);
    let trimmed = trained(&trimmed(base(), 0.4), "logistic", sizes(), 2);
    assert_eq!(bits(&trimmed), bits(&median));
}

#[test]
fn of_equal_models_it_is_that_model() {
    let still = || FedAvg { lr: 0.0, ..base() };
    let start = bits(&weights(&of(&still())));
    let rules: [&dyn Algorithm; 4] = [
        &Median { base: still() },
        &trimmed(still(), 0.4),
        &krum(still(), 2, 1),
        &krum(still(), 2, 3),
    ];
    for rule in rules {
        assert_eq!(bits(&after(rule, 1)), start, "{}", rule.name());
    }
}

/// How much further a rule goes if one client's lie is a thousand times as large.
fn reach(rule: impl Fn(SignFlip) -> Box<dyn Algorithm>) -> f64 {
    let start = weights(&of(&base()));
    let far = |scale| distance(&after(&*rule(flipped(1, scale)), 1), &start);
    far(1e5) / far(1e2)
}

#[test]
fn one_client_moves_the_mean_without_bound_and_robust_rules_with_one() {
    let mean = reach(|base| Box::new(Uniform { base }));
    assert!(mean > 900.0, "{mean}");
    let rules: [fn(SignFlip) -> Box<dyn Algorithm>; 4] = [
        |base| Box::new(Median { base }),
        |base| Box::new(trimmed(base, 0.2)),
        |base| Box::new(krum(base, 1, 1)),
        |base| Box::new(krum(base, 1, 3)),
    ];
    for rule in rules {
        let reach = reach(rule);
        assert!((0.99..1.01).contains(&reach), "{reach}");
    }
}

/// The places of all models, those with the lowest scores first.
fn by_hand(sent: &[Vec<f32>], byzantine: usize) -> Vec<usize> {
    let score = |i: usize| {
        let others = (0..sent.len()).filter(|j| *j != i);
        let mut far: Vec<f64> = others
            .map(|j| distance(&sent[i], &sent[j]).powi(2))
            .collect();
        far.sort_by(f64::total_cmp);
        far[..sent.len() - byzantine - 2].iter().sum::<f64>()
    };
    let mut order: Vec<usize> = (0..sent.len()).collect();
    order.sort_by(|i, j| score(*i).total_cmp(&score(*j)));
    order
}

#[test]
fn krum_chooses_as_by_hand() {
    for byzantine in [0, 1, 2] {
        let mut simulation = of(&krum(flipped(1, 3.0), byzantine, 1));
        for _ in 0..3 {
            let sent = uploads(&mut simulation);
            let chosen = by_hand(&sent, byzantine)[0];
            assert_ne!(chosen, 0);
            assert_eq!(bits(&weights(&simulation)), bits(&sent[chosen]));
        }
    }
}

#[test]
fn multi_krum_is_the_mean_of_the_best() {
    let mut simulation = of(&krum(flipped(1, 3.0), 1, 3));
    let sent = uploads(&mut simulation);
    let chosen = &by_hand(&sent, 1)[..3];
    let entry = |i: usize| chosen.iter().map(|k| sent[*k][i]).sum::<f32>() / 3.0;
    let expected: Vec<f32> = (0..sent[0].len()).map(entry).collect();
    assert_close(&weights(&simulation), &expected, 1e-6);
    // All of them are the mean, and more than all are all.
    let uniform = after(&Uniform { base: base() }, 1);
    for selected in [6, 100] {
        let all = after(&krum(base(), 1, selected), 1);
        assert_eq!(bits(&all), bits(&uniform));
    }
}

#[test]
fn nobody_malicious_is_the_base() {
    let honest = bits(&after(&base(), 2));
    let flip = SignFlip {
        base: base(),
        malicious: 0.0,
        scale: 5.0,
    };
    assert_eq!(bits(&after(&flip, 2)), honest);
    let labels = LabelFlip {
        base: base(),
        malicious: 0.0,
    };
    assert_close(&after(&labels, 2), &after(&base(), 2), 1e-7);
}

#[test]
fn the_first_clients_move_the_other_way() {
    let (mut honest, mut attacked) = (
        of(&base()),
        of(&SignFlip {
            base: base(),
            ..flipped(2, 3.0)
        }),
    );
    let start = weights(&honest);
    let pairs = uploads(&mut honest).into_iter().zip(uploads(&mut attacked));
    for (k, (honest, sent)) in pairs.enumerate() {
        match k < 2 {
            true => {
                let away = start
                    .iter()
                    .zip(&honest)
                    .map(|(w, own)| w - 3.0 * (own - w));
                assert_close(&sent, &away.collect::<Vec<_>>(), 1e-5);
            }
            false => assert_eq!(bits(&sent), bits(&honest), "{k}"),
        }
    }
}

#[test]
fn wrong_labels_are_those_of_the_last_classes_first() {
    let flip = LabelFlip {
        base: base(),
        malicious: 2.0 / 6.0,
    };
    let mut wrong = deal();
    let examples = &wrong.dataset.examples;
    let labels = examples.labels().iter().enumerate();
    let labels = labels.map(|(i, y)| if i < 40 { 9 - y } else { *y });
    let labels: Vec<u16> = labels.collect();
    wrong.dataset.examples = Examples::of_columns(vec![examples.x().clone()], labels).unwrap();
    let expected = trained(&base(), "logistic", wrong, 2);
    assert_close(&after(&flip, 2), &expected, 1e-6);
}

/// Half of the clients' way is taken back three times over: the mean leaves where it should go.
#[test]
fn robust_rules_train_where_the_mean_does_not() {
    let data = digits(120, 1).train;
    let loss = |algorithm: &dyn Algorithm| {
        let mut simulation = of(algorithm);
        run(&mut simulation, 15);
        simulation.evaluate(&data).unwrap().loss
    };
    let attack = || flipped(2, 3.0);
    let (start, mean) = (10.0_f64.ln(), loss(&Uniform { base: attack() }));
    assert!(mean > start, "{mean}");
    let rules: [&dyn Algorithm; 4] = [
        &Median { base: attack() },
        &trimmed(attack(), 0.34),
        &krum(attack(), 2, 1),
        &krum(attack(), 2, 3),
    ];
    for rule in rules {
        let loss = loss(rule);
        assert!(loss < 0.9 * start, "{}: {loss}", rule.name());
    }
}
