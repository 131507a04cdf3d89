//! Missing, truncated and corrupt files are errors that name the file and what
//! is wrong with it; nothing panics.

use std::fs;

use crate::common::{error, gz, message};
use fedround_data::{DataError, load};
use tempfile::TempDir;

/// Training images, training labels, test images, test labels.
const NAMES: [&str; 4] = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

/// Images whose pixels are hard to compress, so that cuts hit the stream.
fn images(n: u32) -> Vec<u8> {
    let header = [0x803, n, 28, 28].map(u32::to_be_bytes).concat();
    let pixels = fedround_random::StreamKey::root(1)
        .stream()
        .map(|w| w as u8)
        .take(n as usize * 784);
    header.into_iter().chain(pixels).collect()
}

fn labels(values: &[u8]) -> Vec<u8> {
    [
        &[0, 0, 8, 1][..],
        &(values.len() as u32).to_be_bytes(),
        values,
    ]
    .concat()
}

/// A complete mnist folder: 3 training images and 2 test images.
fn mnist() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let contents = [images(3), labels(&[0, 5, 9]), images(2), labels(&[1, 2])];
    fs::create_dir(root.path().join("mnist")).unwrap();
    for (name, bytes) in NAMES.iter().zip(contents) {
        fs::write(root.path().join("mnist").join(name), bytes).unwrap();
    }
    root
}

/// Replaces one of the four files; `suffix` is `""` or `".gz"`.
fn replace(root: &TempDir, name: &str, suffix: &str, bytes: &[u8]) {
    let folder = root.path().join("mnist");
    fs::remove_file(folder.join(name)).unwrap();
    fs::write(folder.join(format!("{name}{suffix}")), bytes).unwrap();
}

#[test]
fn plain_and_gzipped_files_are_the_same() {
    let root = mnist();
    let plain = load("mnist", Some(root.path()), 0).unwrap();
    replace(&root, NAMES[0], ".gz", &gz(&images(3)));
    replace(&root, NAMES[3], ".gz", &gz(&labels(&[1, 2])));
    let packed = load("mnist", Some(root.path()), 0).unwrap();
    for i in 0..3 {
        assert_eq!(plain.train.image(i), packed.train.image(i));
    }
    assert_eq!(plain.train.labels(), [0, 5, 9]);
    assert_eq!(packed.test.len(), 2);
}

#[test]
fn names_and_folders() {
    let dir = tempfile::tempdir().unwrap();
    let text = message("cifar10", dir.path());
    let start =
        "unknown dataset `cifar10` (did you mean `cifar-10`?); the datasets are synth-digits, ";
    assert!(text.starts_with(start), "{text}");
    let text = load("mnist", None, 0).unwrap_err().to_string();
    assert!(
        text.contains("a data folder DIR") && text.contains("mnist/t10k-labels-idx1-ubyte"),
        "{text}"
    );
    assert!(
        text.contains("https://") && text.ends_with("`synth-digits` needs no files"),
        "{text}"
    );
}

#[test]
fn missing_files_are_listed() {
    let root = mnist();
    fs::remove_file(root.path().join("mnist").join(NAMES[1])).unwrap();
    let text = message("mnist", root.path());
    assert!(
        text.contains("DIR/mnist/train-labels-idx1-ubyte (or .gz)"),
        "{text}"
    );
    assert!(!text.contains("t10k"), "only what is missing: {text}");
    assert!(
        text.contains("https://") && text.ends_with("`synth-digits` needs no files"),
        "{text}"
    );

    let text = message("fashion-mnist", root.path());
    assert_eq!(text.matches("(or .gz)").count(), 4);
    let text = message("cifar-10", root.path());
    assert!(
        text.contains("DIR/cifar-10-batches-bin/data_batch_*.bin"),
        "{text}"
    );
    assert!(
        text.contains("DIR/cifar-10-batches-bin/test_batch*.bin"),
        "{text}"
    );
}

#[test]
fn idx_files_cut_anywhere_are_errors() {
    for (name, bytes) in [(NAMES[0], images(3)), (NAMES[1], labels(&[0, 5, 9]))] {
        for length in (0..bytes.len()).filter(|n| *n < 40 || n % 97 == 0) {
            let root = mnist();
            replace(&root, name, "", &bytes[..length]);
            match error("mnist", root.path()) {
                DataError::Length {
                    found,
                    expected,
                    damaged: false,
                    ..
                } => {
                    assert_eq!(found, length as u64);
                    assert!(expected > found);
                }
                other => panic!("{length} bytes: {other}"),
            }
        }
    }
    let root = mnist();
    replace(&root, NAMES[0], "", &images(3)[..1000]);
    assert_eq!(
        message("mnist", root.path()),
        "DIR/mnist/train-images-idx3-ubyte is truncated or corrupt: expected 2368 bytes, found 1000; \
         get the file again"
    );
    replace(&root, NAMES[0], "", &[images(3), vec![0]].concat());
    let text = message("mnist", root.path());
    assert!(text.contains("expected 2368 bytes, found 2369"), "{text}");
}

#[test]
fn gzip_files_cut_or_changed_anywhere_are_errors() {
    let packed = gz(&images(3));
    for at in (0..packed.len()).filter(|n| *n < 40 || n % 41 == 0 || *n + 12 > packed.len()) {
        let root = mnist();
        replace(&root, NAMES[0], ".gz", &packed[..at]);
        match error("mnist", root.path()) {
            DataError::Length { damaged, .. } => assert!(damaged || at == 0, "{at}"),
            DataError::Gzip { found, .. } => assert_eq!(found, 2368),
            other => panic!("cut at {at}: {other}"),
        }
        // A flipped byte is an error or, in the header's free fields, no change.
        let mut flipped = packed.clone();
        flipped[at] ^= 0x55;
        fs::write(
            root.path().join("mnist").join(format!("{}.gz", NAMES[0])),
            flipped,
        )
        .unwrap();
        if let Ok(data) = load("mnist", Some(root.path()), 0) {
            assert!(at < 10, "byte {at} changed unnoticed");
            let pixels: Vec<u8> = (0..3)
                .flat_map(|i| data.train.image(i).unwrap())
                .copied()
                .collect();
            assert_eq!(pixels, &images(3)[16..]);
        }
    }
    let root = mnist();
    replace(&root, NAMES[0], ".gz", &packed[..packed.len() - 4]);
    let text = message("mnist", root.path());
    assert!(
        text.contains("ubyte.gz is corrupt: the gzip stream is damaged"),
        "{text}"
    );
    assert!(text.contains("after 2368 unpacked bytes of 2368"), "{text}");
    fs::write(
        root.path().join("mnist/train-images-idx3-ubyte.gz"),
        b"not gzip at all",
    )
    .unwrap();
    let text = message("mnist", root.path());
    assert!(
        text.contains("found 0 before the gzip stream breaks off"),
        "{text}"
    );
}

#[test]
fn idx_contents_are_checked() {
    let with = |at: usize, bytes: &[u8]| {
        let root = mnist();
        replace(&root, NAMES[at], "", bytes);
        message("mnist", root.path())
    };
    assert_eq!(
        with(0, &labels(&[1, 2, 3])),
        "DIR/mnist/train-images-idx3-ubyte is not an idx file of images: \
         it starts with 0x00000801, expected 0x00000803"
    );
    assert_eq!(
        with(1, &labels(&[1, 2, 10])),
        "DIR/mnist/train-labels-idx1-ubyte: label 10 of example 2 is out of range, expected 0 to 9"
    );
    assert_eq!(
        with(3, &labels(&[1, 2, 3])),
        "DIR/mnist/t10k-images-idx3-ubyte holds 2 images but DIR/mnist/t10k-labels-idx1-ubyte \
         holds 3 labels; the files do not belong together"
    );
    let odd = [
        [0x803u32, 1, 2, 3].map(u32::to_be_bytes).concat(),
        vec![0; 6],
    ]
    .concat();
    assert_eq!(
        with(0, &odd),
        "DIR/mnist/train-images-idx3-ubyte holds images of 2 x 3, expected 28 x 28"
    );
    let huge = [0x803, u32::MAX, u32::MAX, u32::MAX]
        .map(u32::to_be_bytes)
        .concat();
    assert!(with(0, &huge).contains("truncated or corrupt"));
    let root = mnist();
    replace(&root, NAMES[0], "", &images(0));
    replace(&root, NAMES[1], "", &labels(&[]));
    assert_eq!(
        message("mnist", root.path()),
        "DIR/mnist/train-images-idx3-ubyte holds no examples"
    );
}
