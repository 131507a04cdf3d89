//! The builder that all handles of one algorithm share.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::fmt;
use std::rc::Rc;

use crate::Objective;
use crate::turn::{Named, Turn};
use fedround_ir::Loc;
use fedround_ir::fed::{
    BuildError, Builder, HyperValue, LocalName, NameUse, OpKind, Place, Region, Type, Value,
};
use fedround_names::nearest;

/// A shared [`Builder`]. It is public only because hidden methods of sealed traits name it. It is borrowed
/// for one call at a time, and never while a closure of the user runs.
#[derive(Clone, Default)]
pub struct Graph(Rc<RefCell<Builder>>, Rc<Turns>);

/// The phases of an algorithm, see [`ServerCx::phase`](crate::ServerCx::phase), and its evaluations.
#[derive(Default)]
struct Turns {
    /// The ones that are being staged.
    current: Turn,
    /// The number of the layer that is being staged. Bases come before their plug-ins.
    layer: Cell<usize>,
    /// Those named so far, by layer, with their rounds.
    declared: RefCell<Vec<(usize, String, usize)>>,
    /// Phases that were asked for so far, and where.
    asked: RefCell<Vec<(String, Loc)>>,
    /// Evaluations named so far.
    evaluations: RefCell<Vec<String>>,
    /// What the model is trained for in all of them.
    objective: Objective,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Graph")
    }
}

/// The only value of an op with one result. A missing one is reported by the verifier, as a value
/// without a type.
pub(crate) fn only(values: &[Value]) -> Value {
    values.first().copied().unwrap_or(Value(u32::MAX))
}

/// The next of some values. A missing one is reported as by [`only`].
pub(crate) fn next(values: &mut dyn Iterator<Item = Value>) -> Value {
    only(values.next().as_slice())
}

impl Graph {
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut Builder) -> R) -> R {
        act(&mut self.0.borrow_mut())
    }

    /// For one of an algorithm's phases and evaluations, or for none.
    pub(crate) fn of_turn(current: Turn, objective: &Objective) -> Self {
        let turns = Turns {
            current,
            objective: objective.clone(),
            ..Turns::default()
        };
        Self(Rc::default(), Rc::new(turns))
    }

    /// What the model is trained for.
    pub(crate) fn objective(&self) -> &Objective {
        &self.1.objective
    }

    /// Begins the next layer.
    pub(crate) fn next_layer(&self) {
        self.1.layer.set(self.1.layer.get() + 1);
    }

    /// The phases that were named, with their rounds: a layer's in the order in which it named them,
    /// before those of its base; and the evaluations that were named.
    pub(crate) fn named(&self) -> Named {
        let mut phases = self.1.declared.borrow().clone();
        phases.sort_by_key(|(layer, ..)| Reverse(*layer));
        let phases = phases.into_iter();
        Named {
            phases: phases.map(|(_, name, rounds)| (name, rounds)).collect(),
            evaluations: self.1.evaluations.borrow().clone(),
        }
    }

    /// Whether the evaluation of this name is being staged.
    pub(crate) fn declare_evaluation(&self, name: &str) -> bool {
        let mut named = self.1.evaluations.borrow_mut();
        if !named.iter().any(|known| known == name) {
            named.push(name.to_owned());
        }
        self.1.current.evaluation.as_deref() == Some(name)
    }

    pub(crate) fn declare_phase(&self, name: &str, rounds: usize, loc: Loc) -> bool {
        let full = self.qualified(NameUse::Phase, name.into(), loc);
        let mut declared = self.1.declared.borrow_mut();
        let known = declared.iter().find(|(_, known, _)| *known == full);
        match known.map(|(_, _, rounds)| *rounds) {
            None => declared.push((self.1.layer.get(), full.clone(), rounds)),
            Some(expected) if expected != rounds => {
                let error = BuildError::PhaseLength {
                    name: name.to_owned(),
                    expected,
                    found: rounds,
                    loc,
                };
                self.with(|builder| builder.error(error));
            }
            Some(_) => (),
        }
        self.1.current.phase.as_ref() == Some(&full)
    }

    pub(crate) fn in_phase(&self, name: &str, loc: Loc) -> bool {
        let name = self.qualified(NameUse::Phase, name.into(), loc);
        let current = self.1.current.phase.as_ref() == Some(&name);
        self.1.asked.borrow_mut().push((name, loc));
        current
    }

    /// Reports phases that were asked for by a misspelt name of one that is declared. Any other name may be
    /// declared with other hyper-parameters.
    pub(crate) fn check_phases(&self) {
        let declared = self.1.declared.borrow();
        for (name, loc) in self.1.asked.borrow().iter() {
            let (layer, name) = name.rsplit_once('.').unwrap_or_default();
            let of_layer = declared
                .iter()
                .filter_map(|(_, known, _)| known.strip_prefix(layer)?.strip_prefix('.'));
            let known: Vec<&str> = of_layer.collect();
            if !known.contains(&name)
                && let Some(nearest) = nearest(name, known)
            {
                let error = BuildError::UnknownPhase {
                    name: name.to_owned(),
                    nearest: nearest.to_owned(),
                    loc: *loc,
                };
                self.with(|builder| builder.error(error));
            }
        }
    }

    pub(crate) fn op(&self, kind: impl Into<OpKind>, operands: &[Value], loc: Loc) -> Value {
        only(&self.with(|builder| builder.push(kind, operands, loc)))
    }

    pub(crate) fn op_with(
        &self,
        kind: impl Into<OpKind>,
        operands: &[Value],
        region: Region,
        loc: Loc,
    ) -> Vec<Value> {
        self.with(|builder| builder.push_with(kind, operands, vec![region], loc))
    }

    pub(crate) fn open(&self, args: &[Type], place: Place) -> Vec<Value> {
        self.with(|builder| builder.open(args, place))
    }

    pub(crate) fn close(&self, yields: Vec<Value>, loc: Loc) -> Region {
        self.with(|builder| builder.close(yields, loc))
    }

    pub(crate) fn hyper(&self, field: &str, value: HyperValue, loc: Loc) -> Value {
        only(&self.with(|builder| builder.hyper(field, value, loc)))
    }

    /// A name with that of its layer.
    pub(crate) fn qualified(&self, of: NameUse, name: LocalName<'_>, loc: Loc) -> String {
        self.with(|builder| builder.qualified(of, name, loc))
    }

    /// The types of values, for the arguments of a region.
    pub(crate) fn types(&self, values: &[Value]) -> Vec<Type> {
        self.with(|builder| {
            values
                .iter()
                .filter_map(|value| builder.type_of(*value))
                .collect()
        })
    }

    /// Where the code being staged runs.
    pub(crate) fn place(&self) -> Place {
        self.with(|builder| builder.place())
    }

    /// Runs library code. Its ops get the location of one line of the user's code.
    pub(crate) fn located<R>(&self, loc: Loc, act: impl FnOnce() -> R) -> R {
        let outer = self.with(|builder| builder.locate(Some(loc)));
        let result = act();
        self.with(|builder| builder.locate(outer));
        result
    }

    /// Reports an error if the other handle belongs to another graph.
    pub(crate) fn same(&self, other: &Self, op: &'static str, loc: Loc) {
        if !Rc::ptr_eq(&self.0, &other.0) {
            self.with(|builder| builder.error(BuildError::Foreign { op, loc }));
        }
    }
}
