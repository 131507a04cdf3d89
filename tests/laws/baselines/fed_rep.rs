//! FedRep: heads and bodies take turns.

use super::*;

/// FedRep of all clients, with two epochs of the head and one of the body.
fn rep(momentum: f32) -> FedRep {
    FedRep {
        fraction: 1.0,
        head_epochs: 2,
        epochs: 1,
        batch: 10,
        lr: LR,
        momentum,
        ..FedRep::default()
    }
}

#[test]
fn heads_and_bodies_take_turns() {
    let mut simulation = simulation(&rep(0.0), "2nn", even());
    let names: Vec<String> = simulation
        .parameters()
        .unwrap()
        .into_iter()
        .map(|(n, ..)| n)
        .collect();
    let before = leaves(&simulation);
    run(&mut simulation, 2);
    for ((name, old), new) in names.iter().zip(&before).zip(&leaves(&simulation)) {
        // The head on the server is the one that it began with.
        assert_eq!(old == new, name.starts_with("head"), "{name}");
    }
    let own = |k: usize| simulation.client_state(k, "fedrep.head").unwrap().unwrap();
    assert_ne!(own(0), own(1));
}

/// Nothing is left to share of a model that is a head alone.
#[test]
fn a_head_alone_trains_as_solo_does() {
    let solo = Solo {
        epochs: 2,
        batch: 10,
        lr: LR,
        momentum: 0.9,
        ..Solo::default()
    };
    let (mut rep, mut solo) = (
        simulation(&rep(0.9), "logistic", even()),
        simulation(&solo, "logistic", even()),
    );
    run(&mut rep, 2);
    run(&mut solo, 2);
    for k in 0..4 {
        let own = |simulation: &Simulation, name: &str| {
            simulation.client_state(k, name).unwrap().unwrap().concat()
        };
        assert_close(&own(&rep, "fedrep.head"), &own(&solo, "solo.own"), 1e-6);
    }
}

/// The head's running statistics are those of its own steps, however many the body takes.
#[test]
fn steps_of_the_body_leave_the_normalisation_of_the_predictor() {
    let own = |epochs: usize| {
        let rep = FedRep {
            epochs,
            part: FedRepPart::Predictor,
            ..rep(0.0)
        };
        let mut simulation = simulation(&rep, "adcol-digits", even());
        run(&mut simulation, 1);
        let names = simulation.parameters().unwrap().into_iter();
        let own = simulation.client_state(0, "fedrep.predictor").unwrap();
        let own = names.map(|(name, ..)| name).zip(own.unwrap());
        let own = own.filter(|(name, _)| name.starts_with("predictor."));
        own.collect::<Vec<_>>()
    };
    let (one, two) = (own(1), own(2));
    assert!(one.iter().any(|(name, _)| name.ends_with("running_var")));
    assert_eq!(one, two);
}
