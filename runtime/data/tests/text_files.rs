//! The real Adult and Flickr8k, where they are. Expected values were computed
//! from the files by a script of its own.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

use std::path::PathBuf;

use fedround_data::adult::{self, Split};
use fedround_data::text::Topics;
use fedround_data::text::captions::flickr8k;

/// The folder of a dataset, or `None` with a message where it is absent.
fn real(folder: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let root =
        std::env::var_os("FEDROUND_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let found = root.join(folder);
    if !found.is_dir() {
        eprintln!(
            "SKIPPED: no {}; set FEDROUND_DATA to its folder",
            found.display()
        );
        return None;
    }
    Some(found)
}

#[test]
fn adult_in_halves_is_lg_fed_avgs() {
    let Some(folder) = real("adult") else { return };
    let data = adult::load(&folder, Split::Halves, 1).unwrap();
    assert_eq!(data.inputs.len(), 93);
    for table in [&data.train, &data.test] {
        assert_eq!(table.labels.len(), 15_470);
        assert_eq!(table.x.len(), 15_470 * 93);
        let rich = table.labels.iter().filter(|&&l| l == 1).count();
        assert_eq!(rich, 3752);
    }
    assert!(!data.inputs.contains(&"native-country=Laos".to_owned()));
    for column in 0..93 {
        let values = data.train.x.iter().skip(column).step_by(93);
        let mean = values.clone().map(|&v| f64::from(v)).sum::<f64>() / 15_470.0;
        let square = values.map(|&v| f64::from(v).powi(2)).sum::<f64>() / 15_470.0;
        assert!(mean.abs() < 1e-4, "{}: {mean}", data.inputs[column]);
        let constant = square == 0.0;
        assert!(
            constant || (square - 1.0).abs() < 1e-3,
            "{}",
            data.inputs[column]
        );
    }
    let white = |t: &adult::Table| t.protected.iter().step_by(2).sum::<f32>();
    assert_eq!(white(&data.train) + white(&data.test), 27_816.0);
    let other = adult::load(&folder, Split::Halves, 2).unwrap();
    assert_ne!(data.train.labels, other.train.labels);
}

#[test]
fn adult_as_published() {
    let Some(folder) = real("adult") else { return };
    let data = adult::load(&folder, Split::Published, 1).unwrap();
    let rich = |t: &adult::Table| t.labels.iter().filter(|&&l| l == 1).count();
    assert_eq!((data.train.labels.len(), rich(&data.train)), (30_940, 7504));
    assert_eq!((data.test.labels.len(), rich(&data.test)), (15_507, 3669));
    assert_eq!(data.inputs.len(), 93);
}

#[test]
fn flickr8k_has_five_captions_an_image() {
    let Some(folder) = real("flickr8k") else {
        return;
    };
    let captions = flickr8k(&folder).unwrap();
    let all: usize = captions.images.iter().map(|i| i.captions.len()).sum();
    assert_eq!(all, captions.images.len() * 5);
    let first = &captions.images[0];
    assert!(first.image.ends_with("1000268201_693b08cb0e.jpg"));
    assert_eq!(
        first.captions[1], "A girl going into a wooden building .",
        "in the file's order"
    );
    let groups = captions.by_topic(Topics::default());
    assert_eq!(groups.of.len(), captions.images.len());
    for (group, name) in groups.names.iter().enumerate() {
        let images = groups
            .of
            .iter()
            .filter(|&&g| usize::from(g) == group)
            .count();
        assert!(images > 0, "{name} is empty");
        eprintln!("{images} {name}");
    }
}
