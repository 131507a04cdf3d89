//! `fuse-maps`: a map over what another map gave becomes part of it, so that a client's results
//! are all at hand when it is done.
//!
//! FedAvg trains in one map and counts examples in another; fused, each client yields its model
//! with its weight, and the weighted mean can take them one client at a time (see
//! [`stream`](crate::tensor::stream)).

use fedround_ir::fed::{FedOp, Module, Op, OpKind, OptOp, Region, Value};

use super::rewrite::Replace;

/// Fuses maps of each block of the server; whether there were any.
///
/// A map moves up to the one that it reads from. It stays where another map lies between them,
/// which could change the client state that it reads, or where it walks batches, whose order
/// depends on how many maps came before.
pub fn fuse_maps(module: &mut Module) -> bool {
    let mut changed = false;
    for func in &mut module.funcs {
        changed |= in_region(&mut func.body);
    }
    changed
}

fn in_region(region: &mut Region) -> bool {
    let mut changed = false;
    let mut i = 0;
    while i < region.ops.len() {
        if region.ops[i].kind == OpKind::Fed(FedOp::Map) {
            if let Some(into) = producer(&region.ops, i) {
                let second = region.ops.remove(i);
                merge(&mut region.ops[into], second);
                changed = true;
                continue;
            }
        } else {
            for inner in &mut region.ops[i].regions {
                changed |= in_region(inner);
            }
        }
        i += 1;
    }
    changed
}

/// The map just before the `i`-th op, if that may become part of it.
fn producer(ops: &[Op], i: usize) -> Option<usize> {
    let second = &ops[i];
    let into = ops[..i]
        .iter()
        .rposition(|op| op.kind == OpKind::Fed(FedOp::Map))?;
    let reads = |v| ops[into].results.contains(v);
    let known = |v: &Value| !ops[into + 1..i].iter().any(|op| op.results.contains(v));
    let fuses = second.operands.iter().any(reads)
        && second.operands.iter().all(known)
        && second
            .regions
            .iter()
            .all(|region| reads_only(region, &known))
        && !second.regions.iter().any(walks_batches);
    fuses.then_some(into)
}

/// Whether code reads nothing but what is known before; on the server it may read values around it.
fn reads_only(region: &Region, known: &impl Fn(&Value) -> bool) -> bool {
    let ops = region.ops.iter();
    region.yields.iter().all(known)
        && ops.flat_map(|op| &op.operands).all(known)
        && region
            .ops
            .iter()
            .flat_map(|op| &op.regions)
            .all(|inner| reads_only(inner, known))
}

fn walks_batches(region: &Region) -> bool {
    region.ops.iter().any(|op| {
        matches!(
            op.kind,
            OpKind::Opt(OptOp::ForBatches | OptOp::OneBatch | OptOp::Collect)
        ) || op.regions.iter().any(walks_batches)
    })
}

fn merge(first: &mut Op, mut second: Op) {
    let (Some(body), Some(mut tail)) = (first.regions.first_mut(), second.regions.pop()) else {
        return;
    };
    let mut replace = Replace::default();
    let mut args = tail.args.iter();
    if let (Some(theirs), Some(client)) = (args.next(), body.args.first()) {
        replace.insert(*theirs, *client);
    }
    for (operand, &arg) in second.operands.iter().zip(args) {
        match first.results.iter().position(|r| r == operand) {
            Some(i) => replace.insert(arg, body.yields[i]),
            None => {
                first.operands.push(*operand);
                body.args.push(arg);
            }
        }
    }
    rename(&mut tail, &replace);
    body.ops.append(&mut tail.ops);
    body.yields.append(&mut tail.yields);
    first.results.append(&mut second.results);
}

fn rename(region: &mut Region, replace: &Replace) {
    for op in &mut region.ops {
        replace.apply(&mut op.operands);
        for inner in &mut op.regions {
            rename(inner, replace);
        }
    }
    replace.apply(&mut region.yields);
}

#[cfg(test)]
mod tests {
    use fedround::stage;
    use fedround_ir::fed::verify_linked;

    use super::*;
    use crate::fed::link;
    use crate::testing::FedAvg;

    #[test]
    fn training_and_counting_become_one_map() {
        let mut module = link(stage(&FedAvg::default()).unwrap()).unwrap().module;
        let maps = |m: &Module| {
            let ops = m.funcs[0].body.ops.iter();
            ops.filter(|op| op.kind == OpKind::Fed(FedOp::Map)).count()
        };
        assert_eq!(maps(&module), 2);
        assert!(fuse_maps(&mut module));
        verify_linked(&module).unwrap();
        assert_eq!(maps(&module), 1);
        assert!(!fuse_maps(&mut module));
    }
}
