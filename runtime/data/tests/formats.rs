//! What is in small files of each format.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

#[allow(dead_code, reason = "shared with other tests")]
#[path = "common/samples.rs"]
mod samples;

use fedround_data::{Dataset, load};
use samples::Sample;

fn loaded(sample: &Sample) -> Dataset {
    let root = sample.write();
    load(sample.name, Some(root.path()), 0).unwrap_or_else(|e| panic!("{}: {e}", sample.name))
}

#[test]
fn samples_have_their_declared_lengths() {
    for sample in samples::all() {
        let data = loaded(&sample);
        let lengths = (data.train.len(), data.test.len());
        assert_eq!(lengths, (sample.train, sample.test), "{}", sample.name);
        assert_eq!(data.classes, data.class_names.len());
    }
}

#[test]
fn emnist_is_turned_upright_and_counts_from_0() {
    let data = loaded(&samples::emnist_letters());
    assert_eq!(data.train.labels(), [0, 25, 0]);
    assert_eq!(
        (&data.class_names[0][..], &data.class_names[25][..]),
        ("A", "Z")
    );
    let (image, raw) = (data.train.image(1).unwrap(), samples::noise(3 * 784));
    assert!((0..784).all(|i| image[i] == raw[784 + i % 28 * 28 + i / 28]));
}

#[test]
fn cifar_100_has_fine_labels_and_groups_of_them() {
    let data = loaded(&samples::cifar_100());
    assert_eq!(data.train.labels(), [0, 99]);
    assert_eq!(data.groups.as_deref(), Some(&[4, 13][..]));
    assert_eq!(data.test_groups.as_deref(), Some(&[19][..]));
    let named =
        |label: usize, group: usize| (&data.class_names[label][..], &data.group_names[group][..]);
    assert_eq!(named(0, 4), ("apple", "fruit and vegetables"));
    assert_eq!(named(99, 13), ("worm", "non-insect invertebrates"));
    assert_eq!(data.train.image(1).unwrap(), samples::noise(3072));
}
