//! The features with which Cargo compiles each dependency.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// For each package, the sets of features with which it is compiled. Programs that run while others are
/// compiled have sets of their own.
type Features = BTreeMap<String, BTreeSet<String>>;

/// The packages that `cargo run` compiles with features that `cargo test --workspace` does not: they are
/// compiled twice, and with them everything that depends on them.
pub fn compiled_twice() -> Vec<String> {
    let run = features(&["--edges", "normal,build"]);
    let test = features(&["--workspace", "--edges", "normal,build,dev"]);
    let others = run
        .into_iter()
        .filter(|(package, sets)| !sets.is_subset(&test[package]));
    others
        .map(|(package, sets)| format!("{package}: {sets:?}, and for tests {:?}", test[&package]))
        .collect()
}

/// The features that Cargo chooses for a command with these arguments.
fn features(arguments: &[&str]) -> Features {
    let mut found = Features::new();
    let tree = tree(&[&["--format", "{p}\t{f}"], arguments].concat());
    for line in tree.lines() {
        // `(*)` marks a package whose own dependencies are listed further up.
        let line = line.trim_end_matches(" (*)");
        let (package, features) = line.split_once('\t').unwrap_or((line, ""));
        // Without its folder and the word for a macro.
        let package = package.split(" (").next().unwrap_or(package);
        let sets = found.entry(package.to_owned()).or_default();
        sets.insert(features.to_owned());
    }
    found
}

/// What `cargo tree` prints, a package a line.
pub fn tree(arguments: &[&str]) -> String {
    let mut tree = Command::new(env!("CARGO"));
    tree.current_dir(super::root());
    tree.args(["tree", "--locked", "--offline", "--prefix", "none"]);
    let output = tree.args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}
