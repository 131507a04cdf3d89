//! Builds a module op by op, with a stack of open regions.

use super::build_error::BuildError;
use super::names::{LocalName, NameUse, Names};
use super::{
    FedOp, Func, Hook, Hyper, HyperValue, Layer, Module, Op, OpKind, Place, Region, Type, Value,
    signature,
};
use crate::Loc;

#[derive(Debug)]
struct Open {
    region: Region,
    place: Place,
}

/// Builds a [`Module`]. Never fails on the way: errors are collected and given by
/// [`Builder::finish`], so that code that stages a graph needs no `?`.
#[derive(Debug, Default)]
pub struct Builder {
    module: Module,
    open: Vec<Open>,
    errors: Vec<BuildError>,
    within: Option<Loc>,
    names: Names,
}

impl Builder {
    /// An empty module.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins the next outer layer; functions and hyper-parameters that follow belong to it.
    pub fn layer(&mut self, name: &str) {
        self.module.layers.push(Layer {
            name: name.to_owned(),
        });
    }

    fn current_layer(&self) -> usize {
        self.module.layers.len().saturating_sub(1)
    }

    /// Where the code of the innermost open region runs.
    pub fn place(&self) -> Place {
        self.open.last().map_or(Place::Server, |open| open.place)
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Option<Type> {
        self.module.types.get(value.0 as usize).copied()
    }

    /// Gives ops from here on this location instead of their own, until it is set to nothing; gives
    /// the one before. For library code that stands for one line of the user's.
    pub fn locate(&mut self, within: Option<Loc>) -> Option<Loc> {
        std::mem::replace(&mut self.within, within)
    }

    /// Records an error that the caller found.
    pub fn error(&mut self, error: BuildError) {
        self.errors.push(error);
    }

    /// Opens a region at a place; gives its arguments.
    pub fn open(&mut self, args: &[Type], place: Place) -> Vec<Value> {
        let args: Vec<Value> = args.iter().map(|ty| self.module.value(*ty)).collect();
        let region = Region {
            args: args.clone(),
            ..Region::default()
        };
        self.open.push(Open { region, place });
        args
    }

    /// Closes the innermost region.
    pub fn close(&mut self, yields: Vec<Value>, loc: Loc) -> Region {
        match self.open.pop() {
            Some(Open { mut region, .. }) => {
                region.yields = yields;
                region
            }
            None => {
                self.errors.push(BuildError::Unbalanced { loc });
                Region::default()
            }
        }
    }

    /// Begins a hook's definition in the current layer; gives its arguments.
    pub fn begin(&mut self, hook: Hook) -> Vec<Value> {
        self.open(hook.signature().0, hook.place())
    }

    /// Ends a hook's definition.
    pub fn end(&mut self, hook: Hook, yields: Vec<Value>, loc: Loc) {
        let body = self.close(yields, loc);
        if !self.open.is_empty() {
            self.errors.push(BuildError::Unbalanced { loc });
        }
        let layer = self.current_layer();
        self.module.funcs.push(Func {
            hook,
            layer,
            body,
            loc,
        });
    }

    /// Appends an op without regions; its results have the types of its signature.
    pub fn push(&mut self, kind: impl Into<OpKind>, operands: &[Value], loc: Loc) -> Vec<Value> {
        self.push_with(kind, operands, Vec::new(), loc)
    }

    /// Appends an op with regions, closed before.
    pub fn push_with(
        &mut self,
        kind: impl Into<OpKind>,
        operands: &[Value],
        regions: Vec<Region>,
        loc: Loc,
    ) -> Vec<Value> {
        let kind = kind.into();
        let found: Vec<Type> = operands
            .iter()
            .filter_map(|value| self.type_of(*value))
            .collect();
        let yields: Vec<Type> = regions
            .iter()
            .flat_map(|region| &region.yields)
            .filter_map(|value| self.type_of(*value))
            .collect();
        let types = signature(&self.module, &kind, self.place(), &found, &yields).results;
        self.push_typed(kind, operands, &types, regions, loc)
    }

    /// Appends an op with result types of the caller's choice.
    pub(super) fn push_typed(
        &mut self,
        kind: impl Into<OpKind>,
        operands: &[Value],
        types: &[Type],
        regions: Vec<Region>,
        loc: Loc,
    ) -> Vec<Value> {
        let results: Vec<Value> = types.iter().map(|ty| self.module.value(*ty)).collect();
        let op = Op {
            kind: kind.into(),
            operands: operands.to_vec(),
            results: results.clone(),
            regions,
            loc: self.within.unwrap_or(loc),
        };
        match self.open.last_mut() {
            Some(open) => open.region.ops.push(op),
            None => self.errors.push(BuildError::NoRegion {
                op: op.kind.name(),
                loc,
            }),
        }
        results
    }

    /// Appends `fed.hyper` for a field of the current layer, which is entered in the module's
    /// table on first use.
    pub fn hyper(&mut self, field: &str, value: HyperValue, loc: Loc) -> Vec<Value> {
        let name = self.qualified(NameUse::Hyper, field.into(), loc);
        let layer = self.current_layer();
        let hypers = &mut self.module.hypers;
        let known = hypers
            .iter()
            .position(|hyper| hyper.layer == layer && hyper.name == name);
        let index = known.unwrap_or_else(|| {
            hypers.push(Hyper { name, layer, value });
            hypers.len() - 1
        });
        self.push(OpKind::Fed(FedOp::Hyper(index)), &[], loc)
    }

    /// A name of the layer being built, `layer.name`; a second layer of the same name counts on:
    /// `fedprox.mu_2`. It is an error if something else has the name in the same use.
    pub fn qualified(&mut self, of: NameUse, name: LocalName<'_>, loc: Loc) -> String {
        let layer = self.current_layer();
        let owner = self.module.layer_name(layer);
        let full = match self.module.twins(layer) {
            0 => format!("{owner}.{name}"),
            n => format!("{owner}.{name}_{}", n + 1),
        };
        if let Err([first, second]) = self.names.claim(of, &full, layer, name) {
            let loc = self.within.unwrap_or(loc);
            let error = BuildError::SameName {
                name: full.clone(),
                first,
                second,
                loc,
            };
            self.errors.push(error);
        }
        full
    }

    /// The module.
    ///
    /// # Errors
    /// Everything that went wrong on the way.
    pub fn finish(mut self) -> Result<Module, Vec<BuildError>> {
        if self.errors.is_empty() {
            Ok(std::mem::take(&mut self.module))
        } else {
            Err(self.errors)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fed::{ArithOp, OptOp, TreeOp};

    #[test]
    fn ops_land_in_the_innermost_region() {
        let mut b = Builder::new();
        b.layer("test");
        let args = b.begin(Hook::Regularizer);
        let region_args = b.open(&[Type::client(super::super::Kind::Params)], Place::Client);
        let norm = b.push(OpKind::Tree(TreeOp::SqNorm), &region_args, Loc::caller());
        let region = b.close(norm, Loc::caller());
        let grad = b.push_with(
            OpKind::Opt(OptOp::Grad),
            &args[1..],
            vec![region],
            Loc::caller(),
        );
        b.end(Hook::Regularizer, vec![grad[1]], Loc::caller());
        let module = b.finish().unwrap();
        assert_eq!(module.funcs[0].body.ops.len(), 1);
        assert_eq!(module.funcs[0].body.ops[0].regions[0].ops.len(), 1);
    }

    #[test]
    fn a_repeated_layer_gets_its_own_hyper_names() {
        let mut b = Builder::new();
        for _ in 0..2 {
            b.layer("fedprox");
            let _ = b.begin(Hook::Regularizer);
            let _ = b.hyper("mu", HyperValue::Float(0.1), Loc::caller());
            let mu = b.hyper("mu", HyperValue::Float(0.1), Loc::caller());
            b.end(Hook::Regularizer, mu, Loc::caller());
        }
        let module = b.finish().unwrap();
        let names: Vec<&str> = module
            .hypers
            .iter()
            .map(|hyper| hyper.name.as_str())
            .collect();
        assert_eq!(names, ["fedprox.mu", "fedprox.mu_2"]);
    }

    #[test]
    fn a_name_of_a_repeated_layer_may_not_be_anothers() {
        // The first layer's `n_2` would be the second layer's `n`.
        let mut b = Builder::new();
        b.layer("fedprox");
        let first = b.qualified(NameUse::ClientState, "n_2".into(), Loc::caller());
        b.layer("fedprox");
        let second = b.qualified(NameUse::ClientState, "n".into(), Loc::caller());
        assert_eq!(first, second);
        let errors = b.finish().unwrap_err();
        let [error @ BuildError::SameName { .. }] = &errors[..] else {
            panic!("{errors:?}");
        };
        let said = "client state `n_2` of layer 1 and client state `n` of layer 2 would both be `fedprox.n_2`";
        assert!(error.to_string().contains(said), "{error}");
    }

    #[test]
    fn ops_outside_a_function_are_reported() {
        let mut b = Builder::new();
        let _ = b.push(OpKind::Arith(ArithOp::Const(1.0)), &[], Loc::caller());
        assert!(matches!(
            b.finish().unwrap_err()[0],
            BuildError::NoRegion { .. }
        ));
    }
}
