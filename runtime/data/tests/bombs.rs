//! Packed files that unpack to a thousand times their size end in an error after a limit, in every format.

use std::fs;
use std::io::{Write, repeat};

use crate::common::samples::svhn_file;
use crate::common::{error, gz, message};
use fedround_data::DataError;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use tempfile::TempDir;

/// A gzip file of `mib` times 2²⁰ bytes, all the same, after a beginning. It consists of many members, which is
/// the quickest way to write one.
fn bomb(begin: &[u8], byte: u8, mib: usize) -> Vec<u8> {
    let member = gz(&vec![byte; 1 << 20]);
    [gz(begin), member.repeat(mib)].concat()
}

fn folder(files: &[(&str, Vec<u8>)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    root
}

fn limit(name: &str, root: &TempDir) -> u64 {
    match error(name, root.path()) {
        DataError::Unpacked { limit, .. } => limit,
        other => panic!("{name}: {other}"),
    }
}

#[test]
fn cifar_batches_have_a_limit_together() {
    let thousand = gz(&vec![0; 3073 * 1000]);
    let images = |n: usize| thousand.repeat(n / 1000);
    let root = folder(&[
        ("cifar-10-batches-bin/data_batch_1.bin.gz", images(60_000)),
        ("cifar-10-batches-bin/data_batch_2.bin.gz", images(60_000)),
        ("cifar-10-batches-bin/test_batch.bin", vec![0; 3073]),
    ]);
    assert_eq!(
        message("cifar-10", root.path()),
        "DIR/cifar-10-batches-bin/data_batch_2.bin.gz unpacks to too much: expected at most 122920000 bytes, \
         found more; get the file again, or unpack it first if it is meant to be so large"
    );
}

#[test]
fn lines_and_records_have_a_limit() {
    let good = vec![b' '; 10];
    for byte in [0, b'\n', b' '] {
        let root = folder(&[
            ("usps/zip.train.gz", bomb(&[], byte, 65)),
            ("usps/zip.test", good.clone()),
        ]);
        assert_eq!(limit("usps", &root), 1 << 26);
        let root = folder(&[("adult/adult.data.gz", bomb(&[], byte, 65))]);
        assert_eq!(limit("adult", &root), 1 << 26);
    }
}

/// A line end takes one byte, and memory was set aside for the 256 values of each line.
#[test]
fn empty_lines_take_no_memory() {
    let root = folder(&[
        ("usps/zip.train.gz", bomb(&[], b'\n', 60)),
        ("usps/zip.test", b"\n".to_vec()),
    ]);
    let text = message("usps", root.path());
    assert!(text.contains("zip.train.gz:1: expected a digit"), "{text}");
}

#[test]
fn a_message_shows_the_start_of_a_long_field() {
    let long = [vec![b'x'; 1 << 20], vec![b'\n']].concat();
    let root = folder(&[("usps/zip.train", long), ("usps/zip.test", b"\n".to_vec())]);
    let text = message("usps", root.path());
    assert!(text.len() < 300, "{} bytes", text.len());
}

#[test]
fn idx_headers_that_lie_are_found_before_the_elements_are_read() {
    let head = |magic: u32, dims: &[u32]| {
        let words = std::iter::once(&magic).chain(dims);
        words.flat_map(|w| w.to_be_bytes()).collect::<Vec<u8>>()
    };
    let with = |images: Vec<u8>, labels: Vec<u8>| {
        folder(&[
            ("mnist/train-images-idx3-ubyte.gz", images),
            ("mnist/train-labels-idx1-ubyte.gz", labels),
            (
                "mnist/t10k-images-idx3-ubyte",
                [head(0x803, &[1, 28, 28]), vec![0; 784]].concat(),
            ),
            (
                "mnist/t10k-labels-idx1-ubyte",
                [head(0x801, &[1]), vec![0]].concat(),
            ),
        ])
    };
    let labels = gz(&[head(0x801, &[1]), vec![0]].concat());
    let root = with(
        bomb(&head(0x803, &[12_000_000, 28, 28]), 0, 1),
        labels.clone(),
    );
    assert_eq!(
        message("mnist", root.path()),
        "DIR/mnist/train-images-idx3-ubyte.gz unpacks to too much: expected at most 784000016 bytes, found \
         9408000016 by its header; get the file again, or unpack it first if it is meant to be so large"
    );
    // More follows than the header says: it is counted up to the limit.
    let image = gz(&[head(0x803, &[1, 28, 28]), vec![0; 784]].concat());
    let root = with(image, bomb(&head(0x801, &[1]), 0, 2));
    assert_eq!(limit("mnist", &root), 1_000_008);
}

#[test]
fn compressed_matlab_arrays_have_a_limit() {
    // `X` of 32 x 32 x 3 x 1,000,000, whose numbers do not follow.
    let mut array = Vec::new();
    let words = |words: &[u32]| {
        words
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    array.extend(words(&[6, 8, 9, 0]));
    array.extend(words(&[5, 16, 32, 32, 3, 1_000_000]));
    array.extend(words(&[1 | 1 << 16, u32::from(b'X')]));
    array.extend(words(&[2, 3_072_000_000]));
    let element = [words(&[14, 3_072_000_064]), array].concat();
    let pack = |bytes: &[u8]| {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        std::io::copy(&mut std::io::Read::take(repeat(0), 4 << 20), &mut encoder).unwrap();
        encoder.finish().unwrap()
    };
    let packed = pack(&element);
    let mut file = vec![b' '; 124];
    file.extend([0, 1, b'I', b'M']);
    file.extend(words(&[15, packed.len() as u32]));
    file.extend(packed);
    let root = folder(&[
        ("svhn/train_32x32.mat", file),
        ("svhn/test_32x32.mat", svhn_file(&[2, 3], false)),
    ]);
    assert_eq!(
        message("svhn", root.path()),
        "DIR/svhn/train_32x32.mat at byte 128: expected at most 2147483648 bytes in a compressed element, \
         found 3072000000; get the file again"
    );
}

/// The limits hold for packed files only.
#[test]
fn plain_files_have_no_limit() {
    let root = folder(&[
        (
            "cifar-10-batches-bin/data_batch_1.bin",
            vec![0; 3073 * 100_001],
        ),
        ("cifar-10-batches-bin/test_batch.bin", vec![0; 3073]),
    ]);
    let data = fedround_data::load("cifar-10", Some(root.path()), 0).unwrap();
    assert_eq!(data.train.len(), 100_001);
}
