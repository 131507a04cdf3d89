//! A whole program, and questions about it.

use super::{FedOp, Hook, Hyper, Op, OpKind, Place, Region, Type, Value};
use crate::Loc;

/// One definition of a hook by one layer.
#[derive(Clone, Debug)]
pub struct Func {
    /// Which hook.
    pub hook: Hook,
    /// Index of the defining layer in [`Module::layers`].
    pub layer: usize,
    /// Its code.
    pub body: Region,
    /// Where it was defined.
    pub loc: Loc,
}

/// One algorithm of a composition, such as FedProx over FedAvg.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Name of the algorithm, such as `fedprox`.
    pub name: String,
}

/// A staged algorithm: all layers, innermost first, and their hook definitions.
/// After `link-hooks` only the outermost [`Hook::Round`] is left, with everything inlined.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The algorithms, innermost first.
    pub layers: Vec<Layer>,
    /// Hyper-parameters that the code reads, in order of first use.
    pub hypers: Vec<Hyper>,
    /// Hook definitions, layer by layer.
    pub funcs: Vec<Func>,
    /// Type of each [`Value`].
    pub types: Vec<Type>,
    /// Whether it goes on with the states of another program, which may be the one that sets them.
    /// Not part of its text.
    pub resumes: bool,
}

impl Module {
    /// Name of a hyper-parameter in text: its field where no other hyper-parameter and no hook
    /// argument is called so, its full name otherwise.
    pub fn hyper_label(&self, index: usize) -> String {
        let Some(hyper) = self.hypers.get(index) else {
            return format!("hyper_{index}");
        };
        let field = hyper.field();
        let taken = Hook::names_argument(field)
            || self
                .hypers
                .iter()
                .filter(|other| other.field() == field)
                .count()
                > 1;
        if taken {
            hyper.name.clone()
        } else {
            field.to_owned()
        }
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.types[value.0 as usize]
    }

    /// Whether an op brings values from clients to the server.
    pub fn uploads(&self, op: &Op) -> bool {
        self.uploaded(op).next().is_some()
    }

    /// The values that an op brings from clients to the server.
    pub fn uploaded<'o>(&self, op: &'o Op) -> impl Iterator<Item = &'o Value> {
        let crosses = matches!(op.kind, OpKind::Fed(FedOp::Gather | FedOp::Reduce(_)));
        let from_clients =
            move |value: &&Value| crosses && self.type_of(**value).place == Place::Clients;
        op.operands.iter().filter(from_clients)
    }

    /// A new value of a type.
    pub fn value(&mut self, ty: Type) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

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
        matches!(op.kind, OpKind::Fed(FedOp::Call(_) | FedOp::Super(_)))
            || op.regions.iter().any(has_symbols)
    })
}

#[cfg(test)]
mod tests {
    use super::super::Builder;
    use super::*;

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
                b.push(OpKind::Fed(FedOp::Call(Hook::Round)), &w, Loc::caller())
            };
            b.end(Hook::Round, next, Loc::caller());
            assert_eq!(b.finish().unwrap().is_linked(), linked);
        }
    }
}
