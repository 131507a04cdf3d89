//! The values that a loop carries from one iteration to the next.

use fedround_ir::fed::{OpKind, OptOp, Value};

use super::plan::{Block, Control, Item, Schedule};

/// A value that a loop carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopCarried {
    /// The value before the loop.
    pub first: Value,
    /// The argument of the body.
    pub read: Value,
    /// The value that the body yields.
    pub next: Value,
}

/// The values that a loop carries whose body computes in one segment, of that segment; nothing for a
/// segment that is no such body.
pub fn loop_carried(schedule: &Schedule, segment: usize) -> Vec<LoopCarried> {
    let found = body_of(&schedule.round, segment);
    let Some((op, body)) = found.and_then(|c| Some((&c.op, c.body.as_ref()?))) else {
        return vec![];
    };
    // Operands and arguments end with what is carried.
    let count = op.results.len();
    let last = |values: &[Value]| values[values.len().saturating_sub(count)..].to_vec();
    let both = last(&op.operands).into_iter().zip(last(&body.args));
    both.zip(&body.yields)
        .map(|((first, read), &next)| LoopCarried { first, read, next })
        .collect()
}

fn is_loop(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Opt(OptOp::ForBatches | OptOp::ForRows(_) | OptOp::Repeat)
    )
}

/// The loop whose body computes in this segment alone.
fn body_of(block: &Block, segment: usize) -> Option<&Control> {
    let inner = block.items.iter().filter_map(|(item, _)| match item {
        Item::Control(control) => Some(&**control),
        Item::Compute(_) => None,
    });
    for control in inner {
        let Some(body) = &control.body else { continue };
        let mut own = body.items.iter().filter_map(|(item, _)| match item {
            Item::Compute(i) => Some(*i),
            Item::Control(_) => None,
        });
        let alone = own.next() == Some(segment) && own.next().is_none();
        if alone && is_loop(&control.op.kind) {
            return Some(control);
        }
        if let Some(found) = body_of(body, segment) {
            return Some(found);
        }
    }
    None
}
