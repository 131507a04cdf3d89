//! Graphs for [Graphviz](https://graphviz.org): `fedround graph … --format dot | dot -Tpdf`.
//!
//! A fed module has a cluster for each function and each region; a tensor graph has one for each
//! phase of a training step. Edges are values, labelled with what they carry. Where several values go into
//! a node or come out of it, the ends of their edges have their numbers, from 1; edges into sums and
//! products have none.

mod fed;
mod tensor;

pub use fed::module;
pub use tensor::sheets;

/// A quoted string of the dot language, its lines centred.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

/// The numbers at an edge's ends: which of the values of the node that it leaves, and which operand of the one
/// that it goes to. Both count from 0, and the drawing from 1.
fn ends(result: Option<usize>, operand: Option<usize>) -> String {
    let end = |name: &str, index: Option<usize>| {
        let number = index.map(|index| format!(", {name}=\"{}\"", index + 1));
        number.unwrap_or_default()
    };
    end("taillabel", result) + &end("headlabel", operand)
}

/// What every drawing starts with.
fn head(name: &str) -> String {
    format!(
        "digraph {} {{
  rankdir=TB; compound=true; fontname=\"Helvetica\"; fontsize=11;
  node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", fontname=\"Helvetica\", fontsize=10, height=0.3];
  edge [fontname=\"Helvetica\", fontsize=8, color=\"#5b6775\", arrowsize=0.6];
",
        quoted(name)
    )
}
