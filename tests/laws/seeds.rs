//! Results depend on the seed, and not on threads, timing or the order of calls.

use fedround::algorithms::{FedAvg, FedProx};
use fedround::simulation::RoundStats;

use crate::common::{assert_close, bits, dealt, digits, federation, on_threads, run};
use crate::common::{trained, weights};

fn algorithm() -> FedProx {
    let base = FedAvg {
        fraction: 0.5,
        epochs: 2,
        batch: 8,
        lr: 0.1,
        ..FedAvg::default()
    };
    FedProx { base, mu: 0.1 }
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let data = digits(300, 60);
    for model in ["logistic", "2nn", "lenet5"] {
        let outcome = |threads: usize| {
            let federation = federation(&data.train, "dirichlet:0.5", 8, 5);
            let mut simulation = on_threads(&algorithm(), model, federation, threads);
            let stats: Vec<RoundStats> = (0..3).map(|_| run(&mut simulation, 1)).collect();
            (
                bits(&weights(&simulation)),
                stats,
                simulation.evaluate(&data.test).unwrap(),
            )
        };
        let first = outcome(1);
        assert_eq!(first, outcome(1), "{model}, again");
        assert_eq!(first, outcome(2), "{model}, 2 threads");
        assert_eq!(
            first,
            outcome(5),
            "{model}, more threads than clients of a round"
        );
    }
}

#[test]
fn another_seed_gives_another_run() {
    let data = digits(200, 10).train;
    let after = |seed: u64| {
        trained(
            &algorithm(),
            "logistic",
            federation(&data, "iid", 8, seed),
            2,
        )
    };
    assert_ne!(bits(&after(1)), bits(&after(2)));
}

#[test]
fn clients_with_the_same_examples_are_one_client() {
    // Full batches: the order of examples moves the last bit of a sum, no more.
    let data = digits(30, 10).train;
    let all: Vec<usize> = (0..30).collect();
    let base = FedAvg {
        fraction: 1.0,
        epochs: 3,
        batch: 30,
        lr: 0.2,
        ..FedAvg::default()
    };
    let after =
        |clients: usize| trained(&base, "2nn", dealt(&data, vec![all.clone(); clients], 5), 2);
    let alone = after(1);
    assert_close(&after(2), &alone, 1e-5);
    assert_close(&after(7), &alone, 1e-5);
}

#[test]
fn identical_updates_average_to_themselves() {
    // One example each: nothing is summed in another order, and quarters are exact.
    let data = digits(10, 10).train;
    let base = FedAvg {
        fraction: 1.0,
        epochs: 3,
        batch: 1,
        lr: 0.2,
        ..FedAvg::default()
    };
    let after = |clients: usize| {
        bits(&trained(
            &base,
            "2nn",
            dealt(&data, vec![vec![4]; clients], 5),
            2,
        ))
    };
    assert_eq!(after(1), after(4));
}

#[test]
fn bytes_are_those_of_the_wire() {
    let data = digits(80, 10).train;
    let mut simulation = on_threads(&algorithm(), "logistic", federation(&data, "iid", 8, 5), 1);
    let stats = run(&mut simulation, 1);
    // Half of 8 clients; 7850 parameters down, the same and the weight up.
    assert_eq!(stats.bytes_down, 4 * 4 * 7850);
    assert_eq!(stats.bytes_up, 4 * (4 * 7850 + 4));
}
