//! Several models of the server, of which each client trains the one that fits it best.

use fedround::algorithms::{FedAvg, HypCluster};
use fedround::data::Examples;
use fedround::simulation::{CohortBatch, RoundStats, Simulation};

use crate::common::{Deal, assert_close, bits, dealt, digits, run, simulation, weights};

const CLIENTS: usize = 6;

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 2,
        batch: 5,
        lr: 0.1,
        ..FedAvg::default()
    }
}

fn clusters(clusters: usize) -> HypCluster {
    HypCluster {
        base: base(),
        clusters,
        share: 1.0,
    }
}

/// Six clients with 100 digits each. The last three call each digit by another name.
fn two_groups(seed: u64) -> Deal {
    let data = digits(100 * CLIENTS, 1).train;
    let renamed = data.labels().iter().enumerate();
    let renamed = renamed.map(|(i, y)| match i % CLIENTS {
        0..3 => *y,
        _ => (y + 5) % 10,
    });
    let labels: Vec<u16> = renamed.collect();
    let examples = Examples::of_columns(data.columns().to_vec(), labels).unwrap();
    let parts = (0..CLIENTS).map(|k| (0..100).map(|i| CLIENTS * i + k).collect());
    dealt(&examples, parts.collect(), seed)
}

fn of(q: usize) -> Simulation {
    simulation(&clusters(q), "logistic", two_groups(3))
}

/// A model of the server, in one row.
fn model(simulation: &Simulation, j: usize) -> Vec<f32> {
    let name = format!("hypcluster.model[{j}]");
    let kept = simulation.server_state(&name).unwrap();
    kept.unwrap().concat()
}

/// The model that each client chose.
fn chosen(simulation: &Simulation) -> Vec<Vec<u32>> {
    let of = |k| simulation.client_state(k, "hypcluster.chosen").unwrap();
    let each = (0..CLIENTS).map(|k| bits(&of(k).unwrap().concat()));
    each.collect()
}

#[test]
fn with_one_model_it_is_fed_avg() {
    let mut one = of(1);
    let mut plain = simulation(&base(), "logistic", two_groups(3));
    let (a, b) = (run(&mut one, 3), run(&mut plain, 3));
    assert_close(&weights(&one), &weights(&plain), 1e-6);
    assert_eq!(a.client_steps, b.client_steps);
    assert_eq!(bits(&model(&one, 0)), bits(&weights(&one)));
}

/// Whether the clients of each group chose one model, and the two groups different ones.
fn is_separated(simulation: &Simulation) -> bool {
    let chosen = chosen(simulation);
    let (one, other) = chosen.split_at(3);
    let alike = |group: &[Vec<u32>]| group.iter().all(|w| *w == group[0]);
    alike(one) && alike(other) && one[0] != other[0]
}

/// It finds a local optimum: from some initial models clients stay where they are. From this one, a client
/// first chooses the model of the other group.
#[test]
fn two_models_separate_two_groups() {
    let algorithm = HypCluster {
        base: FedAvg {
            epochs: 1,
            batch: 100,
            ..base()
        },
        ..clusters(2)
    };
    let mut simulation = simulation(&algorithm, "logistic", two_groups(8));
    run(&mut simulation, 1);
    assert!(!is_separated(&simulation));
    run(&mut simulation, 30);
    assert!(is_separated(&simulation));
}

#[test]
fn a_model_that_nobody_chose_stays() {
    let data = digits(20, 1).train;
    let mut simulation = simulation(
        &clusters(3),
        "logistic",
        dealt(&data, vec![(0..20).collect()], 3),
    );
    run(&mut simulation, 1);
    let first: Vec<Vec<f32>> = (0..3).map(|j| model(&simulation, j)).collect();
    // Each model began elsewhere, and one of them was trained.
    assert_ne!(bits(&first[0]), bits(&first[1]));
    assert_ne!(bits(&first[1]), bits(&first[2]));
    run(&mut simulation, 1);
    let same = |j: &usize| bits(&model(&simulation, *j)) == bits(&first[*j]);
    assert_eq!((0..3).filter(same).count(), 2);
}

#[test]
fn models_survive_a_checkpoint_and_groups_agree() {
    let mut whole = of(2);
    run(&mut whole, 2);
    let saved = whole.save().unwrap();
    run(&mut whole, 2);
    let mut resumed = of(2);
    resumed.restore(&saved).unwrap();
    run(&mut resumed, 2);
    let mut grouped = of(2).with_cohort_batch(CohortBatch::Clients(4));
    run(&mut grouped, 4);
    for j in 0..2 {
        assert_eq!(bits(&model(&resumed, j)), bits(&model(&whole, j)));
        assert_close(&model(&grouped, j), &model(&whole, j), 2e-5);
    }
}

#[test]
fn every_model_is_sent_and_one_comes_back() {
    let mut simulation = of(2);
    let RoundStats {
        bytes_up,
        bytes_down,
        ..
    } = run(&mut simulation, 1);
    let (m, p) = (CLIENTS as u64, weights(&simulation).len() as u64);
    assert_eq!(bytes_down, m * 2 * 4 * p);
    // With the model a weight for each of the two: the examples of its own, and 0.
    assert_eq!(bytes_up, m * (4 * p + 2 * 4));
}
