//! Finds values that have one row per example of a client, in the order of the client's data.

use std::collections::BTreeSet;

use fedround_ir::fed::{Analysis, ExternalOp, Module, Op, OpKind, OptOp, PrivacyOp, Value, solve};

/// Features and labels of a linked module that are [collected](OptOp::Collect) of all of a client's
/// examples and only changed row by row since: row `i` is of the client's example `i`.
pub fn examples_in_order(module: &Module) -> BTreeSet<Value> {
    let facts = solve(module, &mut Order).into_iter();
    let ordered = facts.filter(|(_, fact)| *fact == Fact::Yes);
    let rows = |v: &Value| module.type_of(*v).kind.has_rows();
    ordered.map(|(v, _)| v).filter(rows).collect()
}

/// Whether rows are in order. If several values may flow to one place, all of them must be.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
enum Fact {
    #[default]
    Nothing,
    Yes,
    No,
}

struct Order;

/// Whether the code of a collection keeps the rows of its batch in order. Columns and functions of the
/// model do; a registered function, a draw, a selection or a loop over rows may change the order.
fn keeps_rows(collect: &Op) -> bool {
    !collect.contains(|op| match &op.kind {
        OpKind::External(ExternalOp::Function(_))
        | OpKind::Opt(OptOp::SampleRows | OptOp::SmallestRows | OptOp::ForRows(_)) => true,
        OpKind::Opt(
            OptOp::ForBatches | OptOp::OneBatch | OptOp::Collect | OptOp::Repeat | OptOp::Grad,
        )
        | OpKind::External(ExternalOp::Column(..) | ExternalOp::Apply(_) | ExternalOp::Loss(_))
        | OpKind::Fed(_)
        | OpKind::Arith(_)
        | OpKind::Tree(_)
        | OpKind::Privacy(_) => false,
    })
}

impl Analysis for Order {
    type Fact = Fact;

    fn argument(&self) -> Fact {
        Fact::No
    }

    fn join(&self, a: &Fact, b: &Fact) -> Fact {
        if a < b { *b } else { *a }
    }

    fn transfer(&mut self, op: &Op, inputs: &[Fact]) -> Fact {
        match op.kind {
            OpKind::Opt(OptOp::Collect) if keeps_rows(op) => Fact::Yes,
            OpKind::Privacy(
                PrivacyOp::Release(_)
                | PrivacyOp::ClipRows
                | PrivacyOp::L1Rows
                | PrivacyOp::Noise
                | PrivacyOp::Laplace,
            ) => inputs.first().copied().unwrap_or_default(),
            _ => Fact::No,
        }
    }
}
