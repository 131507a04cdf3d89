//! Loading and gathering: `cargo bench -p fedround-data`. Files are read from the folder that
//! `FEDROUND_DATA` names, or from `shared/data` beside the repository.

// A benchmark that cannot start should stop.
#![allow(clippy::expect_used)]

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use fedround_data::augment::{Scratch, Visit};
use fedround_data::{Augment, Column, DataSpec, Dataset, Examples, Fit, ImageFiles, Scale, load};
use image::{DynamicImage, ImageFormat, RgbImage};
use tempfile::TempDir;

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

/// The number of PNG files.
const FILES: usize = 10_000;

/// A folder of 32x32 images of noise, which PNG cannot compress, in ten classes.
fn noise() -> TempDir {
    let root = tempfile::tempdir().expect("a folder");
    for class in 0..10 {
        fs::create_dir(root.path().join(class.to_string())).expect("a folder");
    }
    let mut state = 1u64;
    let mut byte = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    for i in 0..FILES {
        let image = RgbImage::from_fn(32, 32, |_, _| image::Rgb([byte(), byte(), byte()]));
        let mut bytes = Cursor::new(vec![]);
        let image = DynamicImage::from(image);
        image
            .write_to(&mut bytes, ImageFormat::Png)
            .expect("a PNG file");
        let path = root.path().join(format!("{}/{i}.png", i % 10));
        fs::write(path, bytes.into_inner()).expect("a file");
    }
    root
}

/// Finding the files of a folder, with the shape and the scale of the images.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn indexing(bencher: Bencher) {
    let root = noise();
    let text = format!("images:{}", root.path().display());
    let spec: DataSpec = text.parse().expect("a folder of images");
    bencher
        .counter(ItemsCount::new(FILES))
        .bench(|| spec.read().expect("images"));
}

/// A batch of 64 images of a folder: decoded, or read from where decoded images are kept.
#[divan::bench(args = ["decoded", "from memory", "from a file"])]
fn images(bencher: Bencher, kept: &str) {
    let root = noise();
    let path = |i| root.path().join(format!("{}/{i}.png", i % 10));
    let paths: Vec<PathBuf> = (0..FILES).map(path).collect();
    let cache = tempfile::tempdir().expect("a folder");
    let mut files = ImageFiles::new(paths, [3, 32, 32], Fit::Stretch).expect("a shape");
    match kept {
        "from memory" => files = files.with_cache(1 << 28),
        "from a file" => files
            .keep_on_disk(&cache.path().join("decoded"), 1 << 32)
            .expect("a file"),
        _ => {}
    }
    let column = Column::images("x", files, Scale::Centred).expect("a column");
    let mut x = vec![0.0; FILES * 3072];
    let all: Vec<usize> = (0..FILES).collect();
    column.gather_into(&all, &mut x).expect("images");
    let mut first = 0;
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        first += BATCH;
        let batch: Vec<usize> = (first..first + BATCH).map(|i| i * 7919 % FILES).collect();
        column.gather_into(black_box(&batch), &mut x[..BATCH * 3072])
    });
}
