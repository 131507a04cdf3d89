//! The addresses and checksums of the files that may be downloaded.

use std::path::Path;

use super::checksum::Checksum;

/// A file that its publisher offers to everyone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// The datasets that need it.
    pub datasets: &'static [&'static str],
    pub url: &'static str,
    /// Where it goes in the data folder.
    pub place: &'static str,
    pub sum: Checksum,
    /// Whether it is a `.tar.gz` that is unpacked in the data folder.
    pub archive: bool,
}

impl Source {
    /// The file's name.
    pub fn name(&self) -> &'static str {
        self.url.rsplit('/').next().unwrap_or(self.url)
    }
}

/// The files of a dataset.
pub(super) fn of(dataset: &str) -> Vec<&'static Source> {
    let needed = |s: &&Source| s.datasets.contains(&dataset);
    SOURCES.iter().filter(needed).collect()
}

/// The source of a file in the data folder.
pub(crate) fn source_of(dir: &Path, path: &Path) -> Option<&'static Source> {
    SOURCES.iter().find(|s| dir.join(s.place) == path)
}

macro_rules! file {
    ($datasets:expr, $base:literal, $folder:literal, $name:literal, $sum:expr) => {
        Source {
            datasets: &$datasets,
            url: concat!($base, "/", $name),
            place: concat!($folder, "/", $name),
            sum: $sum,
            archive: false,
        }
    };
}

macro_rules! mnist {
    ($name:literal, $sum:literal) => {
        file!(
            ["mnist"],
            "https://ossci-datasets.s3.amazonaws.com/mnist",
            "mnist",
            $name,
            Checksum::Sha256($sum)
        )
    };
}

macro_rules! fashion {
    ($name:literal, $sum:literal) => {
        file!(
            ["fashion-mnist"],
            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion",
            "fashion-mnist",
            $name,
            Checksum::Md5($sum)
        )
    };
}

macro_rules! cifar {
    ($dataset:literal, $name:literal, $sum:literal) => {
        Source {
            datasets: &[$dataset],
            url: concat!("https://www.cs.toronto.edu/~kriz/", $name),
            place: $name,
            sum: Checksum::Sha256($sum),
            archive: true,
        }
    };
}

macro_rules! adult {
    ($datasets:expr, $name:literal, $sum:literal) => {
        file!(
            $datasets,
            "https://archive.ics.uci.edu/ml/machine-learning-databases/adult",
            "adult",
            $name,
            Checksum::Sha256($sum)
        )
    };
}

const SOURCES: &[Source] = &[
    mnist!(
        "train-images-idx3-ubyte.gz",
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
    ),
    mnist!(
        "train-labels-idx1-ubyte.gz",
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"
    ),
    mnist!(
        "t10k-images-idx3-ubyte.gz",
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"
    ),
    mnist!(
        "t10k-labels-idx1-ubyte.gz",
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"
    ),
    fashion!(
        "train-images-idx3-ubyte.gz",
        "8d4fb7e6c68d591d4c3dfef9ec88bf0d"
    ),
    fashion!(
        "train-labels-idx1-ubyte.gz",
        "25c81989df183df01b3e8a0aad5dffbe"
    ),
    fashion!(
        "t10k-images-idx3-ubyte.gz",
        "bef4ecab320f06d8554ea6380940ec79"
    ),
    fashion!(
        "t10k-labels-idx1-ubyte.gz",
        "bb300cfdad3c16e7a12a480ee83cd310"
    ),
    cifar!(
        "cifar-10",
        "cifar-10-binary.tar.gz",
        "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
    ),
    cifar!(
        "cifar-100",
        "cifar-100-binary.tar.gz",
        "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"
    ),
    adult!(
        ["adult", "adult-published"],
        "adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"
    ),
    adult!(
        ["adult-published"],
        "adult.test",
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"
    ),
];
