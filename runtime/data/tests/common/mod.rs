//! Helpers of the tests of bad files.

pub mod samples;

use std::io::Write;
use std::path::Path;

use fedround_data::{DataError, load};
use flate2::{Compression, write::GzEncoder};

pub fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn error(name: &str, root: &Path) -> DataError {
    load(name, Some(root), 0).expect_err("should not load")
}

/// The message with the folder taken out of it.
pub fn message(name: &str, root: &Path) -> String {
    error(name, root)
        .to_string()
        .replace(&root.display().to_string(), "DIR")
}

/// Says that a check is left out. It goes past the test harness, which hides what tests that pass print.
pub fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
