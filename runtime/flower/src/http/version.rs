//! The releases of Flower that this crate was tested with.

use std::fmt;

/// The first and the last minor release of Flower 1 that are tested.
const TESTED: std::ops::RangeInclusive<u32> = 40..=42;

/// The releases of Flower that a connection accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Versions {
    /// 1.40 to 1.42, and a SuperLink whose version cannot be asked, because a proxy lets only the
    /// Fleet API through.
    Tested,
    /// Any release that answers.
    Any,
}

/// A release of Flower, such as 1.41.0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    text: String,
}

impl Version {
    /// The version of `/openapi.json`.
    pub(super) fn of_openapi(json: &[u8]) -> Option<Self> {
        let value: serde_json::Value = serde_json::from_slice(json).ok()?;
        let text = value.get("info")?.get("version")?.as_str()?;
        Some(Self {
            text: text.to_owned(),
        })
    }

    pub(super) fn is_tested(&self) -> bool {
        let mut parts = self.text.split('.');
        let major = parts.next() == Some("1");
        let minor = parts.next().and_then(|minor| minor.parse().ok());
        major && minor.is_some_and(|minor| TESTED.contains(&minor))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tested_releases_are_known_by_their_minor_number() {
        for (text, tested) in [
            ("1.39.9", false),
            ("1.40.0", true),
            ("1.41.0", true),
            ("1.42.3", true),
            ("1.43.0", false),
            ("2.41.0", false),
            ("1", false),
            ("", false),
        ] {
            let json = format!(r#"{{"info": {{"version": "{text}"}}}}"#);
            let version = Version::of_openapi(json.as_bytes()).unwrap();
            assert_eq!(version.is_tested(), tested, "{text}");
        }
        assert_eq!(Version::of_openapi(b"<html>"), None);
        assert_eq!(Version::of_openapi(b"{}"), None);
    }
}
