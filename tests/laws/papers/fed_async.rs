//! Special cases of FedAsync, and the order in which updates arrive on the virtual clock.

use fedround::algorithms::{FedAsync, FedAsyncWeight};
use fedround::simulation::Faults;

use super::*;

fn fed_async(in_flight: usize, alpha: f32) -> FedAsync {
    FedAsync {
        base: full_batch(),
        in_flight,
        buffer: 1,
        alpha,
        weight: FedAsyncWeight::Polynomial,
        a: 0.5,
        b: 4.0,
    }
}

/// Speeds of the clients, in 10⁹ operations a second.
fn clock(simulation: Simulation, speeds: &str) -> Simulation {
    let faults = Faults {
        speed: Some(speeds.parse().unwrap()),
        ..Faults::default()
    };
    simulation.with_faults(faults).unwrap()
}

/// A client's update of some weights: a simulation of FedAvg with that client alone.
fn update(of: &Deal, client: usize, w: &[Vec<f32>]) -> Vec<f32> {
    let mut alone = of.clone();
    alone.dataset.client_indices = vec![of.dataset.client_indices[client].clone()];
    let mut simulation = simulation(&full_batch(), "logistic", alone);
    assert!(simulation.set_parameters(w.to_vec()));
    run(&mut simulation, 1);
    weights(&simulation)
}

/// The client among all whose update, mixed in with a weight, gives the weights found; none or several are
/// an error.
fn mixed_in(
    deal: &Deal,
    (w, began): (&[Vec<f32>], &[Vec<f32>]),
    alpha: f32,
    found: &[f32],
) -> usize {
    let clients = 0..deal.dataset.client_indices.len();
    let mut matching = clients.filter(|&k| {
        let mixed: Vec<f32> = w
            .concat()
            .iter()
            .zip(update(deal, k, began))
            .map(|(w, new)| (1.0 - alpha) * w + alpha * new)
            .collect();
        farthest(&mixed, found) < 1e-6
    });
    let client = matching.next().unwrap();
    assert_eq!(matching.next(), None);
    client
}

#[test]
fn one_client_at_a_time_is_sequential_mixing() {
    let deal = of_sizes(&[30, 20, 40]);
    let fed_async = fed_async(1, 0.6);
    let mut one = clock(
        simulation(&fed_async, "logistic", deal.clone()),
        "constant:1",
    );
    for _ in 0..4 {
        let before = leaves(&one);
        let stats = run(&mut one, 1);
        mixed_in(&deal, (&before, &before), 0.6, &weights(&one));
        let size = 4 * (784 * 10 + 10);
        assert_eq!((stats.bytes_down, stats.bytes_up), (size, size));
        assert!(stats.virtual_seconds.unwrap() > 0.0);
    }
}

#[test]
fn all_of_an_update_without_staleness_is_the_clients_model() {
    let deal = of_sizes(&[40]);
    let fed_async = fed_async(1, 1.0);
    let mut one = simulation(&fed_async, "logistic", deal.clone());
    let mut other = simulation(&full_batch(), "logistic", deal);
    run(&mut one, 3);
    run(&mut other, 3);
    assert_eq!(bits(&weights(&one)), bits(&weights(&other)));
}

/// With two clients of equal speed in flight, each trains on the model of the round before the other's.
#[test]
fn an_update_is_of_the_model_that_its_client_was_given() {
    for weight in [
        FedAsyncWeight::Constant,
        FedAsyncWeight::Polynomial,
        FedAsyncWeight::Hinge,
    ] {
        let s = |stale: i32| match weight {
            FedAsyncWeight::Constant => 1.0,
            FedAsyncWeight::Polynomial => (stale as f32 + 1.0).powf(-0.5),
            FedAsyncWeight::Hinge => 1.0 / (2.0 * (stale as f32 - 0.5).max(0.0) + 1.0),
        };
        let fed_async = FedAsync {
            weight,
            a: if weight == FedAsyncWeight::Hinge {
                2.0
            } else {
                0.5
            },
            b: 0.5,
            ..fed_async(2, 0.6)
        };
        let deal = of_sizes(&[30, 30]);
        let mut one = clock(
            simulation(&fed_async, "logistic", deal.clone()),
            "constant:1",
        );
        let mut models = vec![leaves(&one)];
        let mut arrived = vec![];
        for t in 0..4 {
            run(&mut one, 1);
            let (w, stale) = (&models[t], usize::from(t > 0));
            let alpha = 0.6 * s(stale as i32);
            let began = &models[t - stale];
            arrived.push(mixed_in(&deal, (w, began), alpha, &weights(&one)));
            models.push(leaves(&one));
        }
        // Of equal times, the one that began first; of those, the lower number.
        assert_eq!(arrived, [0, 1, 0, 1]);
    }
}

#[test]
fn fast_clients_arrive_more_often() {
    let deal = of_sizes(&[30, 30]);
    let of = || {
        let one = simulation(&fed_async(2, 0.6), "logistic", deal.clone());
        let speeds = fedround::simulation::Distribution::Listed(vec![1.0, 3.5]);
        let faults = Faults {
            speed: Some(speeds),
            ..Faults::default()
        };
        one.with_faults(faults).unwrap()
    };
    let mut one = of();
    let mut seconds = vec![];
    for _ in 0..4 {
        seconds.push(run(&mut one, 1).virtual_seconds.unwrap());
    }
    // The fast one takes 2/7 of the slow one's time: three of its updates arrive first.
    let unit = seconds[0];
    let expected = [1.0, 1.0, 1.0, 0.5].map(|share: f64| share * unit);
    for (found, expected) in seconds.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9 * unit, "{seconds:?}");
    }

    // A run that goes on has the same clients in flight, with the models that they were given.
    let mut first = of();
    run(&mut first, 2);
    let mut next = of();
    next.restore(&first.save().unwrap()).unwrap();
    let found: Vec<f64> = (0..2)
        .map(|_| run(&mut next, 1).virtual_seconds.unwrap())
        .collect();
    assert_eq!(found, seconds[2..]);
    assert_eq!(bits(&weights(&next)), bits(&weights(&one)));
}

#[test]
fn a_buffer_waits_for_several_updates_and_failures_are_replaced() {
    let deal = of_sizes(&[20, 20, 20, 20]);
    let all = FedAsync {
        buffer: 4,
        ..fed_async(4, 1.0)
    };
    // Nobody is stale: the mean of all, equally many examples each.
    let mut one = simulation(&all, "logistic", deal.clone());
    let mut other = simulation(&full_batch(), "logistic", deal.clone());
    run(&mut one, 3);
    run(&mut other, 3);
    assert_close(&weights(&one), &weights(&other), 1e-5);

    let faults = Faults {
        dropout: 0.4,
        speed: Some("lognormal:1:0.5".parse().unwrap()),
        ..Faults::default()
    };
    let one = simulation(&fed_async(2, 0.6), "logistic", deal);
    let mut one = one.with_faults(faults).unwrap();
    let (mut failed, mut trained) = (0, 0);
    for _ in 0..12 {
        let stats = run(&mut one, 1);
        failed += stats.failed.len();
        trained += usize::from(!stats.skipped);
    }
    assert!(failed > 2 && trained > 6, "{failed} {trained}");
}

#[test]
fn parties_are_not_asked_asynchronously() {
    use fedround::simulation::parties::Loopback;
    let one = simulation(&fed_async(2, 0.6), "logistic", of_sizes(&[20, 20]));
    let error = one
        .with_parties(Box::new(Loopback::new(vec![])), 1)
        .err()
        .unwrap();
    assert!(error.to_string().contains("virtual clock"), "{error}");
}
