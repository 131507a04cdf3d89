//! The printer of tensor graphs.

use std::fmt::Write as _;

use super::{Graph, Node, Op, Val};
use crate::text::attribute::AttributeText;
use crate::text::lexer::{label, written};

impl Graph {
    /// The graph's text for snapshots, with values renumbered in order of definition. Float
    /// literals print as `_` unless they are small whole numbers, so that a snapshot does not
    /// depend on `1/N`.
    pub fn text(&self, name: &str) -> String {
        Printer::new(self, false).graph(name)
    }

    /// The graph's text with every literal, which [`parse`](super::parse()) can read back. The header
    /// line is not included: it stands once above the first graph of a text.
    pub fn exact_text(&self, name: &str) -> String {
        Printer::new(self, true).graph(name)
    }
}

struct Printer<'g> {
    graph: &'g Graph,
    exact: bool,
    names: Vec<String>,
    next: usize,
}

impl<'g> Printer<'g> {
    fn new(graph: &'g Graph, exact: bool) -> Self {
        let mut names = vec!["%undefined".to_owned(); graph.types.len()];
        for (input, val) in &graph.inputs {
            names[val.0 as usize] = written(input);
        }
        Self {
            graph,
            exact,
            names,
            next: 0,
        }
    }

    fn graph(mut self, name: &str) -> String {
        let mut out = format!("tensor.graph @{name}(\n");
        let inputs = self.graph.inputs.iter();
        let inputs: Vec<String> = inputs
            .map(|(_, v)| format!("{}: {}", self.names[v.0 as usize], self.graph.type_of(*v)))
            .collect();
        // Writing to a `String` cannot fail.
        for chunk in inputs.chunks(3) {
            _ = writeln!(out, "    {},", chunk.join(", "));
        }
        out.push_str(") {\n");
        for node in &self.graph.nodes {
            let node = self.node(node);
            _ = writeln!(out, "  {node}");
        }
        for (name, val) in &self.graph.outputs {
            let value = &self.names[val.0 as usize];
            _ = writeln!(out, "  return {} = {value}", label(name));
        }
        out.push_str("}\n");
        out
    }

    fn node(&mut self, node: &Node) -> String {
        for v in &node.outs {
            self.names[v.0 as usize] = format!("%{}", self.next);
            self.next += 1;
        }
        let types = node.outs.iter().map(|v| self.graph.type_of(*v).to_string());
        let types: Vec<String> = types.collect();
        let ins = self.list(&node.ins);
        format!(
            "{} = tensor.{}{}{}{ins} : {}",
            self.list(&node.outs),
            node.op.name(),
            self.attributes(&node.op),
            if ins.is_empty() { "" } else { " " },
            types.join(", "),
        )
    }

    /// The attributes of an op, such as `[dim 1]`.
    fn attributes(&self, op: &Op) -> String {
        let mut text = AttributeText {
            entries: Vec::new(),
            exact: self.exact,
        };
        op.write_attributes(&mut text);
        if text.entries.is_empty() {
            return String::new();
        }
        format!("[{}]", text.entries.join(", "))
    }

    fn list(&self, vals: &[Val]) -> String {
        let names = vals.iter().map(|v| self.names[v.0 as usize].as_str());
        names.collect::<Vec<_>>().join(", ")
    }
}
