//! The baselines against PyTorch references that were written from the papers.
//!
//! Expected values, `tests/reference/trajectories.json`, are what `tests/reference/trajectories.py`
//! prints; it says how the clients and their examples are drawn, which is repeated here. Cohorts of
//! two of three clients tell means over the cohort from means over all, unequal clients FedNova's
//! weights from FedAvg's, and rounds after the first use SCAFFOLD's variates and MOON's last models.

use fedround::algorithms::registry;
use fedround::data::{Column, Examples};
use fedround::ir::fed::HyperValue;
use fedround::random::{StreamKey, uniform};
use fedround::simulation::{CohortBatch, Simulation};
use fedround::{BoxedAlgorithm, set};
use serde_json::Value;

use crate::common::{GREY, compile, dealt, distance, run, weights};

const SEED: u64 = 7;
const SIZES: [usize; 3] = [14, 23, 45];
const TEST: usize = 50;
const BATCH: usize = 10;
const TOLERANCE: f64 = 1e-4;

/// The clients' examples, one client after another, then the test examples.
fn examples() -> Examples {
    let total = SIZES.iter().sum::<usize>() + TEST;
    let x = uniform(total * 784, 1.0, StreamKey::root(SEED).with(100));
    let owners = SIZES.iter().enumerate();
    // A client's labels are four of the ten classes.
    let classes = owners.flat_map(|(k, size)| vec![(3 * k as u64, 4); *size]);
    let classes = classes.chain(vec![(0, 10); TEST]);
    let words = StreamKey::root(SEED).with(101).stream();
    let y = classes
        .zip(words)
        .map(|((first, n), word)| (first + (word >> 33) % n) % 10);
    let y: Vec<u16> = y.map(|y| y as u16).collect();
    Examples::of_columns(vec![Column::floats("x", [1, 28, 28], x).unwrap()], y).unwrap()
}

fn algorithm(case: &Value) -> BoxedAlgorithm {
    let mut algorithm = registry().parse(case["method"].as_str().unwrap()).unwrap();
    let cohort = case["cohort"].as_f64().unwrap();
    let mut given = vec![
        ("fraction", HyperValue::Float(cohort / SIZES.len() as f64)),
        (
            "epochs",
            HyperValue::Int(case["epochs"].as_u64().unwrap() as usize),
        ),
        ("batch", HyperValue::Int(BATCH)),
    ];
    let own = case["hyper"].as_object().unwrap().iter();
    given.extend(own.map(|(name, value)| (&**name, HyperValue::Float(value.as_f64().unwrap()))));
    for (name, value) in given {
        set(&mut *algorithm, name, value).unwrap();
    }
    algorithm
}

/// Four entries of a leaf, by their place in PyTorch's order, where the weight of a linear layer is
/// `[out, in]` and not `[in, out]`.
fn entries(shape: &[usize], values: &[f32]) -> [f64; 4] {
    [1, 2, 3, 4].map(|i| {
        let at = (7919 * i) % values.len();
        let at = match *shape {
            [d_in, d_out] => at % d_in * d_out + at / d_in,
            _ => at,
        };
        f64::from(values[at])
    })
}

/// A round's figures in the reference's order, each with its name.
fn figures(simulation: &Simulation, first: &[f32], test: &Examples) -> Vec<(String, f64)> {
    let moved = distance(&weights(simulation), first);
    let loss = simulation.evaluate(test).unwrap().loss;
    let mut figures = vec![
        ("norm".to_owned(), simulation.params_l2().unwrap()),
        ("moved".to_owned(), moved),
        ("test_loss".to_owned(), loss),
    ];
    for (name, ty, values) in simulation.parameters().unwrap() {
        let entries = entries(&ty.shape, &values);
        figures.extend(entries.map(|entry| (format!("an entry of {name}"), entry)));
    }
    figures
}

/// The same of the reference.
fn expected(round: &Value) -> Vec<f64> {
    let entries = round["entries"].as_array().unwrap();
    let figures = ["norm", "moved", "test_loss"].map(|name| &round[name]);
    let all = figures.into_iter().chain(entries);
    all.map(|figure| figure.as_f64().unwrap()).collect()
}

#[test]
fn trajectories_equal_the_pytorch_references() {
    let cases: Value =
        serde_json::from_str(include_str!("../reference/trajectories.json")).unwrap();
    let examples = examples();
    let mut start = 0;
    let parts = SIZES.map(|size| {
        start += size;
        Vec::from_iter(start - size..start)
    });
    let test = examples.subset(&Vec::from_iter(start..start + TEST));
    for case in cases.as_array().unwrap() {
        for group in [1, SIZES.len()] {
            let program = compile(&*algorithm(case), "2nn", GREY);
            let federation = dealt(&examples, parts.to_vec(), SEED);
            let mut simulation = federation
                .simulation(program, 2)
                .with_cohort_batch(CohortBatch::Clients(group));
            let first = weights(&simulation);
            for (t, round) in case["rounds"].as_array().unwrap().iter().enumerate() {
                run(&mut simulation, 1);
                let (found, expected) = (figures(&simulation, &first, &test), expected(round));
                assert_eq!(found.len(), expected.len());
                for ((name, found), expected) in found.into_iter().zip(expected) {
                    assert!(
                        (found - expected).abs() <= TOLERANCE,
                        "{}, {} clients a round, {group} in a graph, round {}: {name} is {found}, \
                         the reference has {expected}",
                        case["method"],
                        case["cohort"],
                        t + 1
                    );
                }
            }
        }
    }
}
