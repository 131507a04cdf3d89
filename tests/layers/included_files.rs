//! A published crate has no files but its own: code includes none of another folder, and each crate has its
//! licences.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::{packages, root};

/// The files of Rust code in a folder, without those of tests.
fn code(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let of_tests = path.file_stem().is_some_and(|stem| stem == "tests");
        if of_tests {
        } else if path.is_dir() {
            found.extend(code(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The paths that a text includes as other texts or bytes, before its tests. Of a path that a macro puts
/// together, the part that is written.
fn included(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let calls = ["include_str!(", "include_bytes!("];
    let calls = calls.iter().flat_map(|call| code.split(call).skip(1));
    calls.filter_map(|rest| rest.split('"').nth(1)).collect()
}

/// A path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            part => plain.push(part),
        }
    }
    plain
}

#[test]
fn code_includes_files_of_its_own_crate_alone() {
    let mut outside = vec![];
    for package in packages().values() {
        for file in code(&package.folder.join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            for path in included(&text) {
                if !plain(&file.with_file_name(path)).starts_with(&package.folder) {
                    outside.push(format!("{}: {path}", file.display()));
                }
            }
        }
    }
    assert!(outside.is_empty(), "files of other crates: {outside:#?}");
    let text = "include_str!(concat!(\"../a/\", $file)) include_bytes!(\"b\") #[cfg(test)] include_str!(\"c\")";
    assert_eq!(included(text), ["../a/", "b"]);
    assert_eq!(plain(Path::new("/w/cli/src/../../a")), Path::new("/w/a"));
}

#[test]
fn packages_have_their_licences() {
    for (name, package) in packages() {
        let manifest = fs::read_to_string(package.folder.join("Cargo.toml")).unwrap();
        if manifest.contains("publish = false") {
            continue;
        }
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let own = fs::read(package.folder.join(licence));
            let of_all = fs::read(root().join(licence)).unwrap();
            assert!(own.is_ok_and(|own| own == of_all), "{name}: {licence}");
        }
    }
}
