//! Names of run folders that the user does not choose.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::CliError;

/// `fedprox(fedavg)` as a file name.
pub(crate) fn slug(spec: &str) -> String {
    let words = spec.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

/// Makes the folder `runs/NAME`, or `runs/NAME-2` and so on where there is one.
pub(crate) fn next_free(name: &str) -> Result<PathBuf, CliError> {
    let runs = Path::new("runs");
    fs::create_dir_all(runs).map_err(CliError::io("create the folder", runs))?;
    let mut dir = runs.join(name);
    let mut k = 2;
    // Creating is the test, so that two runs started at once do not share a folder.
    while let Err(error) = fs::create_dir(&dir) {
        if error.kind() != ErrorKind::AlreadyExists {
            return Err(CliError::io("create the folder", dir)(error));
        }
        dir = runs.join(format!("{name}-{k}"));
        k += 1;
    }
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_composition_is_a_file_name() {
        assert_eq!(slug("fedprox"), "fedprox");
        assert_eq!(slug(" fedprox( fedavg ) "), "fedprox-fedavg");
    }
}
