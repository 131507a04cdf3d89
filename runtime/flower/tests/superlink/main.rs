//! Parties and coordinators on a real SuperLink of Flower 1.41.0, on this machine alone.
//!
//! The variable `FEDROUND_FLWR` names the folder with Flower's programs, such as `/tmp/flwr/bin`
//! after `python3 -m venv /tmp/flwr && /tmp/flwr/bin/pip install flwr==1.41.0`. Without it, the
//! tests say that they did not run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

mod churn;
mod cost;
mod descriptors;
mod mixed;
mod parties;
mod restart;
mod rounds;
mod secure;
mod server;

use server::{SuperLink, flower};

/// A test that shares its SuperLink with the others.
type Scenario = (&'static str, fn(&SuperLink));

const SCENARIOS: &[Scenario] = &[
    (
        "two parties train",
        rounds::two_parties_train_for_three_rounds,
    ),
    ("failures", rounds::failures_of_parties_have_types),
    ("dead party", churn::a_party_that_dies_is_offline),
    ("killed party", churn::a_killed_party_comes_back_at_once),
    ("lost state", churn::a_killed_party_without_its_state_waits),
    ("linger", churn::a_party_lingers_until_its_reply_was_pulled),
    ("interval", churn::intervals_that_flower_refuses_are_named),
    (
        "coordinator",
        restart::another_process_of_the_coordinator_goes_on,
    ),
    (
        "supernode",
        mixed::a_supernode_of_flower_answers_our_coordinator,
    ),
    (
        "online elsewhere",
        churn::a_key_that_is_online_elsewhere_is_refused,
    ),
    (
        "stopped run",
        restart::a_run_that_the_operator_stops_is_lost,
    ),
];

#[test]
fn scenarios_on_one_superlink() {
    let Some(programs) = flower() else { return };
    let server = SuperLink::open(&programs);
    let failed: Vec<_> = std::thread::scope(|scope| {
        let threads = SCENARIOS.iter().map(|(name, scenario)| {
            let server = &server;
            let thread = std::thread::Builder::new().name((*name).to_owned());
            let run = move || {
                let start = std::time::Instant::now();
                scenario(server);
                eprintln!("{name}: {:.1} s", start.elapsed().as_secs_f64());
            };
            (*name, thread.spawn_scoped(scope, run).unwrap())
        });
        let threads: Vec<_> = threads.collect();
        let failed = threads
            .into_iter()
            .filter_map(|(name, thread)| thread.join().is_err().then_some(name));
        failed.collect()
    });
    assert!(failed.is_empty(), "scenarios that failed: {failed:?}");
    // Runs must wait for each other here, and for no others.
    restart::a_coordinator_waits_for_older_runs(&server);
}
