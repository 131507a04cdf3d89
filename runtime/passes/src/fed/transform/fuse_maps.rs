//! `fuse-maps`: merges a map with an earlier map whose results it reads, so that all results of a client
//! are available as soon as the client is done.
//!
//! FedAvg trains in one map and counts examples in another. After the pass, each client yields its model
//! together with its weight, and the weighted mean can add up one client after another (see
//! [`stream`](crate::schedule::stream)).

use std::collections::HashSet;

use fedround_ir::fed::{FedOp, Module, Op, OpKind, OptOp, Region, Value};

use super::rewrite::Replace;
use crate::fed::analysis::{reads_called, uncalled};

/// Fuses maps in each block of the server. Returns whether there were any.
///
/// A map moves up to the map that it reads from. It stays if another map is between the two, also one in a
/// loop, which could change client state that it reads, if it loops over batches, whose order depends on
/// the number of maps before it, and if it differentiates by a value of the other map, whose running statistics
/// a forward pass would advance.
pub fn fuse_maps(module: &mut Module) -> bool {
    let mut changed = false;
    let uncalled = uncalled(module);
    for func in &mut module.funcs {
        changed |= in_region(&mut func.body, &uncalled);
    }
    changed
}

fn in_region(region: &mut Region, uncalled: &HashSet<Value>) -> bool {
    let mut changed = false;
    let mut i = 0;
    while i < region.ops.len() {
        if is_map(&region.ops[i]) {
            if let Some(into) = producer(&region.ops, i, uncalled) {
                let second = region.ops.remove(i);
                merge(&mut region.ops[into], second);
                changed = true;
                continue;
            }
        } else {
            for inner in &mut region.ops[i].regions {
                changed |= in_region(inner, uncalled);
            }
        }
        i += 1;
    }
    changed
}

/// The map just before the `i`-th op, if that may become part of it.
fn producer(ops: &[Op], i: usize, uncalled: &HashSet<Value>) -> Option<usize> {
    let second = &ops[i];
    let into = ops[..i].iter().rposition(|op| op.contains(is_map))?;
    if !is_map(&ops[into]) {
        return None;
    }
    let reads = |v| ops[into].results.contains(v);
    let known = |v: &Value| !ops[into + 1..i].iter().any(|op| op.results.contains(v));
    // A gradient advances the running statistics of its value, and would do so to what the first map yields.
    let advanced = second.differentiated();
    let args = second.regions.iter().flat_map(|r| r.args.iter().skip(1));
    let advances = args
        .zip(&second.operands)
        .any(|(arg, v)| advanced.contains(arg) && reads(v));
    // The results of a map over uncalled clients are of all of them, also where another map reads them beside
    // values of called clients.
    let fuses = !advances
        && reads_called(&ops[into], uncalled) == reads_called(second, uncalled)
        && second.operands.iter().any(reads)
        && second.operands.iter().all(known)
        // On the server, code may read values around it.
        && second.regions.iter().flat_map(Region::reads).all(|v| known(&v))
        && !second.contains(walks_batches);
    fuses.then_some(into)
}

fn is_map(op: &Op) -> bool {
    op.kind == OpKind::Fed(FedOp::Map)
}

fn walks_batches(op: &Op) -> bool {
    matches!(
        op.kind,
        OpKind::Opt(OptOp::ForBatches | OptOp::OneBatch | OptOp::Collect)
    )
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

    /// A forward pass in the gradient would move the running statistics of what the first map yields.
    #[test]
    fn a_map_that_differentiates_by_the_result_of_another_stays() {
        use crate::testing::{Closure, linked};
        use fedround::Definer;
        use fedround::prelude::grad;

        let mut module = linked(&Closure(|m: &mut Definer| {
            m.round(|server, w| {
                let w_k = w.broadcast(&server.all_clients()).map(|_, w| 2.0 * w);
                let a_k = w_k.map(|_, w| grad(&w, |w| w.sq_norm()).sq_norm());
                w_k.weighted_mean_by(&a_k)
            });
        }));
        assert!(!fuse_maps(&mut module));
        verify_linked(&module).unwrap();
    }

    #[test]
    fn a_map_stays_behind_maps_in_a_loop() {
        use crate::testing::{Closure, linked};
        use fedround::__private::{for_each, range};
        use fedround::Definer;

        let mut module = linked(&Closure(|m: &mut Definer| {
            m.round(|server, w| {
                let all = server.all_clients();
                let a_k = w.broadcast(&all).map(|_, w| 2.0 * w);
                // It changes a state that the last map reads.
                let _ = for_each(range(2), (w.clone(),), |(), (x,)| {
                    let x_k = x.broadcast(&all).map(|k, x| {
                        k.set_state("c", &x);
                        x
                    });
                    (x_k.mean(),)
                });
                a_k.map(|k, a| a + k.state("c")).mean()
            });
        }));
        assert!(!fuse_maps(&mut module));
        verify_linked(&module).unwrap();
    }
}
