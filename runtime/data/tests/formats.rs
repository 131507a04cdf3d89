//! Small files of each format are read to the values that were written into them.

use crate::common::samples::{self, Sample};
use fedround_data::augment::{Augment, Scratch, Visit};
use fedround_data::{Dataset, load};

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

#[test]
fn usps_keeps_its_values_and_says_that_it_is_short() {
    let data = loaded(&samples::usps());
    assert_eq!(data.train.labels(), [6, 0, 9]);
    assert_eq!(data.train.shape(), [1, 16, 16]);
    let (mut x, mut y) = (vec![], vec![]);
    data.train.gather(&[1], &mut x, &mut y).unwrap();
    assert_eq!(x[..3], [-1.0, -0.93, -0.86]);
    let mut moved = [f32::NAN; 256];
    let (visit, mut scratch) = (Visit::default(), Scratch::default());
    let crop: Augment = "crop:1000".parse().unwrap();
    crop.gather_into(data.train.x(), &[1], visit, &mut scratch, &mut moved)
        .unwrap();
    assert_eq!(moved, [-1.0; 256], "black");
    assert!(data.notes[1].ends_with("holds 3 examples, the published file 7291"));
}

#[test]
fn mnist_m_is_what_its_lists_name() {
    let data = loaded(&samples::mnist_m());
    assert_eq!(data.train.labels(), [5, 0, 9]);
    let raw = samples::noise(3072);
    let image = data.train.image(2).unwrap();
    assert!((0..3072).all(|i| image[i] == raw[i % 1024 * 3 + i / 1024]));

    let mut extra = samples::mnist_m();
    let picture = extra.files[0].1.clone();
    extra
        .files
        .push(("mnist_m/mnist_m_test/00000077.png".to_owned(), picture));
    let root = extra.write();
    let error = load("mnist-m", Some(root.path()), 0)
        .unwrap_err()
        .to_string();
    assert!(error.contains("holds 2 images but"), "{error}");
}

#[test]
fn svhn_is_read_from_columns_and_counts_0_as_10() {
    let data = loaded(&samples::svhn());
    assert_eq!(
        (data.train.labels(), data.test.labels()),
        (&[1, 0, 9][..], &[2, 3][..])
    );
    for (examples, i) in [(&data.train, 2), (&data.test, 1)] {
        let image = examples.image(i).unwrap();
        let byte = |h: usize, r: usize, c: usize| (r + 2 * c + 80 * h + i) as u8;
        let at = |i: usize| byte(i / 1024, i / 32 % 32, i % 32);
        assert!((0..3072).all(|i| image[i] == at(i)));
    }
}

#[test]
fn digits_are_of_the_domains_that_are_there() {
    let root = tempfile::tempdir().unwrap();
    for sample in [samples::usps(), samples::svhn()] {
        sample.write_to(root.path());
    }
    let data = load("digits", Some(root.path()), 3).unwrap();
    assert_eq!(data.group_names, ["svhn", "usps", "synth-digits"]);
    // Of 4 in usps, 1 is for testing; the others are cut down to 3.
    let count = |groups: &[u32], group| groups.iter().filter(|&&g| g == group).count();
    let groups = (data.groups.unwrap(), data.test_groups.unwrap());
    assert_eq!([0, 1, 2].map(|g| count(&groups.0, g)), [3, 3, 3]);
    assert_eq!([0, 1, 2].map(|g| count(&groups.1, g)), [1, 1, 2400]);
    assert_eq!(data.train.shape(), [3, 28, 28]);
    let absent = data
        .notes
        .iter()
        .filter(|n| n.starts_with("digits without"));
    assert_eq!(absent.count(), 2, "{:?}", data.notes);
    // A grey image is the same in all channels.
    let usps = groups.0.iter().position(|&g| g == 1).unwrap();
    let image = data.train.image(usps).unwrap();
    assert_eq!(image[..784], image[784..1568]);

    let nothing = tempfile::tempdir().unwrap();
    let error = load("digits", Some(nothing.path()), 0).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("dataset `digits` is not complete")
    );
}

#[test]
fn folders_are_domains_of_classes() {
    let data = loaded(&samples::pacs());
    assert_eq!(
        data.group_names,
        ["art_painting", "cartoon", "photo", "sketch"]
    );
    assert_eq!(data.train.shape(), [3, 64, 64]);
    // Of 7 images of a domain, 2 are for testing.
    let test = data.test_groups.as_deref().unwrap();
    assert_eq!(test, [0, 0, 1, 1, 2, 2, 3, 3]);
    for class in 0..7 {
        let count = |labels: &[u16]| labels.iter().filter(|&&l| l == class).count();
        assert_eq!(count(data.train.labels()) + count(data.test.labels()), 4);
    }
    assert_eq!(data.notes.len(), 4, "{:?}", data.notes);

    let mut other = samples::pacs();
    other
        .files
        .retain(|(path, _)| !path.contains("photo/horse"));
    let root = other.write();
    let error = load("pacs", Some(root.path()), 0).unwrap_err().to_string();
    assert!(error.contains("pacs/photo/horse"), "{error}");
}
