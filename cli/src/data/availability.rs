//! Finds out whether the files of a dataset are in the data folder.

use std::path::{Path, PathBuf};

use fedround_data::DatasetInfo;

/// Whether a dataset's files and folders are in a data folder, in words.
pub(super) fn of(info: &DatasetInfo, dir: &Path) -> String {
    let there = |place: &&&str| !matching(dir, place).is_empty();
    let found = info.files.iter().filter(there).count();
    match (found, info.files.len()) {
        (_, 0) => "built in".to_owned(),
        (0, _) => "absent".to_owned(),
        (found, all) if found == all => "present".to_owned(),
        (found, all) => format!("{found} of {all}"),
    }
}

/// The files or folders at a place, plain or gzipped, sorted; a `*` in the last
/// part of the place stands for anything.
pub(super) fn matching(dir: &Path, place: &str) -> Vec<PathBuf> {
    let (folder, name) = place.rsplit_once('/').unwrap_or((".", place));
    let (before, after) = name.split_once('*').unwrap_or((name, ""));
    let exact = !name.contains('*');
    let fits = |path: &PathBuf| {
        let name = path
            .file_name()
            .and_then(|n| n.to_str())
            .unwrap_or_default();
        let name = name.strip_suffix(".gz").unwrap_or(name);
        match name.strip_prefix(before) {
            Some("") => exact || after.is_empty(),
            Some(rest) => !exact && rest.ends_with(after),
            None => false,
        }
    };
    // A folder that cannot be read has none of the files.
    let entries = std::fs::read_dir(dir.join(folder)).into_iter().flatten();
    let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).filter(fits).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_may_be_packed_or_many() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("set");
        std::fs::create_dir(&folder).unwrap();
        for name in ["batch_1.bin", "batch_2.bin.gz", "batch_x", "test.bin"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let count = |place| matching(root.path(), place).len();
        assert_eq!((count("set/batch_*.bin"), count("set/batch_1.bin")), (2, 1));
        assert_eq!((count("set/batch_2.bin"), count("set/batch_")), (1, 0));
        assert_eq!((count("set"), count("none/a")), (1, 0));
    }
}
