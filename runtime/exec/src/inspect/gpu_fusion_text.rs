//! Prints fused graphs: values are numbered in order of appearance, with their shapes, and constants are left
//! out.

use std::collections::HashMap;
use std::fmt::Write as _;

use burn_ir::{OperationIr, TensorId, TensorIr};

use super::gpu_fusion::{FusedGraph, FusionError};
use crate::program::Program;

impl Program {
    /// The text of the fused graphs for a batch size and one client: the blocks of ops, in the order in which
    /// they ran.
    ///
    /// # Errors
    ///
    /// See [`FusionError`].
    pub fn fused_text(&self, batch: usize) -> Result<String, FusionError> {
        let graphs = self.fused(batch, 1)?;
        let texts: Vec<String> = graphs.iter().map(FusedGraph::text).collect();
        Ok(format!("// fedround fused v1\n{}", texts.join("\n")))
    }
}

impl FusedGraph {
    /// The graph's text.
    pub fn text(&self) -> String {
        let (ops, kernels) = (self.ops(), self.kernels());
        let mut out = format!("fused @{} ops {ops} kernels {kernels} {{\n", self.name);
        let mut names = ValueNames::default();
        for (block, launches) in self.blocks.iter().zip(self.launches()) {
            let fused = block.ops.len() > 1;
            let indent = if fused { "    " } else { "  " };
            if fused {
                out.push_str("  fused {\n");
            }
            for op in &block.ops {
                let ins: Vec<String> = op.inputs().map(|t| names.of(t)).collect();
                let outs: Vec<String> = op.outputs().map(|t| names.of(t)).collect();
                let types: Vec<String> = op.outputs().map(ty).collect();
                let line = format!("{} = {} {}", outs.join(", "), name(op), ins.join(", "));
                let copies = launches && !fused && name(op) == "reshape";
                let copies = if copies { " (a copy)" } else { "" };
                let types = types.join(", ");
                _ = writeln!(out, "{indent}{} : {types}{copies}", line.trim_end());
            }
            if fused {
                out.push_str("  }\n");
            }
        }
        out.push_str("}\n");
        out
    }
}

/// The number of each value, in order of first appearance.
#[derive(Default)]
struct ValueNames(HashMap<TensorId, usize>);

impl ValueNames {
    fn of(&mut self, t: &TensorIr) -> String {
        let next = self.0.len();
        format!("%{}", self.0.entry(t.id).or_insert(next))
    }
}

fn ty(t: &TensorIr) -> String {
    let dtype = format!("{:?}", t.dtype).to_lowercase();
    // `Bool` has a width in parentheses, which depends on the device.
    let dtype = dtype.split('(').next().unwrap_or_default();
    let dims: Vec<String> = t.shape.iter().map(ToString::to_string).collect();
    format!("{dtype}[{}]", dims.join(", "))
}

/// burn's name of an op, without the element type, which the type of the result shows.
fn name(op: &OperationIr) -> String {
    let debug = match op {
        OperationIr::BaseFloat(op) | OperationIr::BaseInt(op) | OperationIr::BaseBool(op) => {
            format!("{op:?}")
        }
        OperationIr::NumericFloat(_, op) | OperationIr::NumericInt(_, op) => format!("{op:?}"),
        OperationIr::Bool(op) => format!("{op:?}"),
        OperationIr::Int(op) => format!("{op:?}"),
        OperationIr::Float(_, op) => format!("{op:?}"),
        OperationIr::Module(op) => format!("{op:?}"),
        OperationIr::Init(_) => "Init".to_owned(),
        OperationIr::Custom(op) => op.id.clone(),
        OperationIr::Drop(_) => "Drop".to_owned(),
        OperationIr::Distributed(op) => format!("{op:?}"),
        OperationIr::Activation(op) => format!("{op:?}"),
    };
    snake(debug.split(['(', '{', ' ']).next().unwrap_or_default())
}

fn snake(camel: &str) -> String {
    let mut out = String::new();
    for (i, c) in camel.chars().enumerate() {
        if c.is_uppercase() && i > 0 {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::snake;

    #[test]
    fn names_are_as_in_the_other_texts() {
        for (camel, name) in [
            ("MulScalar", "mul_scalar"),
            ("Add", "add"),
            ("Conv2d", "conv2d"),
        ] {
            assert_eq!(snake(camel), name);
        }
    }
}
