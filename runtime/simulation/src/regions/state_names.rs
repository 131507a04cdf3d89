//! Lists the client states that a map's code uses, so that they can be read from the file ahead of time.

use fedround_passes::schedule::{Block, Item};

/// The names of the client states that a block's code reads, in order, without repetitions. States that it sets
/// are among them, because a client that sits out a step needs the old value.
pub(super) fn state_names(block: &Block) -> Vec<&str> {
    let mut names = vec![];
    for (item, _) in &block.items {
        let Item::Control(control) = item else {
            continue;
        };
        let own = control.op.kind.state().map(|state| state.name);
        let inner = control.body.iter().flat_map(state_names);
        let all = own.into_iter().chain(inner);
        for name in all {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}
