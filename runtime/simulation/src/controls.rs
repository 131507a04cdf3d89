//! The control operations of code.

use fedround_passes::schedule::{Block, Control, Item};

/// The control operations of a block in order, each followed by those inside it.
pub(crate) fn controls(block: &Block) -> Vec<&Control> {
    let mut all = vec![];
    for (item, _) in &block.items {
        if let Item::Control(control) = item {
            all.push(&**control);
            all.extend(control.body.iter().flat_map(controls));
        }
    }
    all
}
