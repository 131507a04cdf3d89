//! Checks the hash of a coordinator's program against the one that the party's operator approves.

use std::fs;
use std::path::Path;

use super::error::FederationError;
use crate::error::CliError;

/// Checks a program's hash against `--approve`.
pub(super) fn approved(hash: &str, approve: Option<&str>) -> Result<(), CliError> {
    let not = || {
        let hash = hash.to_owned();
        CliError::from(FederationError::NotApproved { hash })
    };
    match approve {
        Some("any") => Ok(()),
        Some(one) if one.eq_ignore_ascii_case(hash) => Ok(()),
        Some(file) if Path::new(file).exists() => {
            let path = Path::new(file);
            let text = fs::read_to_string(path).map_err(CliError::io("read", path))?;
            // A line may say behind the hash what it is of.
            let text = text.trim_start_matches('\u{feff}');
            let hashes = text
                .lines()
                .filter_map(|line| line.split_whitespace().next());
            match { hashes }.any(|one| one.eq_ignore_ascii_case(hash)) {
                true => Ok(()),
                false => Err(not()),
            }
        }
        Some(other) if !is_hash(other) => Err(FederationError::NoApproval {
            found: other.to_owned(),
        }
        .into()),
        _ => Err(not()),
    }
}

/// Whether a text has the form of a program's hash.
fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_party_takes_part_in_what_was_approved() {
        assert!(approved("ab", Some("ab")).is_ok());
        assert!(approved("ab", Some("any")).is_ok());
        assert!(approved("ab", Some("AB")).is_ok());
        let other = approved("ab", Some(&"cd".repeat(32))).unwrap_err();
        let is_other = matches!(
            other,
            CliError::Federation(FederationError::NotApproved { .. })
        );
        assert!(is_other, "{other}");
        // A file that is not there.
        let error = approved("ab", Some("aproved.txt")).unwrap_err();
        let is_mistake = matches!(
            error,
            CliError::Federation(FederationError::NoApproval { .. })
        );
        assert!(is_mistake, "{error}");
        assert!(approved("ab", None).is_err());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("approved.txt");
        fs::write(&path, "# fedavg in March\ncd\nab  fedprox, mu 0.1\n").unwrap();
        let file = path.to_str();
        assert!(approved("ab", file).is_ok());
        assert!(approved("ef", file).is_err());
        // As Windows' editors write it.
        fs::write(&path, "\u{feff}AB\r\n").unwrap();
        assert!(approved("ab", file).is_ok());
    }
}
