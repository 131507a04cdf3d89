//! What holds for every bundled method that tries the language: groups of clients compute what each computes
//! alone, and a run that is saved and restored goes on with the same bits.

use fedround::algorithms::registry;
use fedround::prelude::*;
use fedround::simulation::{CohortBatch, Simulation};

use crate::common::{assert_close, bits, dealt, digits, on_threads, run, weights};

const METHODS: [&str; 12] = [
    "agnostic",
    "hypcluster",
    "oort",
    "fedasync",
    "ef21",
    "mimelite",
    "fedmd",
    "krum",
    "median",
    "trimmed-mean",
    "adaptive-clip",
    "push-sum",
];

const CLIENTS: usize = 30;

/// Clients of two to six examples, a few of whom are in a cohort.
fn of(algorithm: &dyn Algorithm) -> Simulation {
    let mut end = 0;
    let mut part = |k: usize| {
        end += 2 + k % 5;
        (end - 2 - k % 5..end).collect()
    };
    let parts = (0..CLIENTS).map(&mut part).collect();
    let data = digits(4 * CLIENTS, 8).train;
    on_threads(algorithm, "logistic", dealt(&data, parts, 3), 2).with_public(data)
}

/// What clients have of their own, by name and client; zeros where a client has nothing yet.
fn kept(simulation: &Simulation) -> Vec<Vec<f32>> {
    let names = ["push-sum.x", "fedmd.own", "hypcluster.chosen", "ef21.g_k"];
    let all = (0..CLIENTS).flat_map(|k| names.map(|name| (k, name)));
    let all = all.map(|(k, name)| simulation.client_state(k, name).ok().flatten());
    all.map(|state| state.unwrap_or_default().concat())
        .collect()
}

#[test]
fn groups_compute_what_each_client_computes_alone() {
    for name in METHODS {
        let algorithm = registry().parse(name).unwrap();
        let mut alone = of(&*algorithm);
        let mut grouped = of(&*algorithm).with_cohort_batch(CohortBatch::Clients(3));
        let (a, b) = (run(&mut alone, 3), run(&mut grouped, 3));
        assert_eq!(a.client_steps, b.client_steps, "{name}");
        assert!((a.train_loss - b.train_loss).abs() < 1e-5, "{name}");
        assert_close(&weights(&grouped), &weights(&alone), 1e-5);
        for (grouped, alone) in kept(&grouped).iter().zip(kept(&alone)) {
            assert_close(grouped, &alone, 1e-5);
        }
    }
}

#[test]
fn a_run_that_is_restored_goes_on_with_the_same_bits() {
    let mut with_states = 0;
    for name in METHODS {
        let algorithm = registry().parse(name).unwrap();
        let mut whole = of(&*algorithm);
        run(&mut whole, 2);
        let saved = whole.save().unwrap();
        run(&mut whole, 2);
        let mut resumed = of(&*algorithm);
        resumed.restore(&saved).unwrap();
        run(&mut resumed, 2);
        assert_eq!(bits(&weights(&resumed)), bits(&weights(&whole)), "{name}");
        let (found, expected) = (kept(&resumed).concat(), kept(&whole).concat());
        assert_eq!(bits(&found), bits(&expected), "{name}");
        with_states += usize::from(!expected.is_empty());
    }
    assert!(with_states >= 4, "{with_states}");
}
