//! A client that joins late: nothing knows of it before, and who trains is said after.

use fedround::algorithms::{FedAvg, Frozen, LgFedAvg, LgPart, LgTask, Scaffold, Validated};
use fedround::simulation::{LateClient, Simulation};

use crate::common::{Deal, bits, dealt, digits, leaves, run, simulation, trained, weights};

/// Parameters of the 2NN, and those of its head.
const ALL: u64 = 199_210;
const HEAD: u64 = 2_010;

fn base(fraction: f32) -> FedAvg {
    FedAvg {
        fraction,
        epochs: 1,
        batch: 10,
        lr: 0.1,
        ..FedAvg::default()
    }
}

/// Four clients of 20, and the last of 30 examples.
fn deal() -> Deal {
    let data = digits(110, 1).train;
    let part = |k: usize| (20 * k..if k == 4 { 110 } else { 20 * k + 20 }).collect();
    dealt(&data, (0..5).map(part).collect(), 7)
}

/// The same without the last.
fn old() -> Deal {
    let mut all = deal();
    all.dataset.client_indices.pop();
    all
}

fn joins(simulation: Simulation, after: usize, others: f64) -> Simulation {
    simulation
        .with_late_client(Some(LateClient { after, others }))
        .unwrap()
}

#[test]
fn before_it_joins_there_is_no_newcomer() {
    let scaffold = Scaffold {
        fraction: 0.5,
        ..Scaffold::default()
    };
    let mut one = joins(simulation(&scaffold, "logistic", deal()), 3, 0.0);
    let other = trained(&scaffold, "logistic", old(), 3);
    run(&mut one, 3);
    assert_eq!(bits(&weights(&one)), bits(&other));
    assert_eq!((one.clients(), one.late_client()), (4, Some(4)));
    // SCAFFOLD weighs by the number of clients, which is now another.
    run(&mut one, 1);
    assert_eq!(one.clients(), 5);
}

#[test]
fn it_trains_in_every_round_with_a_share_of_the_others() {
    for (others, beside) in [(0.0, 0), (0.1, 1), (0.5, 2), (1.0, 4)] {
        let mut simulation = joins(simulation(&base(0.5), "logistic", deal()), 1, others);
        // Two of four by the algorithm's own share, two batches each.
        assert_eq!(run(&mut simulation, 1).client_steps, 2 * 2);
        for _ in 0..3 {
            assert_eq!(run(&mut simulation, 1).client_steps, 3 + 2 * beside);
        }
    }
}

#[test]
fn it_joins_earlier_where_a_phase_ends_early() {
    let algorithm = LgFedAvg {
        base: base(0.5),
        warm_up: 5,
        global: LgPart::Head,
        task: LgTask::None,
        task_weight: 1.0,
    };
    let mut simulation = joins(simulation(&algorithm, "2nn", deal()), 5, 0.0);
    run(&mut simulation, 2);
    assert_eq!((simulation.clients(), simulation.end_phase()), (4, Some(3)));
    // Everyone, the newcomer too, gets the model.
    assert_eq!(run(&mut simulation, 1).bytes_down, 5 * 4 * ALL);
    assert_eq!(simulation.clients(), 5);
}

#[test]
fn it_is_in_cohorts_that_are_drawn_from_others() {
    let validated = Validated {
        base: base(1.0),
        validators: 2,
        share: 1.0,
        examples: 100,
    };
    let mut simulation = joins(simulation(&validated, "logistic", deal()), 1, 0.5);
    // The last two of four, then one of them and the newcomer.
    assert_eq!(run(&mut simulation, 1).client_steps, 2 + 2);
    assert_eq!(run(&mut simulation, 1).client_steps, 2 + 3);
}

#[test]
fn lg_fed_avg_leaves_the_old_devices_what_is_theirs() {
    let algorithm = LgFedAvg {
        base: Frozen {
            base: base(0.5),
            frozen: 2,
            part: LgPart::Head,
        },
        warm_up: 2,
        global: LgPart::Head,
        task: LgTask::None,
        task_weight: 1.0,
    };
    let mut simulation = joins(simulation(&algorithm, "2nn", deal()), 2, 0.0);
    let own = |simulation: &Simulation| -> Vec<_> {
        let kept = (0..5).map(|k| simulation.client_state(k, "lg-fedavg.features").unwrap());
        kept.collect()
    };
    run(&mut simulation, 2);
    let warm = leaves(&simulation);
    assert!(own(&simulation).iter().all(Option::is_none));
    // Everyone, the newcomer too, gets the model.
    let stats = run(&mut simulation, 1);
    assert_eq!((stats.bytes_down, stats.bytes_up), (5 * 4 * ALL, 0));
    let handed = own(&simulation);
    assert!(handed.iter().all(|own| own.as_ref() == Some(&warm)));
    // The newcomer alone learns its representation under the head, which does not go up.
    let stats = run(&mut simulation, 2);
    assert_eq!((stats.client_steps, stats.bytes_down), (3, 4 * HEAD));
    assert_eq!(stats.bytes_up, 4);
    assert_eq!(leaves(&simulation), warm);
    let learned = own(&simulation);
    assert_eq!(learned[..4], handed[..4]);
    let (new, old) = (learned[4].as_ref().unwrap(), &warm);
    let changed: Vec<bool> = new.iter().zip(old).map(|(a, b)| a != b).collect();
    // Two layers of features and a head, each of weights and a bias.
    assert_eq!(changed, [true, true, true, true, false, false]);
    // Then the head is tuned with it, and the others' representations stay.
    let stats = run(&mut simulation, 3);
    assert_eq!(stats.bytes_up, 4 * HEAD + 4);
    let tuned = own(&simulation);
    assert_eq!(tuned[..4], handed[..4]);
    assert_ne!(tuned[4], learned[4]);
    let after = leaves(&simulation);
    assert_eq!(after[..4], warm[..4]);
    assert_ne!(after[4..], warm[4..]);
}

#[test]
fn it_needs_others_to_come_to() {
    let mut one = deal();
    one.dataset.client_indices.truncate(1);
    let one = simulation(&base(1.0), "logistic", one);
    let newcomer = LateClient {
        after: 1,
        others: 0.0,
    };
    let error = one.with_late_client(Some(newcomer)).err().unwrap();
    assert_eq!(
        error.to_string(),
        "a late client needs at least one other client; found 1 in all"
    );
}
