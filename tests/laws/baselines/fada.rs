//! FADA: sources with labels, a target without.

use fedround::algorithms::{Disentangled, Fada};
use fedround::data::Examples;

use super::*;

/// Sources 0 and 2, of as many examples, and client 1, the target.
const TARGET: usize = 1;

/// A source trains in steps on all of its examples.
fn sources() -> FedAvg {
    FedAvg {
        batch: 1000,
        ..base()
    }
}

fn over<A>(base: A) -> Fada<A> {
    Fada {
        base,
        target: TARGET,
        rows: 16,
        passes: 1,
        domain_lr: 0.05,
        target_lr: 0.01,
        align: 1.0,
    }
}

fn disentangled() -> Disentangled {
    Disentangled {
        base: sources(),
        entropy: 0.1,
        mutual: 0.1,
        rebuild: 0.1,
    }
}

/// Sources train for themselves, and the target stays their mean.
fn mean_of_sources() -> Fada<FedAvg> {
    Fada {
        align: 0.0,
        target_lr: 0.0,
        ..over(sources())
    }
}

fn examples() -> Examples {
    digits(90, 1).train
}

fn parts() -> Vec<Vec<usize>> {
    [0..30, 30..60, 60..90].map(Vec::from_iter).into()
}

/// The model, without the networks beside it.
fn model(simulation: &Simulation) -> Vec<f32> {
    let leaves = simulation.parameters().unwrap().into_iter();
    let own =
        leaves.filter(|(leaf, ..)| ["features.", "head."].iter().any(|p| leaf.starts_with(p)));
    own.flat_map(|(_, _, values)| values).collect()
}

fn after_rounds(algorithm: &dyn Algorithm, data: Deal, rounds: usize) -> Simulation {
    let mut simulation = simulation(algorithm, "2nn", data);
    run(&mut simulation, rounds);
    simulation
}

#[test]
fn with_one_source_the_target_gets_its_model() {
    let [source, target, _] = parts().try_into().unwrap();
    let both = dealt(&examples(), vec![source.clone(), target], 7);
    let found = model(&after_rounds(&mean_of_sources(), both, 3));
    let alone = model(&after_rounds(
        &sources(),
        dealt(&examples(), vec![source], 7),
        3,
    ));
    assert_close(&found, &alone, 1e-5);
}

#[test]
fn sources_weigh_the_same_before_anything_is_gained() {
    let found = model(&after_rounds(
        &mean_of_sources(),
        dealt(&examples(), parts(), 7),
        1,
    ));
    let [first, _, second] = parts().try_into().unwrap();
    let both = dealt(&examples(), vec![first, second], 7);
    let mean = model(&after_rounds(&sources(), both, 1));
    assert_close(&found, &mean, 1e-5);
}

/// The sum of both sources' models, by the weights of Eq. (1).
#[test]
fn sources_weigh_by_what_the_targets_clusters_gained() {
    const SOURCES: [usize; 2] = [0, 2];
    let mut simulation = simulation(&mean_of_sources(), "2nn", dealt(&examples(), parts(), 7));
    let gaps = |simulation: &Simulation| {
        SOURCES.map(|k| {
            simulation
                .server_state_for(k, "fada.gap")
                .unwrap()
                .unwrap()
                .concat()[0]
        })
    };
    run(&mut simulation, 1);
    let before = gaps(&simulation);
    assert!(
        simulation
            .server_state_for(TARGET, "fada.gap")
            .unwrap()
            .is_none()
    );
    run(&mut simulation, 1);
    let now = gaps(&simulation);
    let weights: Vec<f32> = before
        .iter()
        .zip(now)
        .map(|(g, now)| ((g - now) / g).exp())
        .collect();
    assert!((weights[0] - weights[1]).abs() > 1e-4, "{weights:?}");
    let own = SOURCES.map(|k| {
        simulation
            .client_state(k, "fada.own")
            .unwrap()
            .unwrap()
            .concat()
    });
    let both = own[0].iter().zip(&own[1]);
    let sum = both.map(|(a, b)| (weights[0] * a + weights[1] * b) / weights.iter().sum::<f32>());
    let found = model(&simulation);
    let expected: Vec<f32> = sum.take(found.len()).collect();
    assert_close(&found, &expected, 1e-5);
}

#[test]
fn the_targets_labels_are_not_read() {
    let algorithms: [&dyn Algorithm; 2] = [&over(sources()), &over(disentangled())];
    for algorithm in algorithms {
        let data = examples();
        let mut labels = data.labels().to_vec();
        for row in parts().swap_remove(TARGET) {
            labels[row] = 9 - labels[row];
        }
        let poisoned = Examples::of_columns(data.columns().to_vec(), labels).unwrap();
        let trained = |data: &Examples| {
            let simulation = after_rounds(algorithm, dealt(data, parts(), 7), 2);
            bits(&weights(&simulation))
        };
        assert_eq!(trained(&data), trained(&poisoned));
    }
}

#[test]
fn there_must_be_a_source_and_the_target() {
    for (target, clients) in [(0, 1), (3, 3)] {
        let algorithm = Fada {
            target,
            ..mean_of_sources()
        };
        let data = dealt(&examples(), parts().into_iter().take(clients).collect(), 7);
        let error = simulation(&algorithm, "2nn", data).run_round().unwrap_err();
        let error = error.to_string();
        assert!(error.contains("needs at least"), "{error}");
    }
}

#[test]
fn every_part_of_it_counts_and_groups_agree() {
    let weights_of = |algorithm: &Fada<Disentangled>, group: usize| {
        let data = dealt(&examples(), parts(), 7);
        let simulation = simulation(algorithm, "2nn", data);
        let mut simulation = simulation.with_cohort_batch(CohortBatch::Clients(group));
        run(&mut simulation, 2);
        model(&simulation)
    };
    let full = over(disentangled());
    let found = weights_of(&full, 1);
    assert_close(&weights_of(&full, 2), &found, 2e-5);
    let without: [fn(&mut Fada<Disentangled>); 6] = [
        |f| f.align = 0.0,
        |f| f.base.entropy = 0.0,
        |f| f.base.mutual = 0.0,
        |f| f.base.rebuild = 0.0,
        |f| f.target_lr = 0.0,
        |f| f.domain_lr = 0.0,
    ];
    for (i, leave_out) in without.into_iter().enumerate() {
        let mut other = full.clone();
        leave_out(&mut other);
        assert_ne!(bits(&weights_of(&other, 1)), bits(&found), "{i}");
    }
}
