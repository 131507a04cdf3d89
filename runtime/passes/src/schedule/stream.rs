//! `stream`: attaches reductions to the maps whose results they read, so that each client's result is
//! added up as soon as the client is done.
//!
//! The server then holds running sums of the size of one model instead of the models of the whole cohort.
//! This is possible for a map if nothing but such reductions reads its results.

use std::collections::HashSet;

use fedround_ir::fed::{FedOp, OpKind, OptOp, Value};

use super::plan::{Block, Compute, Item, Schedule};

/// Attaches reductions to the maps that feed them, in every block of the server.
pub fn stream(schedule: &mut Schedule) {
    in_block(&mut schedule.round, &schedule.segments);
}

fn in_block(block: &mut Block, segments: &[Compute]) {
    let mut i = 0;
    while i < block.items.len() {
        if let Some(taken) = reductions(block, i, segments) {
            let mut ops = vec![];
            for &j in taken.iter().rev() {
                if let (Item::Control(reduction), _) = block.items.remove(j) {
                    ops.insert(0, reduction.op);
                }
            }
            if let (Item::Control(map), _) = &mut block.items[i] {
                map.reductions = ops;
            }
        } else if let (Item::Control(control), _) = &mut block.items[i]
            && matches!(
                control.op.kind,
                OpKind::Opt(OptOp::Repeat) | OpKind::Fed(FedOp::InTurn)
            )
            && let Some(body) = &mut control.body
        {
            in_block(body, segments);
        }
        i += 1;
    }
}

/// Where the reductions are that take all that the `i`-th item, a map, gives.
fn reductions(block: &Block, i: usize, segments: &[Compute]) -> Option<Vec<usize>> {
    let (Item::Control(map), _) = &block.items[i] else {
        return None;
    };
    if map.op.kind != OpKind::Fed(FedOp::Map) || map.op.results.is_empty() {
        return None;
    }
    let results: HashSet<Value> = map.op.results.iter().copied().collect();
    let mut taken = vec![];
    for (j, (item, _)) in block.items.iter().enumerate().skip(i + 1) {
        let reads = item.reads(segments);
        if !reads.iter().any(|v| results.contains(v)) {
            continue;
        }
        match item {
            Item::Control(c)
                if matches!(c.op.kind, OpKind::Fed(FedOp::Reduce(reduce)) if reduce.is_sum())
                    && reads.iter().all(|v| results.contains(v)) =>
            {
                taken.push(j);
            }
            _ => return None,
        }
    }
    let escapes = block.yields.iter().any(|v| results.contains(v));
    (!taken.is_empty() && !escapes).then_some(taken)
}
