//! The guide's code is the example's code, and the drawing in the docs that of FedAvg.

use std::path::Path;

use fedround::algorithms::FedAvg;
use fedround::draw::svg;
use fedround::exec::Program;
use fedround::models::{Losses, Task, find};
use fedround::testing::{Stage, graph_text};
use fedround::trace::TracedModel;

/// The fenced block after a line that names its file, as in "`src/main.rs`:".
fn block<'a>(guide: &'a str, file: &str) -> Option<&'a str> {
    let (_, after) = guide.split_once(&format!("`{file}`:\n\n```rust\n"))?;
    Some(after.split_once("```")?.0)
}

#[test]
fn the_first_algorithm_is_the_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let guide = read("docs/first-algorithm.md");
    for file in ["src/lookahead.rs", "src/main.rs", "src/tests.rs"] {
        let code = read(&format!("examples/my-algorithm/{file}"));
        assert_eq!(block(&guide, file), Some(&*code), "{file}");
    }
    let snapshot = "src/snapshots/my_algorithm__tests__graph_is_as_reviewed.snap";
    let snapshot = read(&format!("examples/my-algorithm/{snapshot}"));
    let graph = snapshot.splitn(3, "---\n").nth(2).unwrap();
    assert!(guide.contains(graph.trim_end()), "the graph is another");
}

#[test]
fn the_servers_work_is_compiled_as_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let (guide, file) = (read("docs/server-work.md"), "tests/common/adversary.rs");
    assert_eq!(block(&guide, file), Some(&*read(file)));
    for stage in [Stage::Box, Stage::Wire] {
        let text = graph_text(&crate::common::adversary::Adversary::default(), stage).unwrap();
        assert!(guide.contains(&format!("```text\n{text}```")), "{text}");
    }
}

/// The calls of a line of "What the language has" are in the specs that it links to.
#[test]
fn specs_use_what_the_language_has() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = std::fs::read_to_string(root.join("docs/specs.md")).unwrap();
    let (_, table) = guide.split_once("## What the language has").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1);
    let rows: Vec<Vec<&str>> = rows.map(|line| line.split('|').collect()).collect();
    assert!(rows.len() > 30, "{}", rows.len());
    for row in rows {
        let (name, calls, specs) = (row[1], row[2], row[4]);
        let files = specs.split("](..").skip(1).map(|link| {
            let path = link.split(')').next().unwrap();
            let path = root.join(path.trim_start_matches('/'));
            std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        });
        let code: String = files.collect();
        assert!(!code.is_empty(), "{name}: no spec");
        for call in calls.split('`').skip(1).step_by(2) {
            assert!(
                code.contains(call.trim_end_matches("()")),
                "{name}: `{call}` is not used"
            );
        }
    }
}

/// The tables of losses and functions have each of them, and no other.
#[test]
fn the_bundled_losses_are_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = std::fs::read_to_string(root.join("docs/specs.md")).unwrap();
    let (_, tables) = guide
        .split_once("### Bundled losses and functions")
        .unwrap();
    let (tables, _) = tables.split_once("\n## ").unwrap();
    let rows = tables.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut listed: Vec<&str> = rows.filter_map(|row| row.split('(').next()).collect();
    // Debug shows the names of both.
    let registered = format!("{:?}", Losses::default());
    let mut names: Vec<&str> = registered.split('"').skip(1).step_by(2).collect();
    listed.sort_unstable();
    names.sort_unstable();
    assert_eq!(listed, names);
}

#[test]
fn the_drawing_of_fed_avg_is_current() {
    let task = Task {
        input: [1, 28, 28],
        classes: 10,
    };
    let model = find("2nn").unwrap().build(task, &Default::default());
    let tracer = TracedModel::new("2nn", model.unwrap(), task, Losses::default());
    let program = Program::compile(&FedAvg::default(), tracer).unwrap();
    let drawing = svg::module(program.linked(), Some(&program));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/fedavg.svg");
    let kept = std::fs::read_to_string(path).unwrap();
    assert!(
        kept == drawing,
        "docs/fedavg.svg is another drawing; renew it by `fedround graph fedavg --format svg > docs/fedavg.svg`"
    );
}
