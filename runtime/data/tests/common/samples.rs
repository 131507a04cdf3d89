//! A small, sound copy of each dataset of files, made from nothing.

use std::fs;

use fedround_data::rng::words;
use tempfile::TempDir;

/// A dataset's files, and how many examples are in them.
pub struct Sample {
    pub name: &'static str,
    pub files: Vec<(String, Vec<u8>)>,
    pub train: usize,
    pub test: usize,
}

impl Sample {
    /// Writes the files to a folder of their own.
    pub fn write(&self) -> TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, bytes) in &self.files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        root
    }
}

/// One of each.
pub fn all() -> Vec<Sample> {
    vec![
        idx("mnist", ["mnist/train", "mnist/t10k"], [3, 9]),
        emnist_letters(),
        cifar_10(),
        cifar_100(),
    ]
}

/// Bytes that are hard to compress, so that cuts hit the stream.
pub fn noise(n: usize) -> Vec<u8> {
    words(1, &[]).map(|w| w as u8).take(n).collect()
}

/// Images of 28x28 and labels of which the largest is `labels[1]`.
pub fn idx(name: &'static str, prefixes: [&str; 2], labels: [u8; 2]) -> Sample {
    let counts = [3u32, 2];
    let mut files = vec![];
    for (prefix, n) in prefixes.iter().zip(counts) {
        let header = [0x803, n, 28, 28].map(u32::to_be_bytes).concat();
        let images = [header, noise(n as usize * 784)].concat();
        let header = [0x801, n].map(u32::to_be_bytes).concat();
        let labels = (0..n).map(|i| labels[i as usize % 2]).collect();
        files.push((format!("{prefix}-images-idx3-ubyte"), images));
        files.push((
            format!("{prefix}-labels-idx1-ubyte"),
            [header, labels].concat(),
        ));
    }
    Sample {
        name,
        files,
        train: 3,
        test: 2,
    }
}

pub fn emnist_letters() -> Sample {
    let prefixes = ["emnist/emnist-letters-train", "emnist/emnist-letters-test"];
    idx("emnist-letters", prefixes, [1, 26])
}

/// Records of these labels, and the same image in each.
pub fn records(labels: &[&[u8]]) -> Vec<u8> {
    let record = |labels: &&[u8]| [*labels, &noise(3072)].concat();
    labels.iter().flat_map(record).collect()
}

pub fn cifar_10() -> Sample {
    let file = |name: &str, labels| (format!("cifar-10-batches-bin/{name}"), records(labels));
    Sample {
        name: "cifar-10",
        files: vec![
            file("data_batch_1.bin", &[&[3], &[9]]),
            file("data_batch_2.bin", &[&[0]]),
            file("test_batch.bin", &[&[5]]),
        ],
        train: 3,
        test: 1,
    }
}

pub fn cifar_100() -> Sample {
    let file = |name: &str, labels| (format!("cifar-100-binary/{name}"), records(labels));
    Sample {
        name: "cifar-100",
        files: vec![
            file("train.bin", &[&[4, 0], &[13, 99]]),
            file("test.bin", &[&[19, 7]]),
        ],
        train: 2,
        test: 1,
    }
}
