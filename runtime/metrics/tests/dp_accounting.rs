//! The accountants against Google's dp-accounting: `tests/reference/dp_accounting_values.py`.

use fedround_metrics::accountant::{Sampling, Steps};
use fedround_metrics::passes::Passes;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    deltas: Vec<f64>,
    cases: Vec<Case>,
    trees: Vec<Tree>,
}

#[derive(Deserialize)]
struct Tree {
    noise: f64,
    length: u64,
    passes: u64,
    rdp: Vec<f64>,
}

#[derive(Deserialize)]
struct Case {
    sampling: String,
    rate: f64,
    noise: f64,
    count: u64,
    rdp: Vec<f64>,
    pld: Option<Vec<f64>>,
}

#[test]
fn epsilons_are_those_of_dp_accounting() {
    let text = include_str!("../../../tests/reference/dp_accounting.json");
    let golden: Golden = serde_json::from_str(text).unwrap();
    assert!(golden.cases.len() > 40);
    for case in &golden.cases {
        let steps = Steps {
            sampling: match case.sampling.as_str() {
                "poisson" => Sampling::Poisson,
                _ => Sampling::Fixed,
            },
            rate: case.rate,
            noise: case.noise,
            count: case.count,
        };
        for (i, &delta) in golden.deltas.iter().enumerate() {
            // The orders of the script.
            let last = match steps.sampling {
                Sampling::Poisson => 256,
                Sampling::Fixed => 64,
            };
            let (found, expected) = (steps.epsilon_of_orders(delta, last).unwrap(), case.rdp[i]);
            assert!(
                (found - expected).abs() < 1e-6 * expected.max(1.0),
                "Rényi, {steps:?}, {delta}: {found}, expected {expected}"
            );
            assert!(steps.epsilon(delta).unwrap() <= found);
            if let Some(pld) = &case.pld {
                let (found, expected) = (steps.epsilon_by_losses(delta).unwrap(), pld[i]);
                // Its grid of losses, of 10⁻³, is the coarser one, which only makes ε larger.
                assert!(
                    found <= expected * 1.002 + 1e-3 && found >= expected * 0.97 - 1e-3,
                    "losses, {steps:?}, {delta}: {found}, expected {expected}"
                );
            }
        }
    }
}

#[test]
fn epsilons_of_trees_are_those_of_dp_accounting() {
    let text = include_str!("../../../tests/reference/dp_accounting.json");
    let golden: Golden = serde_json::from_str(text).unwrap();
    assert!(golden.trees.len() >= 20);
    for case in &golden.trees {
        let (tree, rounds) = (true, case.length * case.passes);
        let passes = Passes {
            length: case.length,
            tree,
            noise: case.noise,
        };
        // Noise on what every step selects, in its place.
        let one = Steps {
            sampling: Sampling::Poisson,
            rate: 1.0,
            noise: passes.sigma(rounds),
            count: 1,
        };
        for (delta, expected) in golden.deltas.iter().zip(&case.rdp) {
            let found = one.epsilon_of_orders(*delta, 256).unwrap();
            let error = (found - expected).abs();
            assert!(
                error < 1e-6 * expected.max(1.0),
                "{passes:?}: {found}, expected {expected}"
            );
            // What is exact is less, and not much less.
            let exact = passes.epsilon(rounds, *delta).unwrap();
            assert!(
                exact < found && found < 1.2 * exact + 0.01,
                "{passes:?}: {exact} {found}"
            );
        }
    }
}
