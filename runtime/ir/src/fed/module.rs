//! Questions about a whole module.

use super::{Hook, Module, OpKind, Region};

impl Module {
    /// Name of the whole algorithm: that of its outermost layer.
    pub fn name(&self) -> &str {
        self.layers.last().map_or("anonymous", |layer| &layer.name)
    }

    /// Whether it is one `round` with nothing left to link, as after `link-hooks`.
    pub fn is_linked(&self) -> bool {
        match self.funcs.as_slice() {
            [only] => only.hook == Hook::Round && !has_symbols(&only.body),
            _ => false,
        }
    }
}

fn has_symbols(region: &Region) -> bool {
    region.ops.iter().any(|op| {
        matches!(op.kind, OpKind::Call(_) | OpKind::Super(_)) || op.regions.iter().any(has_symbols)
    })
}

#[cfg(test)]
mod tests {
    use super::super::Builder;
    use super::*;
    use crate::Loc;

    #[test]
    fn a_module_is_named_by_its_outermost_layer() {
        let mut b = Builder::new();
        b.layer("inner");
        b.layer("outer");
        assert_eq!(b.finish().unwrap().name(), "outer");
    }

    #[test]
    fn a_call_is_left_to_link() {
        for linked in [true, false] {
            let mut b = Builder::new();
            b.layer("test");
            let w = b.begin(Hook::Round);
            let next = if linked {
                w
            } else {
                b.push(OpKind::Call(Hook::Round), &w, Loc::caller())
            };
            b.end(Hook::Round, next, Loc::caller());
            assert_eq!(b.finish().unwrap().is_linked(), linked);
        }
    }
}
