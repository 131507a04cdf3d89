//! Checks that every state that is read is also set.

use std::collections::HashSet;

use super::super::{Broken, Module, VerifyError};
use super::error;

/// 17. A state that a round reads is set by the round, before or after: otherwise it would be
///     zeros for ever, which no algorithm means. Not so of a module that resumes another's states.
pub(super) fn reads_are_written(module: &Module) -> Vec<VerifyError> {
    if module.resumes {
        return vec![];
    }
    let (sets, reads): (Vec<_>, Vec<_>) = module
        .all_ops()
        .filter_map(|op| op.kind.state().map(|state| (op, state)))
        .partition(|(_, state)| state.sets());
    let written: HashSet<_> = sets.iter().map(|(_, s)| (s.place, s.name)).collect();
    let unwritten = reads
        .into_iter()
        .filter(|(_, read)| !written.contains(&(read.place, read.name)));
    let broken = unwritten.map(|(op, read)| {
        let state = read.name.to_owned();
        error(op, Broken::NeverWritten { state })
    });
    broken.collect()
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
