//! The real datasets, where they are: in the folder that `FEDROUND_DATA` names,
//! or in `shared/data` beside the repository. Expected values were computed by
//! the benchmarks' Python.

use std::path::PathBuf;

use fedround_data::{Dataset, Examples, Partition, load};
use fedround_random::SEED;

use crate::common::skipped;

/// The dataset, or `None` with a message where its files are absent.
fn real(name: &str, folder: &str) -> Option<Dataset> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let root =
        std::env::var_os("FEDROUND_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    if !root.join(folder).is_dir() {
        let root = root.display();
        skipped(&format!(
            "no {name} in {root}; set FEDROUND_DATA to its folder"
        ));
        return None;
    }
    Some(load(name, Some(&root), 0).unwrap_or_else(|error| panic!("{error}")))
}

fn pixel_sum(examples: &Examples) -> u64 {
    let images = (0..examples.len()).flat_map(|i| examples.image(i).unwrap());
    images.map(|&u| u64::from(u)).sum()
}

fn histogram(examples: &Examples) -> [usize; 10] {
    let mut counts = [0; 10];
    examples
        .labels()
        .iter()
        .for_each(|&l| counts[usize::from(l)] += 1);
    counts
}

fn fingerprint(parts: &[Vec<usize>]) -> u64 {
    let dealt = parts.iter().flatten().enumerate();
    dealt
        .map(|(at, &example)| (at as u64 + 1) * example as u64)
        .sum()
}

#[test]
fn mnist() {
    let Some(data) = real("mnist", "mnist") else {
        return;
    };
    assert_eq!((data.train.len(), data.test.len()), (60_000, 10_000));
    assert_eq!((data.train.shape(), data.classes), (&[1, 28, 28][..], 10));
    assert_eq!(
        (pixel_sum(&data.train), pixel_sum(&data.test)),
        (1_567_298_545, 264_923_200)
    );
    let train = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949];
    assert_eq!(histogram(&data.train), train);
    let test = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009];
    assert_eq!(histogram(&data.test), test);

    let (mut x, mut y) = (Vec::new(), Vec::new());
    data.train.gather(&[0], &mut x, &mut y).unwrap();
    let row = [0.0, 0.0, 3.0, 18.0, 18.0, 18.0, 126.0, 136.0, 175.0, 26.0];
    assert_eq!(x[5 * 28 + 10..5 * 28 + 20], row.map(|u: f32| u / 255.0));
    assert_eq!(y, [5]);
    assert!(data.notes.is_empty(), "{:?}", data.notes);
}

#[test]
fn mnist_is_dealt_as_in_the_benchmarks() {
    let Some(data) = real("mnist", "mnist") else {
        return;
    };
    let shards = Partition::Shards { per_client: 2 };
    let parts = shards.split(data.train.labels(), 10, 100, SEED).unwrap();
    assert_eq!(parts[0][..5], [29183, 29189, 29192, 29194, 29198]);
    assert_eq!(parts[99][595..], [11798, 11805, 11810, 11821, 11822]);
    assert_eq!(fingerprint(&parts), 55_421_052_445_343);
}

#[test]
fn fashion_mnist() {
    let Some(data) = real("fashion-mnist", "fashion-mnist") else {
        return;
    };
    assert_eq!((data.train.len(), data.test.len()), (60_000, 10_000));
    assert_eq!(
        (pixel_sum(&data.train), pixel_sum(&data.test)),
        (3_431_114_169, 573_469_082)
    );
    assert_eq!(
        (histogram(&data.train), histogram(&data.test)),
        ([6000; 10], [1000; 10])
    );
    assert_eq!(data.class_names[9], "ankle boot");
}

#[test]
fn usps() {
    let Some(data) = real("usps", "usps") else {
        return;
    };
    // The table of zip.info.txt.
    let train = [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644];
    assert_eq!(histogram(&data.train), train);
    let test = [359, 264, 198, 166, 200, 160, 170, 147, 166, 177];
    assert_eq!(histogram(&data.test), test);
    let sum = |examples: &Examples| {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let all: Vec<usize> = (0..examples.len()).collect();
        examples.gather(&all, &mut x, &mut y).unwrap();
        x.iter().copied().map(f64::from).sum::<f64>()
    };
    assert!((sum(&data.train) + 916_521.717).abs() < 0.01);
    assert!((sum(&data.test) + 238_801.158).abs() < 0.01);
    assert!(data.notes.is_empty(), "{:?}", data.notes);
}

/// The bundle's part of MNIST-M: 2,000 and 500 images.
#[test]
fn mnist_m() {
    let Some(data) = real("mnist-m", "mnist_m") else {
        return;
    };
    if (data.train.len(), data.test.len()) != (2000, 500) {
        skipped("sums of mnist-m are known for 2000 and 500 images");
        return;
    }
    assert_eq!(
        (pixel_sum(&data.train), pixel_sum(&data.test)),
        (696_211_070, 175_876_596)
    );
    let test = [42, 66, 55, 46, 55, 50, 43, 49, 40, 54];
    assert_eq!(histogram(&data.test), test);
}

/// ADCOL's digits, of the domains of the bundle.
#[test]
fn digits() {
    let Some(data) = real("digits", "mnist") else {
        return;
    };
    let domains = data.group_names.len() as u32;
    let count = |groups: &[u32], g| groups.iter().filter(|&&h| h == g).count();
    let train = data.groups.as_ref().unwrap();
    let sizes: Vec<usize> = (0..domains).map(|g| count(train, g)).collect();
    assert!(sizes.iter().all(|&n| n == sizes[0]), "{sizes:?}");
    // One fifth of MNIST's 70,000.
    assert_eq!(data.group_names[0], "mnist");
    assert_eq!(count(data.test_groups.as_ref().unwrap(), 0), 14_000);
    assert_eq!(data.train.image_shape().unwrap(), [3, 28, 28]);
}

/// Any number of batches is valid, so only the bundle of batches 1 to 3 and a
/// short test batch is held to its exact sums.
#[test]
fn cifar_10() {
    let Some(data) = real("cifar-10", "cifar-10-batches-bin") else {
        return;
    };
    assert_eq!(
        (data.train.shape(), data.test.shape()),
        (&[3, 32, 32][..], &[3, 32, 32][..])
    );
    assert_eq!(data.train.labels()[..10], [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]);
    assert_eq!(data.test.labels()[..10], [3, 8, 8, 0, 6, 6, 1, 6, 3, 1]);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    data.train.gather(&[0], &mut x, &mut y).unwrap();
    let bits: Vec<u32> = x[..3].iter().map(|v| v.to_bits()).collect();
    assert_eq!(bits, [3_213_461_898, 3_215_567_274, 3_214_646_172]);

    if data.train.len() != 30_000 {
        let found = data.train.len();
        skipped(&format!(
            "sums of {found} training examples, known for 30000"
        ));
        return;
    }
    assert_eq!(
        (pixel_sum(&data.train), pixel_sum(&data.test)),
        (11_120_450_528, 374_560_331)
    );
    let train = [2983, 3023, 3007, 3008, 2999, 2954, 3016, 3042, 2973, 2995];
    assert_eq!(histogram(&data.train), train);
    let shards = Partition::Shards { per_client: 2 };
    let parts = shards.split(data.train.labels(), 10, 100, SEED).unwrap();
    assert_eq!(fingerprint(&parts), 6_782_098_461_751);
    let parts = Partition::Iid
        .split(data.train.labels(), 10, 600, SEED)
        .unwrap();
    assert_eq!(fingerprint(&parts), 6_774_774_057_674);
}

/// All images; their sizes are those of the paper's split.
#[test]
fn office_caltech_10() {
    let Some(data) = real("office-caltech-10", "office_caltech_10") else {
        return;
    };
    assert!(data.notes.is_empty(), "{:?}", data.notes);
    let count = |groups: &[u32], g| groups.iter().filter(|&&h| h == g).count();
    let (train, test) = (data.groups.unwrap(), data.test_groups.unwrap());
    let sizes = [0, 1, 2, 3].map(|g| [count(&train, g), count(&test, g)]);
    assert_eq!(sizes, [[766, 192], [898, 225], [125, 32], [236, 59]]);
    assert_eq!(data.group_names, ["amazon", "caltech10", "dslr", "webcam"]);
    assert_eq!(data.train.shape(), [3, 64, 64]);
    let bright = pixel_sum(&data.train) as f64 / (data.train.len() * 3 * 64 * 64) as f64;
    assert!((100.0..220.0).contains(&bright), "{bright}");
}
