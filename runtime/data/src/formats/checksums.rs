//! Published checksums of datasets' files.

use std::path::Path;

/// The published md5 of a file's unpacked contents. The file is identified by its folder and its name.
///
/// There are no sums of packed files: the same contents have other bytes with another packer.
pub(crate) fn published(path: &Path) -> Option<&'static str> {
    let folder = path.parent()?.file_name()?.to_str()?;
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let known = |(at, _): &&(&str, &str)| at.split_once('/') == Some((folder, name));
    PUBLISHED.iter().find(known).map(|(_, sum)| *sum)
}

/// MNIST and Fashion-MNIST as their authors publish them, and batches of CIFAR-10.
#[rustfmt::skip]
const PUBLISHED: &[(&str, &str)] = &[
    ("cifar-10-batches-bin/data_batch_1.bin", "5dd7e06a14cb22eb9f671a540d1b7c25"),
    ("cifar-10-batches-bin/data_batch_2.bin", "5ea93a67294ea407fff1d09f752e9692"),
    ("cifar-10-batches-bin/data_batch_3.bin", "942cd6a4bcdd0dd3c604fbe906cb4421"),
    ("fashion-mnist/t10k-images-idx3-ubyte", "8181f5470baa50b63fa0f6fddb340f0a"),
    ("fashion-mnist/t10k-labels-idx1-ubyte", "15d484375f8d13e6eb1aabb0c3f46965"),
    ("fashion-mnist/train-images-idx3-ubyte", "f4a8712d7a061bf5bd6d2ca38dc4d50a"),
    ("fashion-mnist/train-labels-idx1-ubyte", "9018921c3c673c538a1fc5bad174d6f9"),
    ("mnist/t10k-images-idx3-ubyte", "2646ac647ad5339dbf082846283269ea"),
    ("mnist/t10k-labels-idx1-ubyte", "27ae3e4e09519cfbb04c329615203637"),
    ("mnist/train-images-idx3-ubyte", "6bbc9ace898e44ae57da46a324031adb"),
    ("mnist/train-labels-idx1-ubyte", "a25bea736e30d166cdddb491f175f624"),
];
