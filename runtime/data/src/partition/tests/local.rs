//! Local tests, validation examples and the rotated client.

use super::*;
use crate::{Dataset, Examples, Scale};

fn dataset(train: Vec<u16>, test: Vec<u16>, classes: usize) -> Dataset {
    let examples = |labels: Vec<u16>| {
        let bytes = (0..labels.len() * 4).map(|i| i as u8).collect();
        Examples::new([1, 2, 2], bytes, labels, Scale::Unit).unwrap()
    };
    let names = (0..classes).map(|c| c.to_string());
    Dataset::new("toy", examples(train), examples(test), names)
}

fn deal(text: &str, data: &Dataset, clients: usize) -> Vec<Split> {
    text.parse::<Partition>()
        .unwrap()
        .deal(data, clients, SEED)
        .unwrap()
}

fn tests(splits: &[Split]) -> Vec<Vec<usize>> {
    splits.iter().map(|s| s.test.clone()).collect()
}

fn once(parts: &[Vec<usize>]) -> bool {
    let mut all = parts.concat();
    all.sort_unstable();
    all.windows(2).all(|w| w[0] < w[1])
}

#[test]
fn local_tests_are_distributed_like_training() {
    let data = dataset(cycle(6000, 10), cycle(1000, 10), 10);
    for text in [
        "iid",
        "shards:2",
        "dirichlet:0.3",
        "quantity:0.5",
        "islands",
        "classes:3",
        "subset:0.8",
        "labels:3",
    ] {
        let splits = deal(text, &data, 20);
        let test = tests(&splits);
        assert!(once(&test), "{text}");
        let train: Vec<_> = splits.iter().map(|s| s.train.clone()).collect();
        let train = class_counts(&train, data.train.labels(), 10);
        let test = class_counts(&test, data.test.labels(), 10);
        for class in 0..10 {
            let dealt: usize = train.iter().map(|c| c[class]).sum();
            let all: usize = test.iter().map(|c| c[class]).sum();
            assert_eq!(all, if dealt > 0 { 100 } else { 0 }, "{text}");
            for (train, test) in train.iter().zip(&test) {
                let expected = 100.0 * train[class] as f64 / dealt.max(1) as f64;
                assert!(
                    (test[class] as f64 - expected).abs() < 1.0,
                    "{text}: {test:?}"
                );
            }
        }
    }
}

#[test]
fn two_shards_have_fifty_tests_of_each() {
    // LG-FedAvg: 100 devices, two shards of 250 of CIFAR-10 and two of 50 of its test set.
    let data = dataset(cycle(50_000, 10), cycle(10_000, 10), 10);
    for split in deal("shards:2", &data, 100) {
        assert_eq!((split.train.len(), split.test.len()), (500, 100));
    }
}

#[test]
fn tests_of_groups_are_of_the_same_groups() {
    let groups = |n: u32| (0..n).map(|i| i % 4).collect::<Vec<_>>();
    let data = dataset(cycle(400, 2), cycle(80, 2), 2);
    let data = data
        .with_groups(groups(400), groups(80), ["a", "b", "c", "d"])
        .unwrap();
    for (text, clients) in [
        ("domains", 8),
        ("groups", 2),
        ("natural", 4),
        ("natural", 2),
    ] {
        for split in deal(text, &data, clients) {
            let of: Vec<usize> = split.train.iter().map(|i| i % 4).collect();
            assert_eq!(split.test.len() * 5, split.train.len(), "{text}");
            assert!(split.test.iter().all(|i| of.contains(&(i % 4))), "{text}");
        }
    }
}

#[test]
fn nobody_is_tested_on_what_nobody_holds() {
    let data = dataset(vec![0, 0, 0, 0], vec![0, 1, 1], 2);
    let splits = deal("iid", &data, 2);
    assert_eq!(tests(&splits).concat(), [0]);
}

#[test]
fn some_training_examples_are_held_out() {
    let data = dataset(cycle(1005, 10), vec![], 10);
    let before = deal("iid", &data, 10);
    let mut splits = before.clone();
    hold_out(&mut splits, 0.1, 1).unwrap();
    for (split, before) in splits.iter().zip(&before) {
        assert_eq!(split.validation.len(), 10);
        assert_eq!(split.train.len(), before.train.len() - 10);
        let mut both = [split.train.clone(), split.validation.clone()].concat();
        let mut all = before.train.clone();
        both.sort_unstable();
        all.sort_unstable();
        assert_eq!(both, all);
    }
    assert_ne!(splits[0].validation, before[0].train[..10]);
    let mut again = before.clone();
    hold_out(&mut again, 0.1, 1).unwrap();
    assert_eq!(again, splits);

    // Those that are held out already stay.
    let kept = splits.clone();
    let error = hold_out(&mut splits, 0.1, 1).unwrap_err();
    assert_eq!(error, PartitionError::HeldOut { client: 0 });
    assert_eq!(splits, kept);

    let mut small = vec![Split {
        train: vec![7],
        ..Split::default()
    }];
    hold_out(&mut small, 0.9, 1).unwrap();
    assert_eq!(
        (&small[0].train[..], &small[0].validation[..]),
        (&[7][..], &[][..])
    );
    assert_eq!(
        hold_out(&mut small, 1.0, 1).unwrap_err().to_string(),
        "cannot hold out 1 of the training examples; use at least 0 and less than 1"
    );
}

#[test]
fn a_rotated_client_joins_the_others() {
    // LG-FedAvg: 3,000 of 60,000 and 500 of 10,000 images.
    let data = dataset(cycle(6000, 10), cycle(1000, 10), 10);
    let splits = deal("shards:2+rotated:90:300", &data, 11);
    let parts: Vec<_> = splits.iter().map(|s| s.train.clone()).collect();
    assert_eq!((splits.len(), parts.concat().len()), (11, 6000));
    assert!(once(&parts) && once(&tests(&splits)));
    let new = splits.last().unwrap();
    assert_eq!(new.rotation, Rotation::degrees(90));
    assert_eq!(new.train.len(), 300);
    assert!(new.test.len().abs_diff(50) <= 5, "{}", new.test.len());
    assert!(
        splits[..10]
            .iter()
            .all(|s| s.rotation.is_none() && s.train.len() == 570)
    );

    let base: Partition = "iid+rotated:90:3".parse().unwrap();
    assert_eq!(
        base.split(&[0; 9], 1, 3, 1).unwrap_err().to_string(),
        "partition `iid+rotated:90:3` changes examples, which labels alone do not have; deal a dataset"
    );
    let small = dataset(vec![0; 4], vec![], 1);
    assert_eq!(
        base.deal(&small, 3, 1).unwrap_err().to_string(),
        "a rotated client with 3 of 4 examples leaves too few for 2 others; \
         use at least 2 clients, and fewer examples for the rotated one"
    );
}

#[test]
fn labels_of_few_tests_leave_no_client_behind() {
    // With 5, 30 and 19 tests of each label for 20 clients, none of which can be dealt evenly.
    for per_class in [5, 30, 19] {
        let data = dataset(cycle(2000, 10), cycle(10 * per_class, 10), 10);
        let expected = per_class / 2;
        for (client, split) in deal("iid", &data, 20).iter().enumerate() {
            let found = split.test.len();
            assert!(
                found.abs_diff(expected) <= 2,
                "{per_class}: client {client} has {found} of {expected}"
            );
        }
    }
}
