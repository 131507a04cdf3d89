//! Checks a module against the rules of the fed dialect, and reports every breach.
//!
//! The invariants, in the order of the code, each with a test of the same number in
//! `verify_tests.rs` or `verify_ops_tests.rs`:
//!
//! 1.  *Hypers.* Names are unique; values are numbers or counts; `fed.hyper` names an entry.
//! 2.  *Functions.* A layer defines a hook at most once, and belongs to the module.
//! 3.  *Hook signatures.* A function takes and yields what its hook does.
//! 4.  *Typed values.* Every value is in the module's table of types.
//! 5.  *Single definition.* Every value is defined once, in the whole module.
//! 6.  *Dominance.* An operand is defined before its use, in the same or an enclosing region.
//! 7.  *Capture.* Client code reads no value of the server around it but constants and
//!     hyper-parameters.
//! 8.  *Placement.* Ops of the server are in its code, ops of a client (`fed.num_examples`,
//!     `fed.global_params`, client state, batches) in client code. Code for one client, there or on the
//!     server, has no ops on whole cohorts and no server state but that client's.
//! 9.  *Release.* Nothing but parameters, scalars, features and labels is broadcast, mapped over,
//!     yielded by a `fed.map`, gathered, scattered, or reduced; and clients yield features and
//!     labels as a `priv.release` gives them, or as they came. Batches stay on their client.
//! 10. *Operands and results* have the types of the op's signature. A `fed.call` and a
//!     `fed.super` have their hook's. The setting of a `fed.encode` is known before the round, and in
//!     its range, and so is the fraction of a `fed.sample` that is known; the rows of a `fed.matrix` are
//!     whole.
//! 11. *Regions.* An op has as many as its signature, with its arguments and yields.
//! 12. *State.* A state has one kind, wherever it is read and set.
//! 13. *Linked* ([`verify_linked`] only): one function, a `fed.round`, without `fed.call`,
//!     `fed.super` and `fed.global_params`.
//!
//! And of a linked module that keeps all of these, in `checks/`, with tests beside them:
//!
//! 14. *Noise* is added to what is clipped.
//! 15. *Claims* of differential privacy hold: local ones of uploads, central ones of aggregates.
//! 16. *Personal parts* are replaced before a tree is uploaded.
//! 17. *State* that is read is set; by other rounds, where [`never_set`](super::never_set) is told which.
//! 18. *Cohorts.* Values of clients meet values of the same clients.
//! 19. *Losses* have no loops, no ops on whole cohorts, and set no states.
//! 20. *Measurements* of clients that mix are a round's result, and are read by nothing.
//! 21. *Trees* of noise are over the passes of a reshuffled cohort, and outside of loops.
//!
//! And of a module before linking:
//!
//! 22. *Evaluations.* The hooks `personalize` and `evaluate` set no states.
//!
//! And of a linked module that [evaluates](Module::evaluates), in `checks/`:
//!
//! 23. *Evaluations* are of all clients, and combine no values of several clients.
//!
//! Placements and references need no more: a value has one [`Type`], hence one placement (10); a
//! broadcast takes one value of the server, hence the same for all clients (10); a map reads
//! neither its own results nor what the server made of them (6, 7).

use std::collections::{HashMap, HashSet};

use super::{Broken, Hook, Kind, Module, Place, Value, VerifyError, VerifyErrors, checks};
use crate::Loc;

/// Checks a module before or after linking.
///
/// # Errors
/// Every broken invariant, in program order.
pub fn verify(module: &Module) -> Result<(), VerifyErrors> {
    Verifier::new(module, false).run()
}

/// Checks a module after `link-hooks`: all of [`verify`], that nothing is left to link, and where
/// values come from.
///
/// # Errors
/// Every broken invariant, in program order.
pub fn verify_linked(module: &Module) -> Result<(), VerifyErrors> {
    Verifier::new(module, true).run()
}

pub(super) struct Verifier<'m> {
    pub(super) module: &'m Module,
    pub(super) linked: bool,
    /// Whether the code at hand is that of a `fed.map`.
    pub(super) for_one: bool,
    pub(super) errors: Vec<VerifyError>,
    /// The kind of each state where it was first met, by place and name.
    pub(super) states: HashMap<(Place, String), Kind>,
    pub(super) defined: HashSet<Value>,
    pub(super) constants: HashSet<Value>,
    /// The open regions, innermost last.
    pub(super) scopes: Vec<Scope>,
}

/// The values of an open region.
pub(super) struct Scope {
    pub values: HashSet<Value>,
    /// Whether the region sees constants only of what is around it.
    pub isolated: bool,
}

/// What an error is about.
pub(super) struct At<'a> {
    pub(super) op: &'a str,
    pub(super) loc: Loc,
}

impl<'m> Verifier<'m> {
    fn new(module: &'m Module, linked: bool) -> Self {
        let (defined, constants) = (HashSet::new(), HashSet::new());
        Self {
            module,
            linked,
            for_one: false,
            errors: Vec::new(),
            states: HashMap::new(),
            defined,
            constants,
            scopes: Vec::new(),
        }
    }

    fn run(mut self) -> Result<(), VerifyErrors> {
        let module = self.module;
        if let Some(first) = module.funcs.first() {
            self.hypers(first.loc);
            if self.linked && (module.funcs.len() != 1 || first.hook != Hook::Round) {
                let found = module
                    .funcs
                    .iter()
                    .map(|func| func.hook.name())
                    .collect::<Vec<_>>()
                    .join(", ");
                self.report(
                    &At {
                        op: "fed.algorithm",
                        loc: first.loc,
                    },
                    Broken::Funcs {
                        expected: "one `round`",
                        found,
                    },
                );
            }
        }
        let mut seen = HashSet::new();
        for func in &module.funcs {
            let name = format!("{}::{}", module.layer_name(func.layer), func.hook.name());
            let at = At {
                op: &name,
                loc: func.loc,
            };
            if func.layer >= module.layers.len() {
                let found = format!("layer {} of {}", func.layer, module.layers.len());
                self.report(
                    &at,
                    Broken::Funcs {
                        expected: "a layer of the module",
                        found,
                    },
                );
            }
            if !seen.insert((func.hook, func.layer)) {
                let found = format!("a second `{}`", func.hook.name());
                self.report(
                    &at,
                    Broken::Funcs {
                        expected: "one definition per hook and layer",
                        found,
                    },
                );
            }
            let (args, results) = func.hook.signature();
            self.types(&at, "arguments", args, &func.body.args);
            self.types(&at, "yields", results, &func.body.yields);
            self.region(&at, &func.body, func.hook.place(), false);
            self.evaluation(func);
        }
        if self.errors.is_empty() && self.linked {
            self.errors = checks::dataflow(module);
        }
        if self.errors.is_empty() {
            Ok(())
        } else {
            Err(VerifyErrors(self.errors))
        }
    }

    pub(super) fn report(&mut self, at: &At, broken: Broken) {
        self.errors.push(VerifyError {
            op: at.op.to_owned(),
            loc: at.loc,
            broken,
        });
    }

    fn hypers(&mut self, loc: Loc) {
        let at = At {
            op: "fed.algorithm",
            loc,
        };
        let mut names = HashSet::new();
        for hyper in &self.module.hypers {
            if !names.insert(&hyper.name) {
                let found = format!("`{}` twice", hyper.name);
                self.report(
                    &at,
                    Broken::Hyper {
                        found,
                        expected: "a name of its own",
                    },
                );
            }
            if hyper.value.kind().is_none() {
                let found = format!("`{}` = {}", hyper.name, hyper.value);
                self.report(
                    &at,
                    Broken::Hyper {
                        found,
                        expected: "a number or a count in the graph",
                    },
                );
            }
        }
    }
}

#[cfg(test)]
#[path = "verify_tests.rs"]
pub(super) mod tests;
