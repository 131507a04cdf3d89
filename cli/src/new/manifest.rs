//! The `Cargo.toml` of a new crate.

use std::path::{Path, PathBuf};

use super::crate_name::CrateName;
use super::error::NewError;

/// The path of a checkout as the crate sees it, whose folder is in the current one.
///
/// # Errors
///
/// [`NewError::Checkout`] for another folder.
pub(super) fn seen_from_crate(checkout: &Path) -> Result<PathBuf, NewError> {
    for missing in ["Cargo.toml", "cli/Cargo.toml"] {
        if !checkout.join(missing).is_file() {
            let path = checkout.to_owned();
            return Err(NewError::Checkout { path, missing });
        }
    }
    // An absolute path stays as it is.
    Ok(Path::new("..").join(checkout))
}

/// The manifest of a crate that uses a checkout, or the published crates of this version.
pub(super) fn text(name: &CrateName, checkout: Option<PathBuf>) -> String {
    let of = |folder: &str| match &checkout {
        None => format!("{:?}", env!("CARGO_PKG_VERSION")),
        Some(checkout) => {
            let path: PathBuf = checkout.join(folder).components().collect();
            format!("{{ path = {:?} }}", path.display().to_string())
        }
    };
    format!(
        r#"[package]
name = "{name}"
version = "0.1.0"
edition = "2024"

[dependencies]
fedround = {}
fedround-cli = {}
mimalloc = {{ version = "0.1", default-features = false }}

[dev-dependencies]
insta = "1"
"#,
        of(""),
        of("cli"),
        name = name.as_str(),
    )
}
