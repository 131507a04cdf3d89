//! Every hyper-parameter of a bundled algorithm changes its program.

use std::collections::BTreeSet;

use fedround::algorithms::registry;
use fedround::ir::fed::{HyperValue, print_exact};
use fedround::passes::fed::link;
use fedround::{Entry, Field};

/// Hyper-parameters that nothing reads with the defaults of the others, and a setting with which they are read.
const ONLY_WITH: [(&str, &str, (&str, &str)); 12] = [
    // Laplace noise alone is given by its ε.
    ("adcol", "epsilon", ("noise", "laplace")),
    // Each codec has a size of its own.
    ("compressed", "bits", ("codec", "quantize")),
    ("compressed", "rank", ("codec", "low-rank")),
    // There are no epochs and no steps of the adversary alone.
    ("fair", "ahead_batch", ("ahead", "1")),
    ("fair", "ahead_lr", ("ahead", "1")),
    // Weights of a power have no bound from which on they fall.
    ("fedasync", "b", ("weight", "hinge")),
    ("fixed-parties", "epsilon", ("noise", "laplace")),
    // There is no local task.
    ("lg-fedavg", "task_weight", ("task", "supervised")),
    // A fixed rule learns no gates.
    ("partialfed", "gate_batch", ("adaptive", "true")),
    ("partialfed", "gate_lr", ("adaptive", "true")),
    ("partialfed", "tau", ("adaptive", "true")),
    // Other graphs have the degree of their kind.
    ("push-sum", "degree", ("topology", "regular")),
];

/// The linked programs of all phases under some settings, with the values of the hyper-parameters that they read.
fn program(entry: &Entry, settings: &[(&str, HyperValue)]) -> String {
    let mut algorithm = registry().parse(entry.name).unwrap();
    for (name, value) in settings {
        fedround::set(&mut *algorithm, name, value.clone()).unwrap();
    }
    let phases = fedround_dsl::phases(&*algorithm).unwrap();
    let texts = phases.into_iter().map(|phase| {
        let linked = link(phase.module).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        let module = print_exact(&linked.module);
        format!("{:?}, {:?} rounds\n{module}", phase.name, phase.rounds)
    });
    texts.collect()
}

/// Values that differ from the default: all other words, or another number.
fn others(field: &Field) -> Vec<HyperValue> {
    match HyperValue::from(field.default) {
        HyperValue::Float(0.25) => vec![HyperValue::Float(0.75)],
        HyperValue::Float(_) => vec![HyperValue::Float(0.25)],
        HyperValue::Int(n) => match field.check(HyperValue::Int(n + 1)) {
            Ok(more) => vec![more],
            Err(_) => vec![HyperValue::Int(n - 1)],
        },
        HyperValue::Bool(b) => vec![HyperValue::Bool(!b)],
        HyperValue::Text(default) => {
            let words = field.choices.iter().filter(|word| **word != default);
            words
                .map(|word| HyperValue::Text((*word).to_owned()))
                .collect()
        }
    }
}

/// Whether each value of a hyper-parameter gives a program of its own, under a setting of another one.
fn is_read(entry: &Entry, field: &Field, with: Option<(&str, &str)>) -> bool {
    let with = with.map(|(name, text)| {
        let field = entry.fields.iter().find(|field| field.name == name);
        (name, field.unwrap().parse(text).unwrap())
    });
    let others = others(field);
    let values = std::iter::once(HyperValue::from(field.default)).chain(others.clone());
    let programs = values.map(|value| {
        let settings = with.clone().into_iter().chain([(field.name, value)]);
        program(entry, &settings.collect::<Vec<_>>())
    });
    !others.is_empty() && programs.collect::<BTreeSet<String>>().len() == 1 + others.len()
}

#[test]
fn every_hyper_parameter_is_read() {
    let registry = registry();
    let mut unread = vec![];
    for entry in registry.entries() {
        for field in entry.fields {
            if !is_read(entry, field, None) {
                unread.push((entry.name, field.name));
            }
        }
    }
    unread.sort_unstable();
    assert_eq!(unread, ONLY_WITH.map(|(name, field, _)| (name, field)));
    for (name, field, with) in ONLY_WITH {
        let entry = registry.entry(name).unwrap();
        let declared = entry.fields.iter().find(|known| known.name == field);
        let read = is_read(entry, declared.unwrap(), Some(with));
        assert!(read, "{name}: {field} with {with:?}");
    }
}
