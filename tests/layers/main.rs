//! The shape of the workspace: which crate may use which, no import circles between files, one build of
//! each dependency, and a book whose links lead somewhere.
//!
//! A crate depends on crates of lower layers alone. Within a crate, a file that uses another one is
//! not used by it, directly or through others; only a module and the file that declares it may use
//! each other.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

mod book;
mod circles;
mod features;
mod included_files;
mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use circles::circles;
use features::{compiled_twice, tree};
use modules::Crate;

/// The crates from the lowest layer to the highest. Those of one layer do not depend on each other.
const LAYERS: &[&[&str]] = &[
    &[
        "fedround-names",
        "fedround-kernels",
        "fedround-metrics",
        "fedround-random",
        "fedround-store",
    ],
    &[
        "fedround-codec",
        "fedround-flower",
        "fedround-ir",
        "fedround-macros-core",
        "fedround-models",
        "fedround-data",
    ],
    &["fedround-macros", "fedround-passes"],
    &["fedround-dsl", "fedround-draw"],
    &["fedround-algorithms", "fedround-trace"],
    &["fedround-exec"],
    &["fedround-simulation"],
    &["fedround"],
    &["fedround-cli"],
    // What a user would write.
    &["fedround-ui-tests", "graph-snapshots", "my-algorithm"],
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A package of the workspace: its folder and the packages of the workspace that it depends on.
struct Package {
    folder: PathBuf,
    dependencies: BTreeSet<String>,
}

/// The root's manifest and those of its members.
fn packages() -> BTreeMap<String, Package> {
    let manifest = |folder: &Path| -> toml::Table {
        let text = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        text.parse().unwrap()
    };
    let workspace = manifest(root());
    let members = workspace["workspace"]["members"].as_array().unwrap();
    let members = members
        .iter()
        .map(|member| root().join(member.as_str().unwrap()));
    let folders = std::iter::once(root().to_owned()).chain(members);
    let package = |folder: PathBuf| {
        let manifest = manifest(&folder);
        let name = manifest["package"]["name"].as_str().unwrap().to_owned();
        let dependencies = manifest.get("dependencies").and_then(|all| all.as_table());
        let renamed = |(name, value): (&String, &toml::Value)| {
            let package = value.get("package").and_then(|package| package.as_str());
            package.unwrap_or(name).to_owned()
        };
        let dependencies = dependencies.into_iter().flatten().map(renamed);
        let dependencies = dependencies
            .filter(|name| name.starts_with("fedround"))
            .collect();
        (
            name,
            Package {
                folder,
                dependencies,
            },
        )
    };
    folders.map(package).collect()
}

#[test]
fn crates_depend_on_lower_layers_alone() {
    let layer = |name: &str| {
        let found = LAYERS.iter().position(|layer| layer.contains(&name));
        found.unwrap_or_else(|| panic!("`{name}` has no layer yet: give it one in LAYERS"))
    };
    let mut upward = vec![];
    for (name, package) in packages() {
        for dependency in &package.dependencies {
            if layer(dependency) >= layer(&name) {
                upward.push(format!("{name} -> {dependency}"));
            }
        }
    }
    assert!(
        upward.is_empty(),
        "dependencies on the same or a higher layer: {upward:#?}"
    );
}

#[test]
fn every_layer_names_crates_that_exist() {
    let packages = packages();
    let named = LAYERS.iter().copied().flatten();
    let gone: Vec<_> = named
        .filter(|name| !packages.contains_key(**name))
        .collect();
    assert!(
        gone.is_empty(),
        "crates that are no members any more: {gone:?}"
    );
}

/// The crates that a build of the library compiles, with these features.
fn library(features: &str) -> BTreeSet<String> {
    let of_library = ["--package", "fedround", "--edges", "normal"];
    let crates = tree(
        &[
            &of_library[..],
            &["--format", "{lib}", "--features", features],
        ]
        .concat(),
    );
    crates.lines().map(str::to_owned).collect()
}

/// An argument parser, a progress bar, an HTTP client, a plotter, an allocator and a handler of signals
/// belong to the command. Only the connection to a SuperLink needs an HTTP client.
#[test]
fn the_library_has_no_crate_of_the_command() {
    const OF_THE_COMMAND: [&str; 8] = [
        "clap",
        "comfy_table",
        "indicatif",
        "maud",
        "mimalloc",
        "plotters",
        "signal_hook",
        "ureq",
    ];
    let found = |features: &str| {
        let library = library(features);
        assert!(library.contains("fedround_simulation"), "{library:?}");
        let found = OF_THE_COMMAND
            .into_iter()
            .filter(|name| library.contains(*name));
        found.collect::<Vec<_>>()
    };
    assert_eq!(found(""), Vec::<&str>::new());
    assert_eq!(found("flower"), ["ureq"]);
}

#[test]
fn runs_and_tests_share_one_build() {
    let found = compiled_twice();
    assert!(
        found.is_empty(),
        "compiled once for `cargo run` and again for `cargo test`: name the features that only tests need in \
         `cli/Cargo.toml` too:\n{}",
        found.join("\n")
    );
}

#[test]
fn files_do_not_import_in_circles() {
    let mut found = vec![];
    for (name, package) in packages() {
        for file in ["src/lib.rs", "src/main.rs"] {
            let file = package.folder.join(file);
            if file.exists() {
                let of_crate = circles(&Crate::read(&file).imports());
                found.extend(
                    of_crate
                        .into_iter()
                        .map(|circle| format!("{name}: {circle}")),
                );
            }
        }
    }
    assert!(
        found.is_empty(),
        "files that import each other:\n{}",
        found.join("\n")
    );
}

/// The check itself finds a circle, also one through a re-export, and lets a module and its parent be.
#[test]
fn a_circle_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("lib.rs", "mod a;\nmod b;\nmod c;\npub struct Top;\n");
    write(
        "a.rs",
        "use crate::c::{Deep, Shallow};\npub fn a(_: Deep) {}\n",
    );
    write("b.rs", "pub fn b() -> crate::Top { crate::a::a() }\n");
    write(
        "c/mod.rs",
        "mod deep;\npub use deep::Deep;\npub struct Shallow;\n",
    );
    write(
        "c/deep.rs",
        "use super::Shallow;\npub struct Deep(Shallow);\n",
    );
    let read = || circles(&Crate::read(&folder.path().join("lib.rs")).imports());
    assert_eq!(read(), Vec::<String>::new());
    write(
        "c/deep.rs",
        "pub struct Deep;\nfn back() { crate::b::b(); }\n",
    );
    assert_eq!(read(), ["a.rs -> c/deep.rs -> b.rs -> a.rs"]);
}
