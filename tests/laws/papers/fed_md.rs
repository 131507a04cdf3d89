//! Special cases of FedMD, and its bytes on the wire.

use fedround::algorithms::FedMd;

use super::*;

fn fed_md() -> FedMd {
    FedMd {
        base: full_batch(),
        share: 1.0,
        examples: 20,
        transfer: 0,
        digest: 2,
        rows: 20,
        public_lr: 0.02,
    }
}

/// The two clients have the same examples; others are public.
fn alike(algorithm: &dyn Algorithm) -> Simulation {
    let data = digits(80, 1).train;
    let own: Vec<usize> = (0..40).collect();
    let public: Vec<usize> = (40..80).collect();
    let deal = dealt(&data, vec![own.clone(), own], 7);
    simulation(algorithm, "logistic", deal).with_public(data.subset(&public))
}

fn own(simulation: &Simulation, client: usize, name: &str) -> Vec<f32> {
    simulation
        .client_state(client, name)
        .unwrap()
        .unwrap()
        .concat()
}

/// The name of the state that holds a client's model.
const MODEL: &str = "fedmd.own";

#[test]
fn with_clients_alike_the_consensus_is_their_own_and_digesting_changes_nothing() {
    let mut one = alike(&fed_md());
    let mut solo = alike(&Solo {
        epochs: 1,
        batch: 1000,
        lr: LR,
        ..Solo::default()
    });
    for _ in 0..3 {
        run(&mut one, 1);
        run(&mut solo, 1);
        for k in 0..2 {
            assert_close(&own(&one, k, MODEL), &own(&solo, k, "solo.own"), 1e-5);
        }
    }
}

#[test]
fn clients_that_differ_learn_from_the_consensus() {
    let apart = |digest: usize| {
        let md = FedMd { digest, ..fed_md() };
        let deal = of_sizes(&[40, 40, 40]);
        let public = digits(40, 1).train;
        let mut one = simulation(&md, "logistic", deal).with_public(public);
        run(&mut one, 4);
        farthest(&own(&one, 0, MODEL), &own(&one, 1, MODEL))
    };
    let (taught, alone) = (apart(20), apart(0));
    assert!(taught < 0.9 * alone, "{taught} {alone}");
}

#[test]
fn class_scores_cross_and_nothing_else() {
    let mut one = alike(&fed_md());
    let transfer = run(&mut one, 1);
    assert_eq!((transfer.bytes_up, transfer.bytes_down), (0, 0));
    let stats = run(&mut one, 1);
    // Of two clients: 20 rows of 10 scores each way.
    assert_eq!(
        (stats.bytes_up, stats.bytes_down),
        (2 * 20 * 10 * 4, 2 * 20 * 10 * 4)
    );
}
