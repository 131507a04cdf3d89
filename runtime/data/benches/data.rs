//! Loading and gathering: `cargo bench -p fedround-data`. Files are read from the folder that
//! `FEDROUND_DATA` names, or from `shared/data` beside the repository.

// A benchmark that cannot start should stop.
#![allow(clippy::expect_used)]

use std::path::PathBuf;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use fedround_data::augment::{Scratch, Visit};
use fedround_data::{Augment, Column, Dataset, Examples, Scale, load};

fn main() {
    divan::main();
}

fn root() -> PathBuf {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    std::env::var_os("FEDROUND_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from)
}

fn examples(data: &Dataset) -> usize {
    data.train.len() + data.test.len()
}

/// Everything that it takes to have the dataset in memory.
#[divan::bench(
    args = ["mnist", "fashion-mnist", "cifar-10", "usps", "mnist-m", "digits", "office-caltech-10"],
    sample_count = 10,
    sample_size = 1,
)]
fn loading(bencher: Bencher, name: &str) {
    match load(name, Some(&root()), 0) {
        Ok(data) => bencher
            .counter(ItemsCount::new(examples(&data)))
            .bench(|| load(black_box(name), Some(&root()), 0)),
        Err(error) => eprintln!("SKIPPED: {error}"),
    }
}

const BATCH: usize = 64;

/// A batch of 64 of 10,000 images, no two of them neighbours, as numbers.
fn batch(shape: [usize; 3], scale: Scale) -> (Examples, Vec<usize>) {
    let features = shape.iter().product::<usize>();
    let bytes = (0..10_000 * features).map(|i| (i * 31) as u8).collect();
    let examples = Examples::new(shape, bytes, vec![0; 10_000], scale).expect("a whole number");
    (examples, (0..BATCH).map(|i| i * 7919 % 10_000).collect())
}

#[divan::bench(args = ["1x28x28", "3x32x32", "3x32x32 by channel"])]
fn gathering(bencher: Bencher, kind: &str) {
    let (shape, scale) = match kind {
        "1x28x28" => ([1, 28, 28], Scale::Unit),
        "3x32x32" => ([3, 32, 32], Scale::Centred),
        _ => {
            let scale = Scale::normalised(&[0.49, 0.48, 0.45], &[0.25, 0.24, 0.26]);
            ([3, 32, 32], scale)
        }
    };
    let (examples, indices) = batch(shape, scale);
    let mut x = vec![0.0; BATCH * examples.features()];
    let mut y = vec![0; BATCH];
    bencher
        .counter(BytesCount::new(BATCH * examples.features()))
        .bench_local(|| examples.gather_into(black_box(&indices), &mut x, &mut y));
}

#[divan::bench(args = ["none", "flip", "crop:4,flip", "rotate:15", "crop:4,flip,rotate:15", "resize:224"])]
fn augmenting(bencher: Bencher, pipeline: &str) {
    let (examples, indices) = batch([3, 32, 32], Scale::Centred);
    let augment: Augment = pipeline.parse().expect("a pipeline");
    let shape = augment.output_shape([3, 32, 32]).expect("three channels");
    let mut x = vec![0.0; BATCH * shape.iter().product::<usize>()];
    let (column, mut scratch): (&Column, _) = (examples.x(), Scratch::default());
    let visit = Visit {
        seed: 1,
        round: 1,
        client: 1,
        epoch: 0.into(),
    };
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        augment.gather_into(column, black_box(&indices), visit, &mut scratch, &mut x)
    });
}
