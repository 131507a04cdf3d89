//! Digests of datasets, by which somebody who goes on with a model notices that its data has changed.

use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};

use super::{Dataset, Examples};

/// Digests of the parts of a dataset, in hexadecimal digits. They find accidents, not intent.
///
/// A digest covers the elements of the examples, their labels, and the names of their groups. Of image files that are
/// decoded when they are needed it covers the size and the first and last 4 KiB of each, and not the path, so that a
/// folder may be moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataDigest {
    /// The digest of the training examples.
    pub train: String,
    /// The digest of the test examples.
    pub test: String,
}

impl DataDigest {
    /// The digests of a dataset. All elements are read, but only the first time.
    pub fn of(data: &Dataset) -> Self {
        let names = &data.group_names;
        Self {
            train: of_part(&data.train, data.groups.as_deref(), names),
            test: of_part(&data.test, data.test_groups.as_deref(), names),
        }
    }

    /// What differs first in another digest, in words; `None` if nothing does.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        if self.train != other.train {
            return Some("it has other examples");
        }
        (self.test != other.test).then_some("it has other test examples")
    }
}

fn of_part(examples: &Examples, groups: Option<&[u32]>, names: &[String]) -> String {
    let mut hasher = Md5::new();
    hasher.update(examples.digest());
    // By name: a group more among the tests may give other numbers to those of the training examples.
    for &group in groups.unwrap_or_default() {
        let name = names.get(group as usize);
        hasher.update(name.map_or("", String::as_str));
        hasher.update([0_u8]);
    }
    format!("{:x}", hasher.finalize())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{Column, Fit, ImageFiles, Scale};

    fn digest(pixels: [u8; 2], labels: [u16; 2]) -> DataDigest {
        let of = |pixels: [u8; 2], labels: [u16; 2]| {
            Examples::new([1, 1, 1], pixels.to_vec(), labels, Scale::Unit).unwrap()
        };
        let data = Dataset::new("d", of([1, 2], [0, 1]), of(pixels, labels), ["a", "b"]);
        DataDigest::of(&data)
    }

    #[test]
    fn each_part_has_its_own_digest() {
        let same = digest([1, 2], [0, 1]);
        assert_eq!(same.train, same.test);
        for other in [digest([1, 3], [0, 1]), digest([1, 2], [1, 0])] {
            assert_eq!(other.train, same.train);
            assert_ne!(other.test, same.test);
        }
    }

    #[test]
    fn groups_count_by_their_names() {
        let examples = Examples::new([1, 1, 1], vec![1], vec![0], Scale::Unit).unwrap();
        let data = Dataset::new("d", examples.clone(), examples, ["a"]);
        let of = |train: u32, test: u32, names: &[&str]| {
            let names = names.iter().copied();
            let data = data.clone().with_groups([train], [test], names).unwrap();
            DataDigest::of(&data)
        };
        let before = of(0, 0, &["bob"]);
        let after = of(1, 0, &["ann", "bob"]);
        assert_eq!(after.train, before.train);
        assert_ne!(after.test, before.test);
    }

    /// A folder that is copied elsewhere is the same data; a byte at an end of a file, or a longer file, is not.
    #[test]
    fn image_files_count_by_their_contents() {
        let root = tempfile::tempdir().unwrap();
        let of = |name: &str, contents: &[u8]| {
            let path = root.path().join(name);
            fs::write(&path, contents).unwrap();
            let files = ImageFiles::new(vec![path], [1, 4, 4], Fit::Stretch).unwrap();
            let x = Column::images("x", files, Scale::Unit).unwrap();
            let examples = Examples::of_columns(vec![x], vec![0]).unwrap();
            examples.digest().to_owned()
        };
        for size in [3, 4096, 6000, 20_000] {
            let bytes = vec![7; size];
            let before = of("a", &bytes);
            assert_eq!(of("b", &bytes), before);
            for at in [0, size - 1] {
                let mut changed = bytes.clone();
                changed[at] = 8;
                assert_ne!(of("a", &changed), before, "{size}: {at}");
            }
            assert_ne!(of("a", &[&bytes[..], &[7]].concat()), before, "{size}");
        }
    }
}
