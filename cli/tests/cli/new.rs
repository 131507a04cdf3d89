//! New crates are the example that the docs show, under another name.

use std::fs;
use std::path::Path;

use crate::support::{Place, stderr};

const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn of_workspace(file: &str) -> String {
    fs::read_to_string(Path::new(WORKSPACE).join(file)).unwrap()
}

/// The example crate and the page of the docs, so what those hold, a new crate holds: it builds, and its
/// tests pass. Cargo builds the example with the workspace.
#[test]
fn a_new_crate_is_the_example() {
    let place = Place::new();
    place.write("fedround/Cargo.toml", b"");
    place.write("fedround/cli/Cargo.toml", b"");
    place.success("new lookahead --path fedround");
    let files = ["src/lookahead.rs", "src/main.rs", "src/tests.rs"];
    for file in files {
        let example = of_workspace(&format!("examples/my-algorithm/{file}"));
        assert_eq!(place.text(&format!("lookahead/{file}")), example, "{file}");
    }
    let snapshot =
        |crate_name: &str| format!("src/snapshots/{crate_name}__tests__graph_is_as_reviewed.snap");
    assert_eq!(
        place.text(&format!("lookahead/{}", snapshot("lookahead"))),
        of_workspace(&format!(
            "examples/my-algorithm/{}",
            snapshot("my_algorithm")
        ))
    );
    let manifest = place.text("lookahead/Cargo.toml");
    let guide = of_workspace("docs/first-algorithm.md");
    assert!(
        guide.contains(&format!("```toml\n{manifest}```")),
        "{manifest}"
    );
    for file in files {
        let text = place.text(&format!("lookahead/{file}"));
        assert!(guide.contains(&format!("```rust\n{text}```")), "{file}");
    }
}

#[test]
fn another_name_is_in_all_files() {
    let place = Place::new();
    let output = place.output("new fed-dyn");
    assert!(
        stderr(&output).contains("run feddyn"),
        "{}",
        stderr(&output)
    );
    let manifest: toml::Table = place.text("fed-dyn/Cargo.toml").parse().unwrap();
    assert_eq!(manifest["package"]["name"].as_str(), Some("fed-dyn"));
    let version = manifest["dependencies"]["fedround"].as_str();
    assert_eq!(version, Some(env!("CARGO_PKG_VERSION")));
    let spec = place.text("fed-dyn/src/fed_dyn.rs");
    assert!(spec.contains("pub struct FedDyn<A = FedAvg>"), "{spec}");
    assert!(
        place
            .text("fed-dyn/src/main.rs")
            .contains("use fed_dyn::FedDyn;")
    );
    assert!(
        place
            .text("fed-dyn/src/tests.rs")
            .contains("use crate::fed_dyn::FedDyn;")
    );
    let readme = place.text("fed-dyn/README.md");
    for part in [
        "# fed-dyn",
        "`src/fed_dyn.rs`",
        "-- run feddyn",
        "INSTA_UPDATE=always cargo test",
        "the tests line by line",
    ] {
        assert!(readme.contains(part), "{part}: {readme}");
    }
    // Every file that it names is there, and no placeholder is left.
    let named = readme.split('`').filter(|name| name.starts_with("src/"));
    for file in named {
        assert!(place.path(&format!("fed-dyn/{file}")).exists(), "{file}");
    }
    assert!(!readme.contains('{'), "{readme}");
    assert!(place.text("fed-dyn/.gitignore").contains("*.snap.new"));
    let snapshot = "fed-dyn/src/snapshots/fed_dyn__tests__graph_is_as_reviewed.snap";
    assert!(place.text(snapshot).contains("fed.algorithm @feddyn("));
}

/// A copy differs from the bundled file in names alone, and its graph is the bundled one's.
#[test]
fn a_copy_is_the_bundled_algorithm() {
    let place = Place::new();
    for (base, file, structure, own, plug_in) in [
        ("fedprox", "fed_prox", "FedProx", "MineFedprox", true),
        ("push-sum", "push_sum", "PushSum", "MinePushSum", false),
    ] {
        let name = format!("mine-{base}");
        place.success(&format!("new {name} --base {base}"));
        let module = name.replace('-', "_");
        let copy = place.text(&format!("{name}/src/{module}.rs"));
        let code = |text: &str| {
            let lines = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            lines.collect::<Vec<_>>().join("\n")
        };
        let back = code(&copy)
            .replace(own, structure)
            .replace("fedround::algorithms::", "crate::")
            .replace(&own.to_lowercase(), base);
        let bundled = of_workspace(&format!("algorithms/src/{file}.rs"));
        assert_eq!(back, code(&bundled), "{base}");
        assert!(
            copy.starts_with(bundled.lines().next().unwrap()),
            "its docs are kept"
        );
        let main = place.text(&format!("{name}/src/main.rs"));
        assert_eq!(main.contains("BoxedAlgorithm"), plug_in, "{main}");
        let snapshot = format!("{name}/src/snapshots/{module}__tests__graph_is_as_reviewed.snap");
        let snapshot = place.text(&snapshot);
        let graph = place.success(&format!("graph {base} --at linked"));
        let graph = graph.replace(&format!("@{base}("), &format!("@{}(", own.to_lowercase()));
        let graph = graph.replace(&format!("\"{base}."), &format!("\"{}.", own.to_lowercase()));
        assert!(snapshot.ends_with(&graph), "{snapshot}");
        let readme = place.text(&format!("{name}/README.md"));
        assert!(readme.contains("by another algorithm"), "{readme}");
        assert!(!readme.contains("line by line"), "{readme}");
    }
}

#[test]
fn what_cannot_be_made_is_said_and_nothing_is_written() {
    let place = Place::new();
    place.write("taken/notes.txt", b"mine");
    for (line, expected) in [
        ("new taken", "taken exists already"),
        ("new Fed", "`Fed` is no name of a crate"),
        ("new ../fed", "expected lower-case letters"),
        ("new match", "`match` is a word of Rust"),
        (
            "new fed-prox",
            "`fed-prox` is a bundled algorithm, expected another name",
        ),
        ("new server", "`server` is a word that the crate uses"),
        ("new fedround", "`fedround` is a word that the crate uses"),
        ("new mine --base fedprx", "did you mean `fedprox`?"),
        ("new mine --base adcol", "those that can are fedavg, "),
        (
            "new mine --path data",
            "is no checkout of fedround: expected Cargo.toml in it",
        ),
    ] {
        let error = place.failure(line, 1);
        assert!(error.contains(expected), "{line}: {error}");
    }
    assert_eq!(place.files("taken"), ["notes.txt"]);
    assert_eq!(place.files("."), ["data", "taken"]);
}
