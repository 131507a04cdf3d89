use std::fs;

use fedround_algorithms::FedAvg;
use fedround_data::own::Normalize;
use fedround_data::partition::Partition;
use fedround_data::synth::SynthDigits;
use fedround_data::{DataSpec, Dataset, Examples, ReadOptions};

use super::*;
use crate::experiment::{Experiment, Settings};

fn data() -> Dataset {
    let digits = SynthDigits {
        train: 60,
        test: 10,
        ..SynthDigits::default()
    };
    digits.generate()
}

fn terms(settings: Settings, data: Dataset, own_data: bool) -> Terms {
    let experiment = Experiment::new(FedAvg::default())
        .model("logistic")
        .data(data);
    let run = experiment.settings(settings).prepare(1).unwrap();
    Terms::of(&run, own_data)
}

fn settings() -> Settings {
    Settings {
        clients: 3,
        partition: Partition::Iid,
        ..Settings::default()
    }
}

/// The table of a file with three columns, the last of which is the class. The second has these texts.
fn table(header: &str, texts: [&str; 2], normalize: Normalize) -> Dataset {
    let row = |i: usize| format!("{i},{},{}\n", texts[i % 2], ["no", "yes"][i / 2 % 2]);
    let rows: String = (0..40).map(row).collect();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("table.csv");
    fs::write(&path, format!("{header}\n{rows}")).unwrap();
    let spec: DataSpec = format!("csv:{}", path.display()).parse().unwrap();
    let reading = ReadOptions {
        target: Some("y".to_owned()),
        normalize,
        ..ReadOptions::default()
    };
    spec.reading(reading).read().unwrap()
}

/// What the operator of a party is told of a coordinator's terms; nothing if they are the same.
fn told(party: &Terms, coordinator: &Terms) -> String {
    let sent: Config = coordinator.settings().collect();
    let found = party.difference(&sent);
    found.map(Difference::in_full).unwrap_or_default()
}

#[test]
fn what_differs_is_named() {
    let coordinator = terms(settings(), data(), false);
    let difference =
        |settings: Settings, data: Dataset| told(&terms(settings, data, false), &coordinator);
    assert_eq!(difference(settings(), data()), "");
    let clients = Settings {
        clients: 4,
        ..settings()
    };
    let text = "this party has the number of clients 4, the coordinator has 3";
    assert_eq!(difference(clients, data()), text);
    let seed = Settings {
        seed: 9,
        ..settings()
    };
    assert!(difference(seed, data()).contains("the seed 9"));
    let dealt = Settings {
        partition_seed: Some(9),
        ..settings()
    };
    assert!(difference(dealt, data()).contains("the seed of the partition 9"));
    let mut renamed = data();
    renamed.class_names.swap(0, 1);
    assert!(difference(settings(), renamed).contains("another list of classes"));
    let mut other = data();
    other.name = "others".to_owned();
    assert!(difference(settings(), other.clone()).contains("another dataset"));
    // A dataset of its own may have any name.
    let own = terms(settings(), other, true);
    assert_eq!(told(&own, &coordinator), "");
    // Nor is anything of a coordinator's compared whose parties have datasets of their own, nor sent.
    let of_owners = terms(settings(), data(), true);
    assert_eq!(told(&own, &of_owners), "");
    let sent: Config = of_owners.settings().collect();
    for key in ["data", "partition", "examples", "tests", "scale"] {
        assert!(sent.get(key).is_none(), "{key}");
    }
    let text = told(&coordinator, &of_owners);
    assert!(text.contains("give --own-data to all"), "{text}");
    // A coordinator of an earlier version says nothing of it.
    assert_eq!(own.difference(&Config::default()), None);
    assert_eq!(own.population(), 3);
}

/// Also by parties with a dataset of their own: the coordinator's choices are made on what they hold back.
#[test]
fn the_share_for_validation_is_compared() {
    let of = |validation: Option<f64>, own_data: bool| {
        let settings = Settings {
            validation,
            ..settings()
        };
        terms(settings, data(), own_data)
    };
    for own_data in [false, true] {
        assert_eq!(
            told(&of(None, own_data), &of(Some(0.3), false)),
            "this party has the share of validation examples none, the coordinator has 0.3; give both the same --validation"
        );
        let text = told(&of(Some(0.25), own_data), &of(None, false));
        assert!(text.contains("0.25, the coordinator has none"), "{text}");
        assert_eq!(told(&of(Some(0.3), own_data), &of(Some(0.3), false)), "");
    }
}

#[test]
fn one_dataset_has_the_same_examples_everywhere() {
    let coordinator = terms(settings(), data(), false);
    let fewer = |examples: &Examples| {
        let all: Vec<usize> = (1..examples.len()).collect();
        examples.subset(&all)
    };
    let rescaled = |examples: &Examples| {
        let scale = Scale::normalised(&[0.4], &[0.2]);
        let x = examples.x().clone().with_scale(scale).unwrap();
        Examples::of_columns(vec![x], examples.labels()).unwrap()
    };
    let whole = data();
    let (train, test) = (fewer(&whole.train), fewer(&whole.test));
    let scaled = Dataset {
        train: rescaled(&whole.train),
        test: rescaled(&whole.test),
        ..whole.clone()
    };
    let trained = Dataset {
        train,
        ..whole.clone()
    };
    let tested = Dataset { test, ..whole };
    for (other, expected) in [
        (trained, "another set of training examples than"),
        (tested, "another set of test examples than"),
        (scaled, "this party has the scale of inputs 0.4,0.2, the"),
    ] {
        let text = told(&terms(settings(), other.clone(), false), &coordinator);
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("--normalize"), "{text}");
        // A party's own dataset has others anyway.
        assert_eq!(told(&terms(settings(), other, true), &coordinator), "");
    }
}

#[test]
fn numbers_of_a_table_are_scaled_alike() {
    let of = |normalize: Normalize| {
        let table = table("age,size,y", ["1", "2"], normalize);
        terms(settings(), table, false)
    };
    assert_eq!(told(&of(Normalize::Auto), &of(Normalize::Auto)), "");
    let text = told(&of(Normalize::None), &of(Normalize::Auto));
    let expected = "this party has another set of training examples than the coordinator";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn tables_have_the_same_columns_in_the_same_order() {
    let of = |header: &str, texts: [&str; 2], own_data: bool| {
        let table = table(header, texts, Normalize::Auto);
        terms(settings(), table, own_data)
    };
    let jobs = ["cook", "nurse"];
    let coordinator = of("age,job,y", jobs, false);
    assert_eq!(told(&of("age,job,y", jobs, true), &coordinator), "");
    // The same texts in other rows.
    let others = of("age,job,y", ["nurse", "cook"], true);
    assert_eq!(told(&others, &coordinator), "");

    let renamed = of("age,trade,y", jobs, true);
    assert_eq!(
        told(&renamed, &coordinator),
        "column 2 of those that are this party's inputs is not that of the coordinator: it has another name; all tables need the \
         same columns in the same order, and each of their texts in some row (column 2 is `trade` here)"
    );
    // The coordinator is not told the name.
    let sent: Config = coordinator.settings().collect();
    let found = renamed.difference(&sent).unwrap();
    assert!(!found.told.contains("trade"), "{}", found.told);

    let text = told(&of("age,job,y", ["cook", "clerk"], true), &coordinator);
    assert!(text.contains("it has other texts"), "{text}");
    let text = told(&of("age,job,y", ["1", "2"], true), &coordinator);
    assert!(text.contains("numbers on one side and texts"), "{text}");

    let numbers = of("age,size,y", ["1", "2"], false);
    let text = told(&of("size,age,y", ["1", "2"], true), &numbers);
    assert!(
        text.contains("column 1 of those that are this party's inputs"),
        "{text}"
    );
    assert!(text.contains("in another order"), "{text}");
}

#[test]
fn other_data_has_no_named_inputs() {
    let coordinator = terms(settings(), data(), false);
    assert!(coordinator.settings().all(|(key, _)| key != "inputs"));
}
