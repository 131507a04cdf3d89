//! Every op of the dialect runs, and `docs/ops.md` says what is known of it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

use std::fmt::Write as _;
use std::path::Path;

use burn::tensor::{Device, DispatchTensor, Shape, TensorData};
use burn_backend::TensorMetadata;
use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_dispatch::Dispatch;
use fedround_exec::has_own_kernel;
use fedround_exec::plan::Plan;
use fedround_exec::run::Slots;
use fedround_ir::tensor::{DType, Graph, Op, TensorType, Val};
use fedround_passes::tensor::batch::Rule;
use fedround_passes::tensor::coverage;
use fedround_passes::tensor::coverage::{Coverage, Gradient};

/// Positive floats, indices 0 and 1, alternating masks.
fn operand(ty: &TensorType, device: &Device) -> DispatchTensor {
    let (n, shape, device) = (
        ty.len(),
        Shape::from(ty.shape.clone()),
        device.as_dispatch(),
    );
    match ty.dtype {
        DType::F32 => {
            let values: Vec<f32> = (0..n).map(|i| 0.5 + (i % 7) as f32 / 8.0).collect();
            Dispatch::float_from_data(TensorData::new(values, shape), device)
        }
        DType::I32 => {
            let values: Vec<i32> = (0..n).map(|i| (i % 2) as i32).collect();
            Dispatch::int_from_data(TensorData::new(values, shape), device)
        }
        DType::Bool => {
            let values: Vec<bool> = (0..n).map(|i| i % 2 == 0).collect();
            Dispatch::bool_from_data(TensorData::new(values, shape), device)
        }
    }
}

#[test]
fn every_op_runs_and_gives_what_the_dialect_says() {
    let device = Device::default();
    for Coverage { example, .. } in coverage().unwrap() {
        let op = &example.nodes[0].op;
        // Random numbers are drawn by the caller.
        if matches!(op, Op::Random(..)) {
            continue;
        }
        let inputs = example.inputs.iter();
        let inputs = inputs.map(|(_, v)| operand(example.type_of(*v), &device));
        let outputs = Plan::new(&example)
            .run(device.as_dispatch(), inputs, &mut Slots::default())
            .unwrap();
        for (found, (_, v)) in outputs.iter().zip(&example.outputs) {
            let ty = example.type_of(*v);
            let name = op.name();
            assert_eq!(found.shape().as_slice(), ty.shape, "{name}");
            let same = match ty.dtype {
                DType::F32 => found.dtype() == burn::tensor::DType::F32,
                DType::I32 => found.dtype() == burn::tensor::DType::I32,
                DType::Bool => found.dtype().is_bool(),
            };
            assert!(same, "{name} gives {:?}", found.dtype());
        }
    }
}

const START: &str =
    "<!-- table: made by `UPDATE_DOCS=1 cargo test -p fedround-exec --test ops` -->\n";
const END: &str = "<!-- end of the table -->\n";

#[test]
fn the_docs_table_is_what_the_passes_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ops.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(START).unwrap();
    let (found, after) = rest.split_once(END).unwrap();
    let expected = table();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{START}{expected}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(found, expected, "docs/ops.md is out of date: {START}");
}

fn table() -> String {
    let mut out =
        String::from("\n| op | for example | gradient | clients | CPU |\n|---|---|---|---|---|\n");
    for c in coverage().unwrap() {
        let node = &c.example.nodes[0];
        _ = writeln!(
            out,
            "| `{}` | `{} -> {}` | {} | {} | {} |",
            node.op.name(),
            types(&c.example, &node.ins),
            types(&c.example, &node.outs),
            gradient(&c),
            match c.batching {
                Rule::Broadcast => "broadcast",
                Rule::Shifted => "shifted",
                Rule::Merged => "merged",
                Rule::Loop => "loop",
            },
            match node.op {
                Op::Random(..) => "input",
                _ if has_own_kernel(&node.op) => "own",
                _ => "burn",
            },
        );
    }
    out + "\n"
}

fn types(graph: &Graph, values: &[Val]) -> String {
    let types: Vec<String> = values
        .iter()
        .map(|v| graph.type_of(*v).to_string())
        .collect();
    match types.as_slice() {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    }
}

/// "yes" where it flows to all floats among the operands, else the operands that it flows to.
fn gradient(c: &Coverage) -> String {
    let operands = &c.example.nodes[0].ins;
    let floats = |i: &usize| c.example.type_of(operands[*i]).dtype == DType::F32;
    match &c.gradient {
        Gradient::To(to) if *to == (0..operands.len()).filter(floats).collect::<Vec<_>>() => {
            "yes".to_owned()
        }
        Gradient::To(to) => {
            let to: Vec<String> = to.iter().map(|i| (i + 1).to_string()).collect();
            format!("operand {}", to.join(", "))
        }
        Gradient::Flat => "flat".to_owned(),
        Gradient::None => "none".to_owned(),
    }
}
