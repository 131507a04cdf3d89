//! Lists the client states that a map's code uses, so that they can be read from the file ahead of time.

use fedround_ir::fed::{FedOp, OpKind};
use fedround_passes::schedule::{Block, Item};

/// The names of the client states that a block's code reads, in order, without repetitions. States that it sets
/// are among them, because a client that sits out a step needs the old value.
pub(super) fn state_names(block: &Block) -> Vec<&str> {
    let mut names = vec![];
    for (item, _) in &block.items {
        let Item::Control(control) = item else {
            continue;
        };
        let inner = control.body.iter().flat_map(state_names);
        let all = state_name(&control.op.kind).into_iter().chain(inner);
        for name in all {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// The name of the state that an operation reads or sets.
fn state_name(kind: &OpKind) -> Option<&str> {
    match kind {
        OpKind::Fed(
            FedOp::ClientState(name, _)
            | FedOp::ServerState(name, _)
            | FedOp::ServerStateOr(name)
            | FedOp::Personal(name, _)
            | FedOp::SetClientState(name)
            | FedOp::SetServerState(name),
        ) => Some(name),
        _ => None,
    }
}
