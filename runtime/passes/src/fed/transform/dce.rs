//! `dce`: dead code elimination.
//!
//! The pass drops ops whose results are not read, unless they or code inside them change a state. It
//! also drops single results of maps and loops together with the code that only they need, operands of
//! maps that the map's code does not read, and hyper-parameters that are not read. A map keeps at least
//! one operand, which says over which cohort the map runs. Values and hyper-parameters are renumbered.
//!
//! ```text
//! %0 = fed.all_clients
//! %1 = fed.broadcast %w to %0
//! %2, %3 = fed.map(%k, %4 = %1) { … fed.yield %5, %6 }   // %3 is not read
//! ```
//! becomes
//! ```text
//! %2 = fed.map(%k, %4 = %1) { … fed.yield %5 }
//! ```

use std::collections::HashSet;

use fedround_ir::fed::{FedOp, Module, Op, OpKind, Region, Value};

use super::dead_hypers::drop_hypers;
use super::rewrite::{compact, writes};

/// Drops dead ops, results, operands and hyper-parameters. Returns whether anything was dropped.
pub fn dce(module: &mut Module) -> bool {
    let mut live = Live::default();
    for func in &module.funcs {
        live.values.extend(&func.body.yields);
        live.mark(&func.body);
    }
    let mut changed = false;
    for func in &mut module.funcs {
        changed |= live.sweep(&mut func.body);
    }
    changed |= drop_hypers(module);
    if changed {
        compact(module);
    }
    changed
}

#[derive(Default)]
struct Live {
    values: HashSet<Value>,
}

impl Live {
    fn has(&self, value: Value) -> bool {
        self.values.contains(&value)
    }

    fn op(&self, op: &Op) -> bool {
        writes(op) || op.results.iter().any(|result| self.has(*result))
    }

    fn mark(&mut self, region: &Region) {
        for op in region.ops.iter().rev() {
            if self.op(op) {
                self.mark_op(op);
            }
        }
    }

    fn mark_op(&mut self, op: &Op) {
        let [region] = op.regions.as_slice() else {
            self.values.extend(&op.operands);
            return;
        };
        if op.kind == OpKind::Fed(FedOp::Map) {
            for (result, yielded) in op.results.iter().zip(&region.yields) {
                if self.has(*result) {
                    self.values.insert(*yielded);
                }
            }
            self.mark(region);
            let given = region.args.iter().skip(1).zip(&op.operands);
            let read = given.filter(|(arg, _)| self.has(**arg));
            let mut read: Vec<Value> = read.map(|(_, operand)| *operand).collect();
            if read.is_empty() {
                read.extend(op.operands.first());
            }
            self.values.extend(read);
        } else if let Some((fixed, own)) = op.kind.carried_from() {
            self.values.extend(op.operands.iter().take(fixed));
            // What a step reads, the step before must yield: until nothing is added.
            loop {
                let before = self.values.len();
                let args = region.args.iter().skip(own).zip(&op.results);
                let values = op.operands.iter().skip(fixed).zip(&region.yields);
                for ((arg, result), (first, yielded)) in args.zip(values) {
                    if self.has(*arg) || self.has(*result) {
                        self.values.extend([*first, *yielded]);
                    }
                }
                self.mark(region);
                if self.values.len() == before {
                    break;
                }
            }
        } else {
            self.values.extend(op.operands.iter().chain(&region.yields));
            self.mark(region);
        }
    }

    fn sweep(&self, region: &mut Region) -> bool {
        let before = region.ops.len();
        region.ops.retain(|op| self.op(op));
        let mut changed = region.ops.len() < before;
        for op in &mut region.ops {
            changed |= match op.kind.carried_from() {
                Some((fixed, own)) => self.prune_loop(op, fixed, own),
                None if op.kind == OpKind::Fed(FedOp::Map) => self.prune_map(op),
                None => false,
            };
            for inner in &mut op.regions {
                changed |= self.sweep(inner);
            }
        }
        changed
    }

    fn prune_loop(&self, op: &mut Op, fixed: usize, own: usize) -> bool {
        let [region] = op.regions.as_mut_slice() else {
            return false;
        };
        let args = region.args.iter().skip(own);
        let keep: Vec<bool> = op
            .results
            .iter()
            .zip(args)
            .map(|(result, arg)| self.has(*result) || self.has(*arg))
            .collect();
        retain(&mut op.operands, fixed, &keep);
        retain(&mut region.args, own, &keep);
        retain(&mut region.yields, 0, &keep);
        retain(&mut op.results, 0, &keep);
        keep.contains(&false)
    }

    fn prune_map(&self, op: &mut Op) -> bool {
        let [region] = op.regions.as_mut_slice() else {
            return false;
        };
        let results: Vec<bool> = op.results.iter().map(|result| self.has(*result)).collect();
        retain(&mut region.yields, 0, &results);
        retain(&mut op.results, 0, &results);
        let mut operands: Vec<bool> = region
            .args
            .iter()
            .skip(1)
            .map(|arg| self.has(*arg))
            .collect();
        if let (false, Some(first)) = (operands.contains(&true), operands.first_mut()) {
            *first = true;
        }
        retain(&mut op.operands, 0, &operands);
        retain(&mut region.args, 1, &operands);
        results.contains(&false) || operands.contains(&false)
    }
}

/// Keeps the first `fixed` values and those of the rest that are marked.
fn retain(values: &mut Vec<Value>, fixed: usize, keep: &[bool]) {
    let mut index = 0;
    values.retain(|_| {
        index += 1;
        index <= fixed || keep.get(index - 1 - fixed).copied().unwrap_or(true)
    });
}

#[cfg(test)]
mod tests {
    use fedround_ir::fed::{ArithOp, Hook, HyperValue, Kind, OptOp, Place, TreeOp, Type, verify};

    use super::*;
    use crate::testing::{body, func, loc};

    const PARAMS: Type = Type::client(Kind::Params);

    #[test]
    fn unread_results_of_a_map_go_with_their_code_but_not_what_it_writes() {
        let mut module = func(Hook::Round, |b, w| {
            let everyone = b.push(OpKind::Fed(FedOp::AllClients), &[], loc());
            let sent = b.push(OpKind::Fed(FedOp::Broadcast), &[w[0], everyone[0]], loc());
            let args = b.open(&[Type::client(Kind::Client), PARAMS, PARAMS], Place::Client);
            let mu = b.hyper("mu", HyperValue::Float(0.1), loc());
            let scaled = b.push(OpKind::Tree(TreeOp::Scale), &[mu[0], args[1]], loc());
            let _ = b.push(
                OpKind::Fed(FedOp::SetClientState("c".into())),
                &[args[0], args[2]],
                loc(),
            );
            let n = b.push(OpKind::Fed(FedOp::NumExamples), &args[..1], loc());
            let region = b.close(vec![scaled[0], n[0]], loc());
            let _ = b.push_with(
                OpKind::Fed(FedOp::Map),
                &[sent[0], sent[0]],
                vec![region],
                loc(),
            );
            w.to_vec()
        });
        assert!(dce(&mut module));
        verify(&module).unwrap();
        assert_eq!(
            body(&module),
            "%0 = fed.all_clients : cohort@server\n\
             %1 = fed.broadcast %w to %0 : {params}@clients\n\
             fed.map(%k, %2 = %1) {\n  \
               fed.set_client_state \"c\" %k, %2\n  \
               fed.yield\n\
             }\n\
             fed.yield %w : params@server"
        );
        assert!(module.hypers.is_empty(), "no one reads mu");
        assert!(!dce(&mut module));
    }

    #[test]
    fn a_map_keeps_one_operand_for_its_cohort() {
        let mut module = func(Hook::Aggregate, |b, w_k| {
            let args = b.open(&[Type::client(Kind::Client), PARAMS], Place::Client);
            let n = b.push(OpKind::Fed(FedOp::NumExamples), &args[..1], loc());
            let region = b.close(n, loc());
            let n_k = b.push_with(OpKind::Fed(FedOp::Map), w_k, vec![region], loc());
            let reduce = OpKind::Fed(FedOp::Reduce(fedround_ir::fed::Reduce::WeightedMean));
            b.push(reduce, &[w_k[0], n_k[0]], loc())
        });
        let before = body(&module);
        assert!(!dce(&mut module));
        assert_eq!(body(&module), before);
    }

    #[test]
    fn a_carried_value_that_only_feeds_itself_goes() {
        let mut module = func(Hook::ClientUpdate, |b, args| {
            let n = b.push(OpKind::Arith(ArithOp::IndexConst(2)), &[], loc());
            let inner = b.open(&[PARAMS, PARAMS, PARAMS], Place::Client);
            let first = b.push(OpKind::Tree(TreeOp::Add), &[inner[0], inner[1]], loc());
            let unread = b.push(OpKind::Tree(TreeOp::Add), &[inner[0], inner[1]], loc());
            let region = b.close(vec![first[0], inner[1], unread[0]], loc());
            let first = [n[0], args[1], args[1], args[1]];
            let results = b.push_with(OpKind::Opt(OptOp::Repeat), &first, vec![region], loc());
            vec![results[0]]
        });
        assert!(dce(&mut module));
        verify(&module).unwrap();
        assert_eq!(
            body(&module),
            "%0 = arith.index_const 2 : index\n\
             %1, %2 = opt.repeat %0 with(%3 = %w, %4 = %w) {\n  \
               %5 = tree.add %3, %4 : params\n  \
               opt.yield %5, %4 : params, params\n\
             } : params, params\n\
             fed.yield %1 : params"
        );
    }
}
