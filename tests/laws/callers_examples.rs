//! Examples and settings that a program makes itself have the rules of those that are read from files and texts.

use fedround::Experiment;
use fedround::algorithms::{FedAvg, Scaffold};
use fedround::data::augment::Transform;
use fedround::data::partition::{Rotation, Split};
use fedround::data::{Augment, Column, Dataset, Examples, Partition, Scale};
use fedround::experiment::{Keep, Run};
use fedround::models::{LowRank, Train};
use fedround::simulation::{ByteSize, Distribution, Faults, LateClient};

/// Texts of three characters, of four that there are.
fn texts(ids: &[i32]) -> Examples {
    let (x, n) = (vec![0.0; ids.len() / 3], ids.len() / 3);
    let x = Column::floats("x", [1], x).unwrap();
    let tokens = Column::ids("tokens", [3], ids.to_vec()).unwrap();
    Examples::of_columns(vec![x, tokens], vec![1_u16; n]).unwrap()
}

/// Images of four pixels.
fn images(labels: &[u16]) -> Examples {
    let bytes = (0..4 * labels.len()).map(|i| (i * 37 % 101) as u8);
    Examples::new([1, 2, 2], bytes.collect(), labels, Scale::Unit).unwrap()
}

fn of(train: Examples, test: Examples, model: &'static str) -> Experiment {
    let data = Dataset::new("mine", train, test, ["a", "b", "c", "d"]);
    let experiment = Experiment::new(FedAvg::default()).model(model).data(data);
    experiment.clients(2).partition(Partition::Iid).threads(1)
}

fn data() -> Dataset {
    let labels: Vec<u16> = (0..20).map(|i| i % 4).collect();
    Dataset::new(
        "mine",
        images(&labels),
        images(&labels[..8]),
        ["a", "b", "c", "d"],
    )
}

fn of_images() -> Experiment {
    let Dataset { train, test, .. } = data();
    of(train, test, "logistic")
}

fn error(experiment: Experiment) -> String {
    experiment.prepare(1).err().unwrap().to_string()
}

#[test]
fn tokens_are_those_that_a_model_has_vectors_for() {
    let good = || texts(&[0, 1, 2, 3, 0, 1]);
    for model in ["char-lstm", "gpt:1x32"] {
        for wrong in [-1, 4, i32::MAX] {
            let wrong_one = || texts(&[0, 1, 2, 3, wrong, 0]);
            let expected = |part: &str| {
                format!(
                    "`tokens` of {part}: example 1 has the id {wrong}, and model `{model}` has ids from 0 to 3, \
                     one for each class of the data"
                )
            };
            let text = error(of(wrong_one(), good(), model));
            assert_eq!(text, expected("training examples"));
            let text = error(of(good(), wrong_one(), model));
            assert_eq!(text, expected("test examples"));
            let text = error(of(good(), good(), model).public_examples(wrong_one()));
            assert_eq!(text, expected("public examples"));
        }
    }
    let run = of(good(), good(), "char-lstm").prepare(1).unwrap();
    assert_eq!(run.predict(&good()).unwrap().len(), 2);
    let predicted = |examples: &Examples| run.predict(examples).unwrap_err().to_string();
    let text = predicted(&texts(&[0, 1, 4]));
    assert!(text.starts_with("`tokens` of examples to predict: example 0 has the id 4"));

    let x = || Column::floats("x", [1], vec![0.0]).unwrap();
    let long = Column::ids("tokens", [4], vec![0; 4]).unwrap();
    let long = Examples::of_columns(vec![x(), long], [0]).unwrap();
    assert_eq!(
        predicted(&long),
        "examples to predict need the column `tokens` as the data has it, ids of shape [3]; found ids of shape [4]"
    );
    let numbers = Column::floats("tokens", [3], vec![0.0; 3]).unwrap();
    let numbers = Examples::of_columns(vec![x(), numbers], [0]).unwrap();
    assert!(predicted(&numbers).ends_with("found numbers of shape [3]"));
    let none = Examples::of_columns(vec![x()], [0]).unwrap();
    assert!(predicted(&none).ends_with("found no such column"));
}

#[test]
fn public_examples_are_like_the_training_examples() {
    let with = |public: Examples| error(of_images().public_examples(public));
    let none = images(&[]);
    assert!(with(none).starts_with("public examples: expected at least 1"));
    let text = with(images(&[0, 4]));
    assert!(
        text.starts_with("public example 1 has the label 4"),
        "{text}"
    );
    let ids = Column::ids("x", [1, 2, 2], vec![0; 4]).unwrap();
    let text = with(Examples::of_columns(vec![ids], [0]).unwrap());
    assert!(
        text.contains("numbers of shape [1, 2, 2]; found ids"),
        "{text}"
    );
    let both = of_images().public_examples(images(&[0])).public_share(0.1);
    assert!(error(both).contains("leave one of them out"));
    of_images()
        .public_examples(images(&[3]))
        .prepare(1)
        .unwrap();
}

fn split(train: std::ops::Range<usize>) -> Split {
    Split {
        train: train.collect(),
        ..Split::default()
    }
}

#[test]
fn a_rotation_is_of_the_examples_of_its_client_alone() {
    let turned = Split {
        rotation: Rotation::degrees(90),
        ..split(9..20)
    };
    let text = error(of_images().splits(vec![split(0..10), turned.clone()]));
    let shared = "splits: clients 0 and 1 share training example 9";
    assert!(text.starts_with(shared), "{text}");
    let image = |run: &Run| {
        run.simulation()
            .dataset()
            .examples
            .image(9)
            .map(<[u8]>::to_vec)
    };
    let apart = of_images().splits(vec![split(0..9), turned.clone()]);
    let once = image(&apart.prepare(1).unwrap());
    let both = of_images().splits(vec![turned.clone(), turned]);
    assert_eq!(image(&both.prepare(1).unwrap()), once);
    assert_ne!(image(&of_images().prepare(1).unwrap()), once);
}

#[test]
fn validation_examples_are_given_or_held_back() {
    let held = Split {
        validation: vec![10],
        ..split(11..20)
    };
    let given = || of_images().splits(vec![split(0..10), held.clone()]);
    let text = error(given().validation(0.2));
    let already = "client 1 has validation examples already";
    assert!(text.starts_with(already), "{text}");
    given().keep(Keep::Best).prepare(1).unwrap();

    // A share of ten examples that is none.
    let few = || of_images().validation(0.01);
    let text = error(few().goal(0.5));
    let told = "cannot tell when the goal is reached: every client has too few examples";
    assert!(text.starts_with(told), "{text}");
    assert!(error(few().keep(Keep::Best)).starts_with("cannot keep the best model"));
    of_images().goal(0.5).prepare(1).unwrap();
}

#[test]
fn clients_of_a_party_are_named_once() {
    for experiment in [
        of_images().of_party(vec![1, 1]),
        of_images().of_party_with_own_data(vec![1, 1]),
    ] {
        assert!(error(experiment).starts_with("client 1 is named twice"));
    }
}

#[test]
fn settings_have_the_rules_of_their_texts() {
    let of = |text: &str, experiment: Experiment| {
        let found = error(experiment);
        assert!(found.contains(text), "{found}");
    };
    for others in [f64::NAN, -0.1, 1.5] {
        let late = LateClient { after: 0, others };
        of(
            "late client: expected ROUNDS:SHARE",
            of_images().late_client(late),
        );
    }
    let faults = Faults {
        bandwidth: Some(Distribution::Uniform(3.0, 1.0)),
        ..Faults::default()
    };
    of(
        "bandwidth: expected `constant:X`",
        of_images().faults(faults),
    );
    let normalise = |mean: &[f32], std: &[f32]| Transform::Normalise {
        mean: mean.to_vec(),
        std: std.to_vec(),
    };
    for step in [
        normalise(&[0.0], &[0.0]),
        normalise(&[f32::NAN], &[1.0]),
        normalise(&[], &[]),
        Transform::Rotate { degrees: f32::NAN },
        Transform::Rotate { degrees: 181.0 },
        Transform::Crop { pad: usize::MAX },
        Transform::Resize { side: 0 },
    ] {
        let steps = vec![Transform::Flip, step];
        of("bad step `", of_images().augment(Augment { steps }));
    }
    for (rank, alpha) in [(0, 1.0), (0, 0.0), (2, f32::NAN), (2, -1.0)] {
        let adapters = Train::LowRank(LowRank { rank, alpha });
        of(
            "train: expected all, lora:RANK",
            of_images().train(adapters),
        );
    }
}

/// Its cohorts are not those that the algorithm draws, on which a bound of privacy would rest.
#[test]
fn a_late_client_is_told_to_the_accounting_of_privacy() {
    let late = |experiment: Experiment| {
        let run = experiment.prepare(2).unwrap();
        run.privacy_inputs().missed.late
    };
    let (after, others) = (1, 0.5);
    assert!(late(of_images().late_client(LateClient { after, others })));
    assert!(!late(of_images()));
}

#[test]
fn counts_without_end_are_errors_or_do_no_harm() {
    // With states of clients as large as a model.
    let states = Experiment::new(Scaffold::default()).model("logistic");
    let states = states.data(data()).clients(2).partition(Partition::Iid);
    let states = states.client_memory(ByteSize(usize::MAX)).threads(1);
    states.prepare(usize::MAX).unwrap();
    let shared = Partition::Shared { per_client: 2 };
    let many = of_images().partition(shared).clients(usize::MAX);
    assert!(error(many).starts_with("clients: expected at most 4294967295, found"));
}

#[test]
fn groups_that_a_program_sets_are_checked() {
    let mut data = Dataset::new("mine", images(&[0; 6]), images(&[0]), ["a"]);
    data.groups = Some([0, 1, 0].into());
    data.group_names = vec!["ann".to_owned(), "ben".to_owned()];
    for partition in [Partition::Natural, Partition::Iid] {
        let experiment = of_images().data(data.clone()).partition(partition);
        let text = error(experiment.public_share(0.2));
        assert!(
            text.starts_with("3 groups of 6 training examples"),
            "{text}"
        );
    }
}
