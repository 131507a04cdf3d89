//! Modules: whole programs of the fed dialect.

use super::{
    ArithOp, Direction, FedOp, Hook, Hyper, HyperValue, Op, OpKind, Place, Region, Type, Value,
};
use crate::Loc;

/// One definition of a hook by one layer.
#[derive(Clone, Debug)]
pub struct Func {
    /// The hook that is defined.
    pub hook: Hook,
    /// Index of the defining layer in [`Module::layers`].
    pub layer: usize,
    /// The code.
    pub body: Region,
    /// The place of the definition.
    pub loc: Loc,
}

/// One algorithm of a composition, such as FedProx over FedAvg.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The name of the algorithm, such as `fedprox`.
    pub name: String,
}

/// A staged algorithm: its layers and their definitions of hooks. After `link-hooks` it has only the
/// outermost [`Hook::Round`], with everything inlined.
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
    /// Whether the program continues with the states of an earlier one, which may be the one that sets
    /// them. This is not part of the text.
    pub resumes: bool,
    /// Whether the program makes the models that clients are evaluated with. It runs for a few clients at a
    /// time, and its states are thrown away. This is not part of the text.
    pub evaluates: bool,
}

impl Module {
    /// The name of a hyper-parameter in text. This is the name of its field, unless another
    /// hyper-parameter or an argument of a hook has the same name; then it is the full name.
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

    /// Whether an op sends values from clients to the server.
    pub fn uploads(&self, op: &Op) -> bool {
        self.uploaded(op).next().is_some()
    }

    /// The values that an op sends from clients to the server.
    pub fn uploaded<'o>(&self, op: &'o Op) -> impl Iterator<Item = &'o Value> {
        let crosses = op.kind.direction() == Some(Direction::Up);
        let from_clients =
            move |value: &&Value| crosses && self.type_of(**value).place == Place::Clients;
        op.operands.iter().filter(from_clients)
    }

    /// The values that an op sends from clients, to the server or to other clients.
    pub fn sent_by_clients<'o>(&self, op: &'o Op) -> impl Iterator<Item = &'o Value> {
        let across = op.kind.direction() == Some(Direction::Across);
        let across = op.operands.iter().filter(move |_| across);
        self.uploaded(op).chain(across)
    }

    /// Adds a value of a type.
    pub fn value(&mut self, ty: Type) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    /// A number or count that is known before the round: a literal or a hyper-parameter.
    pub fn known(&self, value: Value) -> Option<HyperValue> {
        let made = self.all_ops().find(|op| op.results.contains(&value))?;
        match (&made.kind, made.operands.as_slice()) {
            (OpKind::Arith(ArithOp::Real), [n]) => self.known(*n),
            (kind, _) => kind.known(&self.hypers),
        }
    }

    /// The name of the algorithm, which is that of its outermost layer.
    pub fn name(&self) -> &str {
        self.layers.last().map_or("anonymous", |layer| &layer.name)
    }

    /// The name of a layer.
    pub(super) fn layer_name(&self, layer: usize) -> &str {
        let layer = self.layers.get(layer);
        layer.map_or("anonymous", |layer| &layer.name)
    }

    /// How many layers inside a layer have its name.
    pub(super) fn twins(&self, layer: usize) -> usize {
        let name = self.layer_name(layer);
        let inside = self.layers.iter().take(layer);
        inside.filter(|other| other.name == name).count()
    }

    /// Whether the module is one `round` without calls of hooks, as after `link-hooks`.
    pub fn is_linked(&self) -> bool {
        match self.funcs.as_slice() {
            [only] => only.hook == Hook::Round && !only.body.all_ops().any(is_call),
            _ => false,
        }
    }
}

fn is_call(op: &Op) -> bool {
    matches!(op.kind, OpKind::Fed(FedOp::Call(_) | FedOp::Super(_)))
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
