//! A small, sound copy of each dataset of files, made from nothing.

use std::fs;
use std::io::Write;
use std::path::Path;

use fedround_random::StreamKey;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use image::{ExtendedColorType, ImageFormat};
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
        self.write_to(root.path());
        root
    }

    pub fn write_to(&self, root: &Path) {
        for (path, bytes) in &self.files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
}

/// One of each.
pub fn all() -> Vec<Sample> {
    vec![
        idx("mnist", ["mnist/train", "mnist/t10k"], [3, 9]),
        emnist_letters(),
        cifar_10(),
        cifar_100(),
        usps(),
        mnist_m(),
        svhn(),
        pacs(),
    ]
}

/// Bytes that are hard to compress, so that cuts hit the stream.
pub fn noise(n: usize) -> Vec<u8> {
    StreamKey::root(1)
        .stream()
        .map(|w| w as u8)
        .take(n)
        .collect()
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

pub fn usps() -> Sample {
    let line = |digit: usize| {
        let value = |i: usize| format!(" {:.4}", (i * 7 + digit) as f64 % 201.0 / 100.0 - 1.0);
        let values: String = (0..256).map(value).collect();
        format!("{digit}.0000{values} \n")
    };
    let file = |digits: &[usize]| {
        digits
            .iter()
            .map(|&d| line(d))
            .collect::<String>()
            .into_bytes()
    };
    Sample {
        name: "usps",
        files: vec![
            ("usps/zip.train".to_owned(), file(&[6, 0, 9])),
            ("usps/zip.test".to_owned(), file(&[3])),
        ],
        train: 3,
        test: 1,
    }
}

/// A picture of noise.
pub fn picture(side: u32, format: ImageFormat) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(vec![]);
    let pixels = noise((side * side * 3) as usize);
    image::write_buffer_with_format(
        &mut bytes,
        &pixels,
        side,
        side,
        ExtendedColorType::Rgb8,
        format,
    )
    .unwrap();
    bytes.into_inner()
}

pub fn mnist_m() -> Sample {
    let mut files = vec![];
    for (split, labels) in [("train", &[5, 0, 9][..]), ("test", &[4])] {
        let name = |i: usize| format!("{i:08}.png");
        for i in 0..labels.len() {
            let path = format!("mnist_m/mnist_m_{split}/{}", name(i));
            files.push((path, picture(32, ImageFormat::Png)));
        }
        let lines = labels.iter().enumerate();
        let lines: String = lines.map(|(i, l)| format!("{} {l}\n", name(i))).collect();
        files.push((
            format!("mnist_m/mnist_m_{split}_labels.txt"),
            lines.into_bytes(),
        ));
    }
    Sample {
        name: "mnist-m",
        files,
        train: 3,
        test: 1,
    }
}

/// An element of a MATLAB file, padded.
fn element(kind: u32, contents: &[u8]) -> Vec<u8> {
    let mut bytes = [kind, contents.len() as u32].map(u32::to_le_bytes).concat();
    bytes.extend(contents);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

fn array(name: &str, class: u8, dims: &[u32], numbers: (u32, &[u8])) -> Vec<u8> {
    let dims: Vec<u8> = dims.iter().flat_map(|d| d.to_le_bytes()).collect();
    // A name of up to four bytes is inside of its tag.
    let mut tag = (1 | (name.len() as u32) << 16).to_le_bytes().to_vec();
    tag.extend(name.bytes());
    tag.resize(8, 0);
    let parts = [
        element(6, &[class, 0, 0, 0, 0, 0, 0, 0]),
        element(5, &dims),
        tag,
        element(numbers.0, numbers.1),
    ];
    element(14, &parts.concat())
}

fn compressed(element: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(vec![], Compression::fast());
    encoder.write_all(element).unwrap();
    let packed = encoder.finish().unwrap();
    let tag = [15, packed.len() as u32].map(u32::to_le_bytes).concat();
    [tag, packed].concat()
}

/// A MATLAB file of images whose byte at row r, column c, channel h of image i is
/// `r + 2c + 80h + i`, with labels as `f64` or bytes.
pub fn svhn_file(labels: &[u8], packed: bool) -> Vec<u8> {
    let mut pixels = vec![];
    for i in 0..labels.len() {
        for channel in 0..3 {
            for column in 0..32 {
                pixels.extend((0..32).map(|row| (row + 2 * column + 80 * channel + i) as u8));
            }
        }
    }
    let n = labels.len() as u32;
    let x = array("X", 9, &[32, 32, 3, n], (2, &pixels));
    let doubles: Vec<u8> = labels
        .iter()
        .flat_map(|&l| f64::from(l).to_le_bytes())
        .collect();
    let mut header = b"MATLAB 5.0 MAT-file".to_vec();
    header.resize(124, b' ');
    header.extend([0, 1, b'I', b'M']);
    match packed {
        true => [
            header,
            compressed(&x),
            compressed(&array("y", 9, &[n, 1], (2, labels))),
        ],
        false => [header, x, array("y", 6, &[n, 1], (9, &doubles))],
    }
    .concat()
}

pub fn svhn() -> Sample {
    Sample {
        name: "svhn",
        files: vec![
            (
                "svhn/train_32x32.mat".to_owned(),
                svhn_file(&[1, 10, 9], true),
            ),
            ("svhn/test_32x32.mat".to_owned(), svhn_file(&[2, 3], false)),
        ],
        train: 3,
        test: 2,
    }
}

/// A picture of each class in each domain, JPEG and PNG in turn.
pub fn pacs() -> Sample {
    let classes = [
        "dog", "elephant", "giraffe", "guitar", "horse", "house", "person",
    ];
    let formats = [ImageFormat::Jpeg, ImageFormat::Png];
    let pictures = formats.map(|format| picture(20, format));
    let mut files = vec![];
    for domain in ["art_painting", "cartoon", "photo", "sketch"] {
        for (i, class) in classes.iter().enumerate() {
            let path = format!("pacs/{domain}/{class}/{}", ["1.JPG", "2.png"][i % 2]);
            files.push((path, pictures[i % 2].clone()));
        }
    }
    Sample {
        name: "pacs",
        files,
        train: 20,
        test: 8,
    }
}
