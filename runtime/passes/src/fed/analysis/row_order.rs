//! Which values have a row for each of a client's examples, in the order of its data.

use std::collections::BTreeSet;

use fedround_ir::fed::{
    Analysis, ExternalOp, Kind, Module, Op, OpKind, OptOp, PrivacyOp, Region, Value, solve,
};

/// Features and labels of a linked module that are [collected](OptOp::Collect) of all of a client's
/// examples and only changed row by row since: row `i` is of the client's example `i`.
pub fn examples_in_order(module: &Module) -> BTreeSet<Value> {
    let facts = solve(module, &mut Order).into_iter();
    let ordered = facts.filter(|(_, fact)| *fact == Fact::Yes);
    let rows = |v: &Value| matches!(module.type_of(*v).kind, Kind::Tensor | Kind::Labels);
    ordered.map(|(v, _)| v).filter(rows).collect()
}

/// Where several values may flow, one that is in no order spoils it.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
enum Fact {
    #[default]
    Nothing,
    Yes,
    No,
}

struct Order;

/// Whether the rows that the code of a collection gives are those of its batch, each of its example:
/// columns, and what the model makes of them. Anything else may take rows to other places.
fn keeps_rows(collect: &Op) -> bool {
    let ops = |region: &Region| {
        region
            .ops
            .iter()
            .map(|op| op.kind.clone())
            .collect::<Vec<_>>()
    };
    collect.regions.iter().flat_map(ops).all(|kind| {
        !matches!(
            kind,
            OpKind::External(ExternalOp::Function(_))
                | OpKind::Opt(OptOp::DrawRows | OptOp::LeastRows | OptOp::ForRows(_))
        )
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
