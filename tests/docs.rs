//! The guide's code is the example's code.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

use std::path::Path;

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
