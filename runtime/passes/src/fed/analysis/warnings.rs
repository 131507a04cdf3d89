//! Warnings about compositions that are valid but probably not what was meant.

use std::collections::HashSet;
use std::fmt;

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Func, Hook, Module, OpKind, Place, Region};

use super::super::definition::definition;
use super::standard_hooks::is_standard;

/// A part of an algorithm that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// A layer overrides a hook without calling the inner definition.
    Replaced {
        /// The hook.
        hook: Hook,
        /// The layer whose definition counts.
        by: String,
        /// The layer whose definition is lost.
        of: String,
        /// Where the outer definition is.
        loc: Loc,
    },
    /// A layer defines a hook that nothing calls.
    Unused {
        /// The hook.
        hook: Hook,
        /// The layer.
        of: String,
        /// Where it is.
        loc: Loc,
    },
    /// Nothing reads what clients upload, or its aggregate.
    UnusedUpload {
        /// The map or the reduction.
        loc: Loc,
    },
    /// A gradient is zero, because its loss is a constant.
    ZeroGradient {
        /// Where it is taken.
        loc: Loc,
    },
    /// Nothing reads a state that is set.
    UnreadState {
        /// Who has it: the server, or each client one of its own.
        place: Place,
        /// Its name, with that of its layer.
        state: String,
        /// Where it is set.
        loc: Loc,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replaced { hook, by, of, loc } => {
                let hook = hook.name();
                write!(
                    f,
                    "{loc}: `{hook}` of {by} replaces that of {of} without calling it: {of}'s has no effect"
                )
            }
            Self::Unused { hook, of, loc } => {
                let hook = hook.name();
                write!(
                    f,
                    "{loc}: `{hook}` of {of} is called by no layer and has no effect"
                )
            }
            Self::UnusedUpload { loc } => {
                write!(f, "{loc}: nothing reads what the clients upload here")
            }
            Self::ZeroGradient { loc } => {
                write!(
                    f,
                    "{loc}: the loss does not depend on what the gradient is taken of, so the gradient is zero; compute the loss of the closure's argument"
                )
            }
            Self::UnreadState { state, loc, .. } => {
                write!(f, "{loc}: state `{state}` is set but nothing reads it")
            }
        }
    }
}

/// The warnings of a module before linking, outermost layer last.
pub fn warnings(module: &Module) -> Vec<Warning> {
    let mut found = Vec::new();
    let name = |layer: usize| {
        module
            .layers
            .get(layer)
            .map(|layer| layer.name.clone())
            .unwrap_or_default()
    };
    for func in &module.funcs {
        let below = definition(module, func.hook, func.layer);
        let Some(below) = below.filter(|below| !is_standard(below)) else {
            continue;
        };
        let mut layer = module
            .funcs
            .iter()
            .filter(|other| other.layer == func.layer);
        if !layer.any(|other| mentions(&other.body, &OpKind::Fed(FedOp::Super(func.hook)))) {
            let (hook, by, of, loc) = (func.hook, name(func.layer), name(below.layer), func.loc);
            found.push(Warning::Replaced { hook, by, of, loc });
        }
    }
    let reached = reached(module);
    for hook in Hook::ALL {
        let Some(func) = definition(module, hook, usize::MAX) else {
            continue;
        };
        let is_called = evaluates(hook) || reached.contains(&(hook, func.layer));
        if !is_called && !is_standard(func) {
            found.push(Warning::Unused {
                hook,
                of: name(func.layer),
                loc: func.loc,
            });
        }
    }
    found
}

pub(super) fn mentions(region: &Region, kind: &OpKind) -> bool {
    region.all_ops().any(|op| op.kind == *kind)
}

/// Whether evaluations call a hook, and no round.
pub(super) fn evaluates(hook: Hook) -> bool {
    matches!(hook, Hook::Personalize | Hook::Evaluate)
}

/// The functions that the outermost round calls, directly or not, by their hooks and layers.
pub(super) fn reached(module: &Module) -> HashSet<(Hook, usize)> {
    let mut reached = HashSet::new();
    let round = definition(module, Hook::Round, usize::MAX);
    let mut open: Vec<&Func> = round.into_iter().collect();
    while let Some(func) = open.pop() {
        if !reached.insert((func.hook, func.layer)) {
            continue;
        }
        open.extend(func.body.all_ops().filter_map(|op| match op.kind {
            OpKind::Fed(FedOp::Call(hook)) => definition(module, hook, usize::MAX),
            OpKind::Fed(FedOp::Super(hook)) => definition(module, hook, func.layer),
            _ => None,
        }));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FedAvg, FedProx, layers};
    use fedround_ir::fed::ArithOp;

    #[test]
    fn a_plug_in_that_calls_its_base_is_fine() {
        let module = fedround::stage(&FedProx {
            base: FedAvg::default(),
            mu: 0.1,
        })
        .unwrap();
        assert!(warnings(&module).is_empty());
    }

    /// A plug-in that takes the median, say, over FedAvg's mean: there is nothing that FedAvg could do.
    #[test]
    fn a_standard_definition_may_be_replaced() {
        let replaced = |weight: fn(&fedround::ClientCx) -> fedround::Scalar| {
            let own = crate::testing::Closure(move |m: &mut fedround::Definer| {
                m.round(|server, w| {
                    let w_k = w.broadcast(&server.all_clients());
                    fedround::__private::call::aggregate(server, w_k)
                });
                m.aggregate(|_, w_k| w_k.weighted_mean(weight));
                m.regularizer(|_, _| 0.0.into());
                m.layer(&crate::testing::Closure(|_: &mut fedround::Definer| {}));
                m.aggregate(|_, w_k| w_k.mean());
            });
            warnings(&fedround::stage(&own).unwrap()).len()
        };
        assert_eq!(replaced(|k| k.num_examples()), 0);
        assert_eq!(replaced(|k| k.num_examples() + 1.0), 1);
    }

    #[test]
    fn a_replaced_hook_names_both_layers() {
        let constant = |b: &mut fedround_ir::fed::Builder| {
            b.push(OpKind::Arith(ArithOp::Const(0.5)), &[], Loc::caller())
        };
        let module = layers(&[
            (
                "inner",
                &[
                    (Hook::Round, &|_, args| args.to_vec()),
                    (Hook::Regularizer, &|b, _| constant(b)),
                ],
            ),
            ("outer", &[(Hook::Regularizer, &|b, _| constant(b))]),
        ]);
        let text: Vec<String> = warnings(&module).iter().map(ToString::to_string).collect();
        assert_eq!(text.len(), 2);
        assert!(
            text[0].contains("`regularizer` of outer replaces that of inner"),
            "{}",
            text[0]
        );
        assert!(
            text[1].contains("`regularizer` of outer is called by no layer"),
            "{}",
            text[1]
        );
    }
}
