//! Oort: whom the server calls, by what it knows of their losses and durations.

use fedround::algorithms::{FedAvg, Oort};
use fedround::simulation::{CohortBatch, Distribution, Faults, Simulation};

use crate::common::{assert_close, bits, dealt, digits, run, simulation, weights};

const CLIENTS: usize = 6;

/// Steps on all examples of a client, so that their order does not matter.
fn base(lr: f32) -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 2,
        batch: 10,
        lr,
        ..FedAvg::default()
    }
}

/// A third of the clients a round, all of whom are called before any is called again.
fn oort(lr: f32) -> Oort {
    Oort {
        base: base(lr),
        share: 1.0 / 3.0,
        explore: 1.0,
        decay: 1.0,
        least: 0.0,
        staleness: 0.0,
        ..Oort::default()
    }
}

/// Clients with the same ten examples.
fn alike(algorithm: &Oort) -> Simulation {
    let data = digits(10, 1).train;
    let parts = vec![(0..10).collect(); CLIENTS];
    simulation(algorithm, "logistic", dealt(&data, parts, 3))
}

/// The rounds in which each client was called last.
fn last(simulation: &Simulation) -> Vec<f32> {
    let of = |k| simulation.server_state_for(k, "oort.last").unwrap();
    let each = (0..CLIENTS).map(|k| of(k).map_or(0.0, |leaves| leaves[0][0]));
    each.collect()
}

/// How often each client is called in the next rounds.
fn calls(simulation: &mut Simulation, rounds: usize) -> Vec<f64> {
    let mut calls = vec![0.0; CLIENTS];
    for _ in 0..rounds {
        run(simulation, 1);
        let round = simulation.round() as f32;
        for (count, last) in calls.iter_mut().zip(last(simulation)) {
            *count += f64::from(u8::from(last == round));
        }
    }
    calls
}

#[test]
fn everyone_is_called_before_anyone_is_called_again() {
    let mut simulation = alike(&oort(0.1));
    assert_eq!(calls(&mut simulation, 3), [1.0; CLIENTS]);
}

#[test]
fn clients_of_equal_utility_and_speed_are_drawn_uniformly() {
    // Without steps all losses stay equal.
    let mut simulation = alike(&oort(0.0));
    run(&mut simulation, 3);
    let calls = calls(&mut simulation, 240);
    assert_eq!(calls.iter().sum::<f64>(), 480.0);
    // Chi-squared of 5 degrees of freedom is above 20.5 once in a thousand times.
    let chi: f64 = calls.iter().map(|n| (n - 80.0).powi(2) / 80.0).sum();
    assert!(chi < 20.5, "{calls:?}");
}

/// One client a round, of a model that leans to class 0. Ten examples of that class have the squared losses 0.797², and
/// those of class 1, which the last client has, 2.797².
fn surprised(cutoff: f32) -> Simulation {
    let data = digits(300, 1).train;
    let of_class = |class: u16| {
        let own = (0..300).filter(|&i| data.labels()[i] == class);
        own.take(10).collect::<Vec<usize>>()
    };
    let mut parts = vec![of_class(0); CLIENTS];
    parts[CLIENTS - 1] = of_class(1);
    let oort = Oort {
        share: 1.0 / 6.0,
        cutoff,
        ..oort(0.0)
    };
    let mut simulation = simulation(&oort, "logistic", dealt(&data, parts, 3));
    let mut bias = vec![0.0; 10];
    bias[0] = 2.0;
    assert!(simulation.set_parameters(vec![vec![0.0; 7840], bias]));
    simulation
}

/// Clients are drawn in proportion to `|B_k| √(1/|B_k| Σ ℓ²)`, and not at all below the share `c` of the largest.
#[test]
fn clients_of_much_loss_are_called_more_often() {
    let share = |cutoff| {
        let mut simulation = surprised(cutoff);
        run(&mut simulation, CLIENTS);
        calls(&mut simulation, 200)[CLIENTS - 1] / 200.0
    };
    // The others have 0.285 of its utility.
    assert_eq!(share(0.3), 1.0);
    // 2.797 / (2.797 + 5 · 0.797), within five deviations.
    let found = share(0.25);
    assert!((found - 0.4125).abs() < 0.174, "{found}");
}

#[test]
fn with_a_large_bonus_who_waited_longest_is_called() {
    let waiting = Oort {
        share: 1.0 / 6.0,
        cutoff: 1.0,
        staleness: 1e6,
        ..oort(0.0)
    };
    let mut simulation = alike(&waiting);
    run(&mut simulation, CLIENTS);
    for _ in 0..12 {
        let mut expected = last(&simulation);
        run(&mut simulation, 1);
        let longest = expected.iter_mut().min_by(|a, b| a.total_cmp(b));
        *longest.unwrap() = simulation.round() as f32;
        assert_eq!(last(&simulation), expected);
    }
}

#[test]
fn slow_clients_are_called_less_often() {
    let slow = Faults {
        speed: Some(Distribution::Listed(vec![1.0, 1.0, 1.0, 1.0, 1.0, 1e-6])),
        ..Faults::default()
    };
    let oort = Oort {
        step: 1e-3,
        ..oort(0.0)
    };
    let mut simulation = alike(&oort).with_faults(slow).unwrap();
    run(&mut simulation, 3);
    let found = calls(&mut simulation, 40);
    // It is behind the cut.
    assert_eq!(found[5], 0.0, "{found:?}");
    assert!(found[..5].iter().all(|n| *n > 0.0), "{found:?}");
    // Without a penalty it is as likely as others.
    let fair = Oort {
        alpha: 0.0,
        ..oort.clone()
    };
    let slow = Faults {
        speed: Some(Distribution::Listed(vec![1.0, 1.0, 1.0, 1.0, 1.0, 1e-6])),
        ..Faults::default()
    };
    let mut simulation = alike(&fair).with_faults(slow).unwrap();
    run(&mut simulation, 3);
    assert!(calls(&mut simulation, 40)[5] > 0.0);
}

#[test]
fn with_everyone_called_it_is_fed_avg() {
    let all = Oort {
        share: 1.0,
        ..oort(0.1)
    };
    let mut oort = alike(&all);
    let data = digits(10, 1).train;
    let parts = vec![(0..10).collect(); CLIENTS];
    let mut plain = simulation(&base(0.1), "logistic", dealt(&data, parts, 3));
    run(&mut oort, 3);
    run(&mut plain, 3);
    assert_close(&weights(&oort), &weights(&plain), 1e-6);
}

#[test]
fn the_pacer_gives_more_time_once_utility_falls() {
    let paced = Oort {
        step: 2.0,
        window: 3,
        ..oort(0.1)
    };
    let mut simulation = alike(&paced);
    let limit = |simulation: &Simulation| simulation.server_state("oort.T").unwrap().unwrap()[0][0];
    run(&mut simulation, 5);
    assert_eq!(limit(&simulation), 2.0);
    // Losses fell from the first window to the second.
    run(&mut simulation, 1);
    assert_eq!(limit(&simulation), 4.0);
}

#[test]
fn a_run_goes_on_with_what_it_knows_and_groups_agree() {
    let mut whole = alike(&oort(0.1));
    run(&mut whole, 4);
    let saved = whole.save().unwrap();
    run(&mut whole, 3);
    let mut resumed = alike(&oort(0.1));
    resumed.restore(&saved).unwrap();
    run(&mut resumed, 3);
    assert_eq!(bits(&weights(&resumed)), bits(&weights(&whole)));
    assert_eq!(last(&resumed), last(&whole));
    let mut grouped = alike(&oort(0.1)).with_cohort_batch(CohortBatch::Clients(3));
    run(&mut grouped, 3);
    assert_eq!(last(&grouped).iter().filter(|t| **t > 0.0).count(), CLIENTS);
}
