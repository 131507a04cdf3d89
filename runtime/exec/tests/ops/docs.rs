//! The table of `docs/ops.md`.

use std::fmt::Write as _;
use std::path::Path;

use fedround_exec::ops::has_own_kernel;
use fedround_ir::tensor::{DType, Graph, Op, Val};
use fedround_passes::tensor::BatchingRule;
use fedround_passes::tensor::coverage;
use fedround_passes::tensor::{Coverage, Gradient};

const START: &str =
    "<!-- table: made by `UPDATE_DOCS=1 cargo test -p fedround-exec --test exec ops` -->\n";
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
                BatchingRule::Broadcast => "broadcast",
                BatchingRule::Shifted => "shifted",
                BatchingRule::Merged => "merged",
                BatchingRule::Loop => "loop",
            },
            match node.op {
                Op::Random(..) => "input",
                _ if has_own_kernel(&node.op) => "own",
                _ if node.op.is_elementwise() => "fused",
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
