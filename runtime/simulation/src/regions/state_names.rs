//! Lists the states of a client that a map's code reads or sets.

use fedround_ir::fed::{FedOp, OpKind};
use fedround_passes::schedule::{Block, Item};

/// The names of the states that a block's code reads of each client, in order, without repetitions.
/// One that it sets is among them: a client that sits a step out keeps its old value.
pub(super) fn state_names(block: &Block) -> Vec<&str> {
    let mut names = vec![];
    for (item, _) in &block.items {
        let Item::Control(control) = item else {
            continue;
        };
        let inner = control.body.iter().flat_map(state_names);
        let all = own(&control.op.kind).into_iter().chain(inner);
        for name in all {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

fn own(kind: &OpKind) -> Option<&str> {
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
