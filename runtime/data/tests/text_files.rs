//! The real Adult, Flickr8k, easy-VQA and DAQUAR, where they are. Expected values were computed
//! from the files by a script of its own.

use std::path::PathBuf;

use fedround_data::adult::{self, Split};
use fedround_data::datasets::{daquar, easy_vqa, flickr8k};
use fedround_data::text::{END, PAD, START, Topics};
use fedround_data::text::{captions, questions};
use fedround_data::{DATASETS, Examples, load};

use crate::common::skipped;

/// The folder of a dataset, or `None` with a message where it is absent.
fn real(folder: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let root =
        std::env::var_os("FEDROUND_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let found = root.join(folder);
    if !found.is_dir() {
        let found = found.display();
        skipped(&format!("no {found}; set FEDROUND_DATA to its folder"));
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
    let captions = flickr8k::read(&folder).unwrap();
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

#[test]
fn every_dataset_has_the_form_that_is_listed() {
    for info in DATASETS
        .iter()
        .filter(|d| d.name.starts_with("adult") || d.class_names.is_empty())
    {
        let (folder, _) = info.files[0].split_once('/').unwrap();
        let Some(path) = real(folder) else { continue };
        let data = load(info.name, path.parent(), 1).unwrap();
        assert_eq!(data.train.shape(), info.shape, "{}", info.name);
        assert_eq!(data.classes, info.classes, "{}", info.name);
        assert_eq!(data.class_names.len(), data.classes, "{}", info.name);
    }
}

fn ids(examples: &Examples, column: &str, example: usize) -> Vec<i32> {
    let column = examples.column(column).unwrap();
    let mut ids = vec![0; column.features()];
    column.gather_ids_into(&[example], &mut ids).unwrap();
    ids
}

fn pixels(examples: &Examples, example: usize) -> Vec<f32> {
    let mut x = vec![f32::NAN; examples.features()];
    examples.x().gather_into(&[example], &mut x).unwrap();
    x
}

#[test]
fn captions_become_examples() {
    let Some(folder) = real("flickr8k") else {
        return;
    };
    let set = flickr8k::load(&folder, captions::FORM, 1).unwrap();
    let (train, test) = (&set.dataset.train, &set.dataset.test);
    let all = flickr8k::read(&folder).unwrap().images.len();
    let eighth = all / 8;
    assert_eq!((set.validation.len(), test.len()), (eighth, eighth));
    assert_eq!(train.len(), (all - 2 * eighth) * 5);

    let sentence = ids(train, "tokens", 7);
    let length = ids(train, "length", 7)[0] as usize;
    assert_eq!((sentence[0], sentence[length - 1]), (START, END));
    let references = ids(train, "references", 7);
    assert_eq!(references.len(), 5 * 20);
    assert_eq!(
        references[2 * 20..3 * 20],
        sentence,
        "the third of its image"
    );
    assert_eq!(pixels(train, 5), pixels(train, 9), "the same image");
    assert_ne!(pixels(train, 9), pixels(train, 10));
    assert!(pixels(train, 5).iter().all(|v| (-2.0..=2.0).contains(v)));
    assert_eq!(set.dataset.group_names.len(), 20);
    assert!(set.vocabulary.decode(&sentence).split(' ').count() == length - 2);
}

#[test]
fn easy_vqa_is_whole() {
    let Some(folder) = real("easy_vqa") else {
        return;
    };
    let set = easy_vqa::load(&folder, questions::FORM).unwrap();
    let data = &set.dataset;
    assert_eq!((data.classes, set.left_out), (13, [0, 0]));
    let question = ids(&data.train, "tokens", 0);
    assert_eq!(set.vocabulary.decode(&question), "what is the blue shape");
    let answer = usize::from(data.train.labels()[0]);
    assert_eq!(data.class_names[answer], "rectangle");
    assert_eq!(ids(&data.train, "length", 0), [5]);
    assert_eq!(question[..15], [PAD; 15], "the words come last");
    assert_eq!(
        pixels(&data.train, 0),
        pixels(&data.train, 1),
        "the same image"
    );
    assert_eq!(set.human.len(), data.test.len());
    if data.train.len() == 9656 {
        assert_eq!(data.test.len(), 2449);
    } else {
        let found = data.train.len();
        skipped(&format!("counts of {found} questions, known for 9656"));
    }
}

#[test]
fn daquar_answers_are_in_its_space() {
    let Some(folder) = real("daquar") else { return };
    let set = daquar::load(&folder, questions::FORM).unwrap();
    assert_eq!((set.dataset.classes, set.left_out), (582, [0, 0]));
    let cup = usize::from(set.dataset.train.labels()[0]);
    assert_eq!(set.dataset.class_names[cup], "cup");
    assert_eq!(set.human.last().unwrap()[4], "bottle");
    pixels(&set.dataset.test, set.dataset.test.len() - 1);
}
