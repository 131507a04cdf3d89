//! Checks personal parts, which a client keeps to itself.

use std::collections::{BTreeMap, HashSet};

use super::super::flow::{Analysis, solve};
use super::super::{
    ArithOp, Broken, FedOp, Module, Op, OpKind, PrivacyOp, TreeOp, Value, VerifyError,
};
use super::error;

/// 16. Nothing that clients send, to the server or to other clients, has a personal part in it: a part that
///     `fed.personal` names is replaced, by `tree.replace_parts`, before.
pub(super) fn parts_stay(module: &Module) -> Vec<VerifyError> {
    let facts = solve(module, &mut Parts::default());
    let mut errors = Vec::new();
    for op in module.all_ops() {
        let sent = module.sent_by_clients(op);
        let sent = sent.filter_map(|value| facts.get(value));
        for (part, from) in sent.flatten() {
            let (part, from) = (part.clone(), from.clone());
            errors.push(error(op, Broken::Personal { part, from }));
        }
    }
    errors
}

/// The personal parts of a tree, each with where it was declared.
type Personal = BTreeMap<String, String>;

#[derive(Default)]
struct Parts {
    /// Numbers that are zero as written: a tree times one of them tells nothing.
    zeros: HashSet<Value>,
}

impl Analysis for Parts {
    type Fact = Personal;

    fn join(&self, a: &Personal, b: &Personal) -> Personal {
        let mut all = a.clone();
        for (part, from) in b {
            all.entry(part.clone()).or_insert_with(|| from.clone());
        }
        all
    }

    fn transfer(&mut self, op: &Op, inputs: &[Personal]) -> Personal {
        let joined = inputs
            .iter()
            .fold(Personal::new(), |all, one| self.join(&all, one));
        match (&op.kind, inputs) {
            (OpKind::Arith(ArithOp::Const(x)), _) if *x == 0.0 => {
                self.zeros.extend(&op.results);
                Personal::new()
            }
            (OpKind::Tree(TreeOp::Scale), _)
                if op.operands.iter().any(|v| self.zeros.contains(v)) =>
            {
                Personal::new()
            }
            (OpKind::Fed(FedOp::Personal(_, parts)), _) => {
                let own = parts.iter().map(|part| (part.clone(), op.loc.to_string()));
                self.join(&own.collect(), &joined)
            }
            // The spec's statement that it may leave.
            (OpKind::Privacy(PrivacyOp::Release(_)), _) => Personal::new(),
            (OpKind::Tree(TreeOp::ReplaceParts(parts)), [a, b]) => {
                let left = a.iter().filter(|(part, _)| !parts.contains(part));
                let taken = b.iter().filter(|(part, _)| parts.contains(part));
                let all = left.chain(taken);
                all.map(|(part, from)| (part.clone(), from.clone()))
                    .collect()
            }
            _ => joined,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Kind, Topology};
    use super::super::testing::{averaged, broken};
    use super::*;

    fn head() -> Vec<String> {
        vec!["head".to_owned()]
    }

    /// FedRep's shape, with what is done to the tree before it is uploaded.
    fn fed_rep(
        upload: impl FnOnce(&mut super::super::testing::Round<'_>, Value, Value) -> Value,
    ) -> Module {
        averaged(|b, k, w| {
            let own = b.op(OpKind::Fed(FedOp::Personal("v".into(), head())), &[k, w]);
            let whole = b.op(OpKind::Tree(TreeOp::ReplaceParts(head())), &[w, own]);
            let trained = b.train(k, whole);
            let _ = b.op(
                OpKind::Fed(FedOp::SetClientState("v".into())),
                &[k, trained],
            );
            upload(b, trained, w)
        })
    }

    #[test]
    fn i16_a_personal_part_is_not_uploaded() {
        let errors = broken(&fed_rep(|_, trained, _| trained));
        let [(op, Broken::Personal { part, .. })] = errors.as_slice() else {
            panic!("{errors:?}");
        };
        assert_eq!((op.as_str(), part.as_str()), ("fed.mean", "head"));
    }

    #[test]
    fn i16_a_change_of_it_is_not_either() {
        let errors = broken(&fed_rep(|b, trained, w| {
            b.op(OpKind::Tree(TreeOp::Sub), &[trained, w])
        }));
        assert!(matches!(errors[0].1, Broken::Personal { .. }));
    }

    #[test]
    fn i16_a_replaced_part_is() {
        let received = fed_rep(|b, trained, w| {
            b.op(OpKind::Tree(TreeOp::ReplaceParts(head())), &[trained, w])
        });
        assert_eq!(broken(&received), []);
        let zeroed = fed_rep(|b, trained, _| {
            let zero = b.number(0.0);
            let zeros = b.op(OpKind::Tree(TreeOp::Scale), &[zero, trained]);
            b.op(
                OpKind::Tree(TreeOp::ReplaceParts(head())),
                &[trained, zeros],
            )
        });
        assert_eq!(broken(&zeroed), []);
    }

    #[test]
    fn i16_another_state_does_not_launder_it() {
        let errors = broken(&averaged(|b, k, w| {
            let kept = b.op(
                OpKind::Fed(FedOp::ClientState("c".into(), Kind::Params)),
                &[k],
            );
            let own = b.op(OpKind::Fed(FedOp::Personal("v".into(), head())), &[k, w]);
            let _ = b.op(OpKind::Fed(FedOp::SetClientState("v".into())), &[k, own]);
            let _ = b.op(OpKind::Fed(FedOp::SetClientState("c".into())), &[k, own]);
            kept
        }));
        assert!(matches!(errors[0].1, Broken::Personal { .. }));
    }

    #[test]
    fn i16_neighbours_do_not_get_it_either() {
        let module = super::super::testing::round(|b, w| {
            let sent = b.everyone(w);
            let w_k = b.map(sent, |b, k, w| {
                let own = b.op(OpKind::Fed(FedOp::Personal("v".into(), head())), &[k, w]);
                let _ = b.op(OpKind::Fed(FedOp::SetClientState("v".into())), &[k, own]);
                own
            });
            let mixed = b.op(OpKind::Fed(FedOp::Mix(Topology::Ring)), &[w_k]);
            let received = b.map(mixed, |b, _, w| {
                let zero = b.number(0.0);
                b.op(OpKind::Tree(TreeOp::Scale), &[zero, w])
            });
            b.mean(received)
        });
        let errors = broken(&module);
        let [(op, Broken::Personal { part, .. })] = errors.as_slice() else {
            panic!("{errors:?}");
        };
        assert_eq!((op.as_str(), part.as_str()), ("fed.mix", "head"));
    }
}
