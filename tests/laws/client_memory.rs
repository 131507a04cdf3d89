//! Results do not depend on where clients' states are: in memory, or in a file.

use fedround::algorithms::{Adcol, FedAvg, FedRep, LgFedAvg, Moon, Scaffold};
use fedround::prelude::*;
use fedround::simulation::Simulation;

use crate::common::{bits, digits, federation, on_threads, weights};

const CLIENTS: usize = 6;

/// Parameters, losses and the clients' own models of some rounds.
type Found = (Vec<u32>, Vec<u64>, Vec<u32>);

fn found(algorithm: &dyn Algorithm, simulation: &mut Simulation) -> Found {
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
        assert!(all > 0, "{}", algorithm.name());
        // Nothing, and about two clients' states.
        for (budget, threads) in [(0, 1), (0, 2), (all / 3, 2)] {
            let mut bounded = of(threads).with_client_memory(budget);
            let found = found(algorithm, &mut bounded);
            assert!(found == expected, "{}: {budget}", algorithm.name());
            // Between rounds: the budget, and what the last round is writing.
            let now = bounded.client_memory().bytes;
            assert!(now <= budget + all, "{now} of {all}, {}", algorithm.name());
        }
    }
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
