//! Checks the hash of a coordinator's program against the one that the party's operator approves.

use std::fs;
use std::path::Path;

use super::error::FederationError;

/// Checks a program's hash against `--approve`.
pub(super) fn approved(hash: &str, approve: Option<&str>) -> Result<(), FederationError> {
    let not = || FederationError::NotApproved {
        hash: hash.to_owned(),
    };
    match approve {
        Some("any") => Ok(()),
        Some(one) if one == hash => Ok(()),
        Some(file) if Path::new(file).exists() => {
            let path = Path::new(file);
            let text = fs::read_to_string(path).map_err(|source| FederationError::Approvals {
                path: path.to_owned(),
                source,
            })?;
            // A line may say behind the hash what it is of.
            let hashes = text
                .lines()
                .filter_map(|line| line.split_whitespace().next());
            match { hashes }.any(|one| one == hash) {
                true => Ok(()),
                false => Err(not()),
            }
        }
        _ => Err(not()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_party_takes_part_in_what_was_approved() {
        assert!(approved("ab", Some("ab")).is_ok());
        assert!(approved("ab", Some("any")).is_ok());
        assert!(approved("ab", Some("cd")).is_err());
        assert!(approved("ab", None).is_err());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("approved.txt");
        fs::write(&path, "# fedavg in March\ncd\nab  fedprox, mu 0.1\n").unwrap();
        let file = path.to_str();
        assert!(approved("ab", file).is_ok());
        assert!(approved("ef", file).is_err());
    }
}
