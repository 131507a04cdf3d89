//! The memory of images: a set of 60,000 takes at most 1.3 times its bytes at the peak of its loading, and
//! a thousand clients' views of it take next to nothing.
//! A folder of images costs the names of its files.

#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use fedround_data::{DataSpec, Partition, load};
use fedround_random::SEED;
use flate2::Compression;
use flate2::write::GzEncoder;

const TRAIN: u32 = 60_000;
const TEST: u32 = 10_000;

/// Writes a dataset in the format of MNIST, an image at a time.
fn write(folder: &Path, packed: bool) {
    for (split, n) in [("train", TRAIN), ("t10k", TEST)] {
        let open = |kind: &str| -> Box<dyn Write> {
            let end = if packed { ".gz" } else { "" };
            let file = File::create(folder.join(format!("{split}-{kind}-ubyte{end}"))).unwrap();
            match packed {
                true => Box::new(GzEncoder::new(file, Compression::fast())),
                false => Box::new(BufWriter::new(file)),
            }
        };
        let mut images = open("images-idx3");
        let mut labels = open("labels-idx1");
        images
            .write_all(&[0x803, n, 28, 28].map(u32::to_be_bytes).concat())
            .unwrap();
        labels
            .write_all(&[0x801, n].map(u32::to_be_bytes).concat())
            .unwrap();
        for i in 0..n {
            let image: [u8; 784] = std::array::from_fn(|at| (at as u32 * i / 300) as u8);
            images.write_all(&image).unwrap();
            labels.write_all(&[(i % 10) as u8]).unwrap();
        }
    }
}

/// A number of the process's status, in bytes.
fn status(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let kib = line.split_ascii_whitespace().nth(1).unwrap();
    kib.parse::<f64>().unwrap() * 1024.0
}

/// Held while the memory of the process is measured.
static ALONE: Mutex<()> = Mutex::new(());

/// A fifth of a folder of 100,000, which is to be indexed in 5 seconds.
#[test]
fn a_folder_of_many_images_is_indexed_by_its_names() {
    const FILES: usize = 20_000;
    let _alone = ALONE.lock();
    let root = tempfile::tempdir().unwrap();
    let mut png = std::io::Cursor::new(vec![]);
    image::RgbImage::from_pixel(64, 64, image::Rgb([9, 99, 199]))
        .write_to(&mut png, image::ImageFormat::Png)
        .unwrap();
    for class in 0..10 {
        let folder = root.path().join(class.to_string());
        fs::create_dir(&folder).unwrap();
        for i in 0..FILES / 10 {
            fs::write(folder.join(format!("{i}.png")), png.get_ref()).unwrap();
        }
    }
    let spec: DataSpec = format!("images:{}", root.path().display()).parse().unwrap();
    let (before, start) = (status("VmRSS:"), Instant::now());
    let data = spec.read().unwrap();
    let (after, took) = (status("VmRSS:"), start.elapsed());
    assert_eq!(data.train.len() + data.test.len(), FILES);
    let each = (after - before) / FILES as f64;
    eprintln!("indexed {FILES} images in {took:?}, {each:.0} bytes each");
    // The slowest machine that tests run on is many times busier than one that trains.
    assert!(took < Duration::from_secs(10), "{took:?}");
    // A decoded image has 12,288 bytes.
    assert!(each < 1500.0, "{each} bytes an image");
}

#[test]
fn a_large_set_is_in_memory_once() {
    let _alone = ALONE.lock();
    let raw = f64::from(TRAIN + TEST) * 784.0;
    for packed in [true, false] {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("mnist");
        fs::create_dir(&folder).unwrap();
        write(&folder, packed);

        let before = status("VmRSS:");
        // The peak so far is that of writing the files: forgotten.
        if let Err(error) = fs::write("/proc/self/clear_refs", "5") {
            // Past the test harness, which hides what tests that pass print.
            let why = "the peak of memory cannot be reset";
            let _ = writeln!(std::io::stderr(), "SKIPPED: {why}: {error}");
            return;
        }
        let data = load("mnist", Some(root.path()), 0).unwrap();
        let peak = (status("VmHWM:") - before) / raw;
        eprintln!("peak of loading, packed {packed}: {peak:.3} times the pixels");
        // At least once, or nothing was measured.
        assert!((0.9..1.3).contains(&peak), "{peak}");

        let before = status("VmRSS:");
        let parts = Partition::Iid
            .split(data.train.labels(), 10, 1000, SEED)
            .unwrap();
        let clients: Vec<_> = parts.iter().map(|part| data.train.subset(part)).collect();
        let views = (status("VmRSS:") - before) / raw;
        eprintln!("views of 1,000 clients: {views:.3} times the pixels");
        assert!(views < 0.1, "{views}");
        for (client, part) in clients.iter().zip(&parts) {
            for (at, &example) in part.iter().enumerate() {
                let (own, whole) = (
                    client.image(at).unwrap(),
                    data.train.image(example).unwrap(),
                );
                assert!(std::ptr::eq(own, whole), "a copy of example {example}");
            }
        }
    }
}
