//! Passes the version of burn to the crate as `BURN_VERSION`, because burn has no constant for it.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The version that the manifest requires. It is used if there is no lock file with the exact version.
const REQUIRED: &str = "0.22";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = lock_file().and_then(|lock| {
        println!("cargo::rerun-if-changed={}", lock.display());
        version(&fs::read_to_string(lock).ok()?)
    });
    let version = version.as_deref().unwrap_or(REQUIRED);
    println!("cargo::rustc-env=BURN_VERSION={version}");
}

/// The lock file of the workspace that is built. It is in a folder above the target directory or, if that is
/// elsewhere, above this package. A lock file in the folder of this package itself is not used: a package from
/// a registry has one that is not the workspace's.
fn lock_file() -> Option<PathBuf> {
    let [out, package] = ["OUT_DIR", "CARGO_MANIFEST_DIR"].map(env::var_os);
    let (out, package) = (PathBuf::from(out?), PathBuf::from(package?));
    let above = out.ancestors().chain(package.ancestors().skip(1));
    above
        .map(|folder| folder.join("Cargo.lock"))
        .find(|lock| Path::is_file(lock))
}

/// The version of the package `burn` in a lock file.
fn version(lock: &str) -> Option<String> {
    let mut lines = lock.lines().skip_while(|line| *line != "name = \"burn\"");
    let version = lines.nth(1)?.strip_prefix("version = ")?;
    Some(version.trim_matches('"').to_owned())
}
