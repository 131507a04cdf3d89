//! Files that are cut short or changed anywhere give a typed error or, where nothing can be
//! noticed, all of the declared examples: never a panic, never fewer.

use crate::common::gz;
use crate::common::samples::{self, Sample};
use fedround_data::load;
use proptest::prelude::*;

/// Loads the dataset and gathers every example.
fn check(sample: &Sample, damaged: &str) -> Result<(), TestCaseError> {
    let root = sample.write();
    let data = match load(sample.name, Some(root.path()), 0) {
        Ok(data) => data,
        Err(error) => {
            let text = error.to_string();
            let folder = root.path().display().to_string();
            prop_assert!(text.contains(&folder), "{damaged}: {text}");
            return Ok(());
        }
    };
    let found = (data.train.len(), data.test.len());
    prop_assert_eq!(found, (sample.train, sample.test), "{}", damaged);
    for examples in [&data.train, &data.test] {
        let all: Vec<usize> = (0..examples.len()).collect();
        let (mut x, mut y) = (vec![], vec![]);
        prop_assert!(examples.gather(&all, &mut x, &mut y).is_ok());
        prop_assert!(y.iter().all(|&label| (label as usize) < data.classes));
    }
    Ok(())
}

/// Damages one file of one dataset, packed or not.
fn damage(
    which: prop::sample::Index,
    file: prop::sample::Index,
    packed: bool,
    at: prop::sample::Index,
    change: impl Fn(&mut Vec<u8>, usize),
) -> Result<(), TestCaseError> {
    let mut samples = samples::all();
    let mut sample = samples.swap_remove(which.index(samples.len()));
    let file = file.index(sample.files.len());
    let (path, bytes) = &mut sample.files[file];
    if packed
        && (["ubyte", ".bin", "zip.train", "zip.test"]
            .iter()
            .any(|end| path.ends_with(end)))
    {
        path.push_str(".gz");
        *bytes = gz(bytes);
    }
    let before = bytes.len();
    let at = at.index(before);
    change(bytes, at);
    // Batches may have any number of records and lists any number of lines.
    let records = [("cifar-10", 3073), ("cifar-100", 3074)];
    let cut = records
        .iter()
        .any(|(folder, size)| path.starts_with(&format!("{folder}-b")) && bytes.len() % size == 0);
    prop_assume!(!cut || bytes.len() == before);
    let lines = path.contains("zip.") && (bytes.is_empty() || bytes.ends_with(b"\n"));
    prop_assume!(!lines || bytes.len() == before);
    let damaged = format!("{path} at byte {at}");
    check(&sample, &damaged)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(250) })]

    #[test]
    fn cut_files_are_errors_or_whole(
        (which, file, packed, at) in any::<(prop::sample::Index, prop::sample::Index, bool, prop::sample::Index)>(),
    ) {
        damage(which, file, packed, at, |bytes, at| bytes.truncate(at))?;
    }

    #[test]
    fn changed_files_are_errors_or_whole(
        (which, file, packed, at) in any::<(prop::sample::Index, prop::sample::Index, bool, prop::sample::Index)>(),
        bit in 0..8,
    ) {
        damage(which, file, packed, at, |bytes, at| bytes[at] ^= 1u8 << bit)?;
    }

    /// Headers are small: most of the damage above is past them.
    #[test]
    fn changed_headers_are_errors_or_whole(
        (which, file, at) in any::<(prop::sample::Index, prop::sample::Index, prop::sample::Index)>(),
        byte in any::<u8>(),
    ) {
        damage(which, file, false, at, |bytes, at| {
            let at = at % 300.min(bytes.len());
            bytes[at] = byte;
        })?;
    }
}
