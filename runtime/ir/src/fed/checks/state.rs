//! Checks that every state that is read is also set.

use std::collections::HashSet;

use super::super::{Broken, Module, Op, StateUse, VerifyError, VerifyErrors};
use super::error;

/// 17. A state that a round reads is set by the round, before or after: otherwise it would be
///     zeros for ever, which no algorithm means. Of a module that resumes another's states,
///     [`never_set`] checks it for both together.
pub(super) fn reads_are_written(module: &Module) -> Vec<VerifyError> {
    match module.resumes {
        true => vec![],
        false => unset(module, &[module]),
    }
}

/// Checks that every state that a linked module reads is set in one of the modules that make its rounds, linked or
/// not: in another phase, or in the rounds that an evaluation follows.
///
/// # Errors
/// Every operation that reads a state which none of them sets, in program order.
pub fn never_set(module: &Module, rounds: &[&Module]) -> Result<(), VerifyErrors> {
    let errors = unset(module, rounds);
    match errors.is_empty() {
        true => Ok(()),
        false => Err(VerifyErrors(errors)),
    }
}

fn unset(module: &Module, rounds: &[&Module]) -> Vec<VerifyError> {
    let key = |state: &StateUse<'_>| (state.place, state.name.to_owned());
    let uses = rounds.iter().flat_map(|module| states(module));
    let set: HashSet<_> = uses
        .filter(|(_, state)| state.sets())
        .map(|(_, state)| key(&state))
        .collect();
    let unset = states(module).filter(|(_, state)| !state.sets() && !set.contains(&key(state)));
    let broken = unset.map(|(op, read)| {
        let state = read.name.to_owned();
        error(op, Broken::NeverWritten { state })
    });
    broken.collect()
}

fn states(module: &Module) -> impl Iterator<Item = (&Op, StateUse<'_>)> {
    let ops = module.all_ops();
    ops.filter_map(|op| op.kind.state().map(|state| (op, state)))
}

#[cfg(test)]
mod tests {
    use super::super::super::{FedOp, Kind, OpKind};
    use super::super::testing::{averaged, broken, round};
    use super::*;
    use crate::fed::TreeOp;

    #[test]
    fn i17_a_state_that_is_read_is_set() {
        let server = |set: bool| {
            round(|b, w| {
                let v = b.op(
                    OpKind::Fed(FedOp::ServerState("v".into(), Kind::Params)),
                    &[],
                );
                let next = b.op(OpKind::Tree(TreeOp::Add), &[v, w]);
                if set {
                    let _ = b.op(OpKind::Fed(FedOp::SetServerState("v".into())), &[next]);
                }
                next
            })
        };
        assert_eq!(broken(&server(true)), []);
        let state = "v".to_owned();
        assert_eq!(
            broken(&server(false)),
            [(
                "fed.server_state".to_owned(),
                Broken::NeverWritten { state }
            )]
        );
    }

    #[test]
    fn i17_a_state_of_the_server_is_not_the_clients() {
        let module = averaged(|b, k, w| {
            let c = b.op(
                OpKind::Fed(FedOp::ClientState("c".into(), Kind::Params)),
                &[k],
            );
            let _ = b.op(OpKind::Fed(FedOp::SetClientState("d".into())), &[k, w]);
            c
        });
        assert_eq!(broken(&module)[0].0, "fed.client_state");
    }
}
