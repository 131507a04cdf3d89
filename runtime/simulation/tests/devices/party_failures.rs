//! Parties that are offline, late, failing or wrong: the round is that of a cohort without them.

use fedround_exec::Device;
use fedround_simulation::parties::{Loopback, PartyHost};
use fedround_simulation::{CohortBatch, Faults, Simulation};

use crate::cases::{CASES, Case, SIZES};
use crate::troubled_parties::{Trouble, Troubled};

fn alone(case: &Case) -> Simulation {
    let simulation = case.simulation(Device::Cpu);
    simulation.with_cohort_batch(CohortBatch::Off)
}

/// One for each client.
fn hosts(case: &Case) -> Vec<PartyHost> {
    let host = |k| PartyHost::new(alone(case), vec![k]).unwrap();
    (0..SIZES.len()).map(host).collect()
}

fn case(name: &str) -> &'static Case {
    CASES.iter().find(|case| case.0 == name).unwrap()
}

/// Who failed or was late in round 2, who was not finite, why, and the parameters after three rounds, of which the last reads
/// the states of the second.
type Ended = ([Vec<usize>; 2], Vec<usize>, String, Vec<u32>);

fn run(case: &Case, trouble: Trouble) -> Ended {
    let parties = Troubled::new(hosts(case), trouble);
    let mut coordinator = alone(case).with_parties(Box::new(parties), 7).unwrap();
    coordinator.run_round().unwrap();
    let second = coordinator.run_round().unwrap();
    let why = coordinator.party_failures().iter();
    let why = why.map(|(_, why)| why.to_string()).collect();
    let third = coordinator.run_round().unwrap();
    assert!(third.failed.is_empty(), "{trouble:?}");
    let leaves = coordinator.parameters().unwrap().into_iter();
    let leaves = leaves.flat_map(|(_, _, values)| values).map(f32::to_bits);
    let missed = [second.failed, second.late];
    (missed, second.not_finite, why, leaves.collect())
}

#[test]
fn a_party_that_fails_is_as_one_that_is_offline() {
    // States of clients; a second exchange of values that were held, or that the server made for each client. In
    // the second exchange of `validated`, client 1 takes no part.
    let cases = [
        ("scaffold", 1),
        ("shared-head", 2),
        ("validated", 1),
        ("fedaa", 2),
    ];
    for (name, exchanges) in cases {
        let case = case(name);
        let offline = run(case, Trouble::Offline);
        assert_eq!(offline.0, [vec![1], vec![]], "{name}");
        let whole = run(case, Trouble::None);
        assert!(whole.0.concat().is_empty(), "{name}");
        assert_ne!(offline.3, whole.3, "{name}");
        assert_eq!(run(case, Trouble::Twice), whole, "{name}");
        for n in 1..=exchanges {
            let expired = run(case, Trouble::Expires(n));
            assert_eq!(expired.0, [vec![], vec![1]], "{name}, {n}");
            assert_eq!(expired.3, offline.3, "{name}, {n}");
            assert!(expired.2.contains("deadline"), "{}", expired.2);
            let unsent = run(case, Trouble::Unsent(n));
            assert_eq!(
                (&unsent.0, &unsent.3),
                (&offline.0, &offline.3),
                "{name}, {n}"
            );
        }
    }
}

#[test]
fn replies_that_are_not_the_regions_are_refused() {
    let case = case("fedavg");
    let offline = run(case, Trouble::Offline);
    for (trouble, why) in [
        (
            Trouble::Extra,
            "`client1/example`, which the region neither",
        ),
        (Trouble::Reshaped, "expected F32 of ["),
    ] {
        let found = run(case, trouble);
        assert_eq!(
            (&found.0, &found.3),
            (&offline.0, &offline.3),
            "{trouble:?}"
        );
        assert!(found.2.contains(why), "{}", found.2);
    }
    // What is not finite is found as in a simulation.
    let found = run(case, Trouble::NotFinite);
    assert_eq!((&found.1, &found.3), (&vec![1], &offline.3));
}

#[test]
fn a_round_with_too_few_parties_is_skipped() {
    let case = case("fedavg");
    for trouble in [Trouble::Offline, Trouble::Expires(1)] {
        let faults = Faults {
            min_clients: 3,
            ..Faults::default()
        };
        let parties = Box::new(Troubled::new(hosts(case), trouble));
        let coordinator = alone(case).with_faults(faults).unwrap();
        let mut coordinator = coordinator.with_parties(parties, 7).unwrap();
        coordinator.run_round().unwrap();
        let before = coordinator.parameters().unwrap();
        let stats = coordinator.run_round().unwrap();
        let missed = [stats.failed, stats.late].concat();
        assert!(stats.skipped && missed == [1], "{trouble:?}");
        assert_eq!(coordinator.parameters().unwrap(), before);
        assert!(!coordinator.run_round().unwrap().skipped);
    }
}

#[test]
fn parties_of_another_program_take_no_part() {
    let other = |name: &str| PartyHost::new(alone(case(name)), vec![0]).unwrap();
    let own = |k| PartyHost::new(alone(case("fedavg")), vec![k]).unwrap();
    let parties = Loopback::new(vec![other("fedprox"), own(1), own(2)]);
    let coordinator = alone(case("fedavg")).with_parties(Box::new(parties), 1);
    let mut coordinator = coordinator.unwrap();
    assert_eq!(coordinator.run_round().unwrap().failed, [0]);
    let [(clients, why)] = coordinator.party_failures() else {
        panic!("{:?}", coordinator.party_failures());
    };
    assert_eq!(*clients, [0]);
    assert!(
        why.to_string().contains("compile the same algorithm"),
        "{why}"
    );
}
