//! Clients' own models are evaluated at the parties as in a simulation, bit for bit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use fedround_data::Examples;
use fedround_simulation::parties::{HeldOut, Loopback, PartyHost, PartyScore, PartyScores};
use fedround_simulation::{CohortBatch, Faults, Simulation};

use crate::cases::{CASES, Case, SIZES, at_parties};
use crate::parties::{Shared, parameters};
use crate::troubled_parties::{Trouble, Troubled};

fn alone(case: &Case) -> Simulation {
    let simulation = case.with_own_models();
    simulation.with_cohort_batch(CohortBatch::Off)
}

/// Other examples for each client; the last has none.
fn held_out(simulation: &Simulation, client: usize) -> HeldOut {
    let examples = &simulation.dataset().examples;
    let some = |step: usize| -> Option<Examples> {
        let all: Vec<usize> = (client..examples.len()).step_by(step).collect();
        (client + 1 < SIZES.len()).then(|| examples.subset(&all))
    };
    HeldOut {
        test: some(1),
        validation: some(2),
    }
}

fn host(case: &Case, clients: Vec<usize>) -> PartyHost {
    let simulation = alone(case);
    let examples = clients.iter().map(|&k| (k, held_out(&simulation, k)));
    let examples: BTreeMap<usize, HeldOut> = examples.collect();
    let host = PartyHost::new(simulation, clients).unwrap();
    host.with_held_out(examples)
}

fn hosts(case: &Case, n: usize) -> Vec<PartyHost> {
    let of = |host: usize| (0..SIZES.len()).filter(move |k| k % n == host);
    (0..n).map(|i| host(case, of(i).collect())).collect()
}

fn federation(case: &Case, n: usize) -> (Simulation, Shared) {
    let parties = Shared(Arc::new(Mutex::new(Loopback::new(hosts(case, n)))));
    let coordinator = alone(case).with_parties(Box::new(parties.clone()), 1);
    (coordinator.unwrap(), parties)
}

/// How the models of a simulation do.
fn expected(simulation: &Simulation) -> PartyScores {
    let models = simulation.personal_models().unwrap().unwrap();
    let accuracy = |client: usize, examples: Option<Examples>| {
        let tested = simulation.evaluate_client(&models, client, &examples?);
        Some(tested.unwrap().unwrap().accuracy)
    };
    let clients = (0..SIZES.len()).map(|client| {
        let held_out = held_out(simulation, client);
        PartyScore {
            client,
            test: accuracy(client, held_out.test),
            validation: accuracy(client, held_out.validation),
        }
    });
    let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let server = simulation.parameters().unwrap();
    let mut own = vec![false; server.len()];
    for k in 0..SIZES.len() {
        let model = simulation.personal_parameters(&models, k).unwrap().unwrap();
        for ((own, (.., values)), (.., server)) in own.iter_mut().zip(&model).zip(&server) {
            *own |= bits(values) != bits(server);
        }
    }
    PartyScores {
        clients: clients.collect(),
        missing: vec![],
        own,
    }
}

#[test]
fn own_models_do_at_parties_as_in_a_simulation() {
    let mut personal = 0;
    for case in at_parties() {
        let mut simulation = alone(case);
        if !simulation.has_personal_models() {
            let (mut coordinator, _) = federation(case, 1);
            assert!(coordinator.evaluate_at_parties().unwrap().is_none());
            continue;
        }
        personal += 1;
        let mut scores = vec![expected(&simulation)];
        for _ in 0..=case.2 {
            simulation.run_round().unwrap();
            scores.push(expected(&simulation));
        }
        for n in [1, 2] {
            let what = format!("{} {:?}, {n} hosts", case.0, case.1);
            let (mut coordinator, _) = federation(case, n);
            for (round, scores) in scores.iter().enumerate() {
                if round > 0 {
                    assert!(coordinator.run_round().unwrap().failed.is_empty());
                }
                let found = coordinator.evaluate_at_parties().unwrap().unwrap();
                assert_eq!(found, *scores, "{what}, round {round}");
            }
            coordinator.settle_parties().unwrap();
            let found = coordinator.evaluate_at_parties().unwrap().unwrap();
            assert_eq!(found, scores[scores.len() - 1], "{what}, settled");
            assert_eq!(parameters(&coordinator), parameters(&simulation), "{what}");
        }
    }
    assert!(personal > 8, "{personal}");
}

fn case(name: &str) -> &'static Case {
    CASES.iter().find(|case| case.0 == name).unwrap()
}

/// The coordinator may lose a round that it has not saved: until then the parties can go back.
#[test]
fn an_evaluation_keeps_no_round() {
    let case = case("fedrep");
    let mut simulation = alone(case);
    (0..3).for_each(|_| _ = simulation.run_round().unwrap());
    let (mut first, parties) = federation(case, 2);
    first.run_round().unwrap();
    let saved = first.save().unwrap();
    first.run_round().unwrap();
    first.evaluate_at_parties().unwrap();
    drop(first);
    // The clock that gives sessions has gone back.
    let second = alone(case).with_parties(Box::new(parties), 0);
    let mut second = second.unwrap();
    second.restore(&saved).unwrap();
    second.evaluate_at_parties().unwrap();
    (1..3).for_each(|_| assert!(second.run_round().unwrap().failed.is_empty()));
    assert_eq!(parameters(&second), parameters(&simulation));
    let found = second.evaluate_at_parties().unwrap().unwrap();
    assert_eq!(found, expected(&simulation));
}

/// A party that is away in a round, and one that is away in an evaluation.
#[test]
fn clients_of_absent_parties_are_left_out() {
    let case = case("fedrep");
    let hosts = || (0..SIZES.len()).map(|k| host(case, vec![k])).collect();
    let run = |trouble: Trouble, rounds: usize| {
        let parties = Box::new(Troubled::new(hosts(), trouble));
        let mut coordinator = alone(case).with_parties(parties, 1).unwrap();
        (0..rounds).for_each(|_| _ = coordinator.run_round().unwrap());
        let scores = coordinator.evaluate_at_parties().unwrap().unwrap();
        let why = coordinator.party_failures().last().cloned();
        (scores, why.map(|(_, why)| why.to_string()))
    };
    // Its second attempt to find anyone is the evaluation after round 1.
    let (whole, (found, _)) = (run(Trouble::None, 1).0, run(Trouble::Offline, 1));
    assert_eq!(found.missing, [1]);
    let others = |scores: &PartyScores| -> Vec<PartyScore> {
        let others = scores.clients.iter().filter(|score| score.client != 1);
        others.copied().collect()
    };
    assert_eq!(others(&found), others(&whole));
    // In round 2 its reply did not come: its model is that of round 1 with the server's new part.
    let (found, why) = run(Trouble::Expires(1), 2);
    assert!(why.unwrap().contains("deadline"));
    assert_eq!(found, run(Trouble::Offline, 2).0);
    assert!(found.missing.is_empty());
}

/// Rounds need everyone, and evaluations do not.
#[test]
fn an_evaluation_needs_no_number_of_clients() {
    let case = case("fedrep");
    let hosts = (0..SIZES.len()).map(|k| host(case, vec![k])).collect();
    let parties = Box::new(Troubled::new(hosts, Trouble::Offline));
    let faults = Faults {
        min_clients: SIZES.len(),
        ..Faults::default()
    };
    let coordinator = alone(case).with_faults(faults).unwrap();
    let mut coordinator = coordinator.with_parties(parties, 1).unwrap();
    assert!(!coordinator.run_round().unwrap().skipped);
    let scores = coordinator.evaluate_at_parties().unwrap().unwrap();
    assert_eq!(scores.missing, [1]);
}
