//! Results do not depend on where clients' states are: in memory, or in a file.

use fedround::Experiment;
use fedround::algorithms::{Adcol, FedAvg, FedRep, LgFedAvg, Moon, Scaffold, Solo};
use fedround::experiment::ClientModels;
use fedround::prelude::*;
use fedround::simulation::{ByteSize, CohortBatch, PersonalModels, RunError, Simulation};

use crate::common::{bits, dealt, digits, federation, on_threads, weights};

const CLIENTS: usize = 6;

/// Parameters, losses and the clients' own models of some rounds.
type Trained = (Vec<u32>, Vec<u64>, Vec<u32>);

fn found(algorithm: &dyn Algorithm, simulation: &mut Simulation) -> Trained {
    let losses = (0..4).map(|_| simulation.run_round().unwrap().train_loss.to_bits());
    let losses = losses.collect();
    let mut own = vec![];
    if let Some(models) = simulation.personal_models().unwrap() {
        for k in 0..CLIENTS {
            let model = simulation.personal_parameters(&models, k).unwrap();
            let values = model.unwrap().into_iter().map(|(_, _, values)| values);
            own.extend(values.flat_map(|values| bits(&values)));
        }
    }
    assert!(algorithm.name() == "scaffold" || algorithm.name() == "moon" || !own.is_empty());
    (bits(&weights(simulation)), losses, own)
}

fn base() -> FedAvg {
    FedAvg {
        fraction: 0.5,
        ..FedAvg::default()
    }
}

#[test]
fn results_are_the_same_with_any_memory() {
    let data = digits(90, 10);
    let scaffold = Scaffold {
        fraction: 0.5,
        ..Scaffold::default()
    };
    let fed_rep = FedRep {
        fraction: 0.5,
        head_epochs: 1,
        ..FedRep::default()
    };
    let lg_fed_avg = LgFedAvg {
        base: base(),
        ..LgFedAvg::default()
    };
    let moon = Moon {
        base: base(),
        ..Moon::default()
    };
    let adcol = Adcol {
        base: base(),
        share: 0.5,
        ..Adcol::default()
    };
    let algorithms: [&dyn Algorithm; 5] = [&scaffold, &fed_rep, &lg_fed_avg, &moon, &adcol];
    for algorithm in algorithms {
        let of = |threads: usize| {
            let deal = federation(&data.train, "shards:2", CLIENTS, 5);
            let simulation = on_threads(algorithm, "2nn", deal, threads);
            simulation.with_personal(algorithm).unwrap()
        };
        let mut unbounded = of(2);
        let expected = found(algorithm, &mut unbounded);
        let all = unbounded.client_memory().bytes;
        let mut first = of(2);
        first.run_round().unwrap();
        let of_a_cohort = first.client_memory().bytes;
        assert!(of_a_cohort > 0, "{}", algorithm.name());
        // Nothing, and about two clients' states.
        for (budget, threads) in [(0, 1), (0, 2), (all / 3, 2)] {
            let mut bounded = of(threads).with_client_memory(budget);
            let found = found(algorithm, &mut bounded);
            assert!(found == expected, "{}: {budget}", algorithm.name());
            // Between rounds: the budget, and what the last round is writing.
            let now = bounded.client_memory().bytes;
            let bound = budget + of_a_cohort;
            assert!(bound < all, "{bound} of {all}, {}", algorithm.name());
            assert!(now <= bound, "{now} of {bound}, {}", algorithm.name());
        }
    }
}

/// A run may name the file of its states at any time, and go on from it.
#[test]
fn states_move_to_a_file_that_is_named_later() {
    let dir = tempfile::tempdir().unwrap();
    let prepare = || {
        let experiment = Experiment::new(Scaffold::default()).model("logistic");
        let experiment = experiment.data(digits(90, 10)).clients(CLIENTS).threads(1);
        experiment.client_memory(ByteSize(0)).prepare(4).unwrap()
    };
    let expected = prepare().train(&mut ()).unwrap();
    let mut run = prepare();
    for name in ["first", "second"] {
        run.step(&mut ()).unwrap();
        run.set_client_store(dir.path().join(name)).unwrap();
        run.save().unwrap();
    }
    run.step(&mut ()).unwrap();
    let saved = run.save().unwrap();
    drop(run);
    let mut run = prepare();
    let error = run.restore(&saved).unwrap_err().to_string();
    assert_eq!(
        error,
        "the checkpoint of round 3 has the states of clients in a file of their own; \
         name that file by `set_client_store` before `restore`"
    );
    run.set_client_store(dir.path().join("second")).unwrap();
    run.restore(&saved).unwrap();
    let found = run.train(&mut ()).unwrap();
    assert_eq!(found.rounds(), 4);
    assert!(found.parameters == expected.parameters, "other bits");
}

#[test]
fn memory_does_not_grow_with_the_number_of_clients() {
    let data = digits(60, 10);
    let most = |clients: usize| {
        let scaffold = Scaffold {
            fraction: 3.0 / clients as f32,
            ..Scaffold::default()
        };
        let deal = federation(&data.train, "shared:5", clients, 5);
        let mut simulation = on_threads(&scaffold, "logistic", deal, 2).with_client_memory(100_000);
        let mut steps = 0;
        for _ in 0..40 {
            steps += simulation.run_round().unwrap().client_steps;
        }
        assert_eq!(steps, 120);
        simulation.client_memory().most
    };
    // 31,400 bytes each.
    let bound = 100_000 + 3 * 3 * 31_400;
    assert!(most(10_000) <= bound);
    assert!(most(30) <= bound);
}

fn solo() -> Solo {
    Solo {
        epochs: 1,
        batch: 5,
        ..Solo::default()
    }
}

/// A client's model, bit for bit.
fn own(simulation: &Simulation, models: &PersonalModels, client: usize) -> Vec<u32> {
    let model = simulation.personal_parameters(models, client).unwrap();
    let values = model.unwrap().into_iter().flat_map(|(.., values)| values);
    bits(&values.collect::<Vec<_>>())
}

#[test]
fn personal_models_are_the_same_a_few_at_a_time() {
    let data = digits(90, 10);
    for (threads, group) in [(1, 1), (2, 1), (2, 5)] {
        // Of unlike sizes, by which groups are made.
        let part = |k: usize| (2 * k..2 * k + 1 + k % 4).collect();
        let deal = dealt(&data.train, (0..40).map(part).collect(), 5);
        let mut simulation = on_threads(&solo(), "logistic", deal, threads)
            .with_personal(&solo())
            .unwrap()
            .with_cohort_batch(CohortBatch::Clients(group));
        simulation.run_round().unwrap();
        let mut found = vec![None; 40];
        let mut blocks = vec![];
        let visit = |models: &PersonalModels| {
            blocks.push(models.clients().count());
            for k in models.clients() {
                assert!(found[k].is_none(), "{k} twice");
                found[k] = Some(own(&simulation, models, k));
            }
            Ok::<_, RunError>(())
        };
        simulation.visit_personal_models(visit).unwrap();
        assert!(
            blocks.len() > 2 && blocks.iter().all(|n| *n <= 10),
            "{blocks:?}"
        );
        assert!(simulation.most_personal_models() <= 10);
        let all = simulation.personal_models().unwrap().unwrap();
        for (k, found) in found.into_iter().enumerate() {
            assert!(
                found == Some(own(&simulation, &all, k)),
                "{k}, groups of {group}"
            );
        }
        assert_eq!(simulation.most_personal_models(), 40);
    }
}

/// Of everything that a run does with them: tests, validation, and the models that it leaves.
#[test]
fn a_run_has_few_personal_models_at_once_however_many_clients_there_are() {
    for clients in [30, 300] {
        let experiment = Experiment::new(solo())
            .model("logistic")
            .data("synth-digits")
            .clients(clients)
            .partition("shared:5".parse().unwrap())
            .validation(0.2)
            .threads(2);
        let mut run = experiment.prepare(1).unwrap();
        let report = run.train(&mut ()).unwrap();
        assert!(report.scores.unwrap().personal);
        let models = ClientModels::of(run.simulation()).unwrap().unwrap();
        let mut own = 0;
        let count = |_, _| {
            own += 1;
            Ok::<_, RunError>(())
        };
        models.each(count).unwrap();
        assert_eq!(own, clients);
        assert!(run.simulation().most_personal_models() <= 10);
    }
}
