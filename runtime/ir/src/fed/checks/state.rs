//! Checks that every state that is read is also set.

use std::collections::HashSet;

use super::super::{Broken, FedOp, Module, OpKind, VerifyError};
use super::error;

/// 17. A state that a round reads is set by the round, before or after: otherwise it would be
///     zeros for ever, which no algorithm means. Not so of a module that resumes another's states.
pub(super) fn reads_are_written(module: &Module) -> Vec<VerifyError> {
    if module.resumes {
        return vec![];
    }
    let key = |kind: &OpKind| match kind {
        OpKind::Fed(
            FedOp::SetServerState(state)
            | FedOp::ServerState(state, _)
            | FedOp::ServerStateOr(state),
        ) => Some((true, state.clone())),
        OpKind::Fed(
            FedOp::SetClientState(state) | FedOp::ClientState(state, _) | FedOp::Personal(state, _),
        ) => Some((false, state.clone())),
        _ => None,
    };
    let sets = module.all_ops().filter(|op| {
        matches!(
            op.kind,
            OpKind::Fed(FedOp::SetServerState(_) | FedOp::SetClientState(_))
        )
    });
    let written: HashSet<_> = sets.filter_map(|op| key(&op.kind)).collect();
    let unwritten = module.all_ops().filter_map(|op| {
        let (on_server, state) = key(&op.kind)?;
        let missing = !written.contains(&(on_server, state.clone()));
        missing.then(|| error(op, Broken::NeverWritten { state }))
    });
    unwritten.collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::Kind;
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
