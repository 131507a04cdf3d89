//! Warnings about compositions that are valid but probably not what was meant.

use std::fmt;

use fedround_ir::Loc;
use fedround_ir::fed::{FedOp, Func, Hook, Module, OpKind, Place, Region};

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
        let below = module
            .funcs
            .iter()
            .filter(|other| other.hook == func.hook && other.layer < func.layer);
        let below = below.max_by_key(|other| other.layer);
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
        let outermost = module
            .funcs
            .iter()
            .enumerate()
            .filter(|(_, func)| func.hook == hook);
        let Some((index, func)) = outermost.max_by_key(|(_, func)| func.layer) else {
            continue;
        };
        // A round does not call it: evaluation does.
        let evaluates = matches!(hook, Hook::Personalize | Hook::Evaluate);
        if !evaluates && !reached.contains(&index) && !is_standard(func) {
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

/// The indices of the functions that the outermost round calls, directly or not.
pub(super) fn reached(module: &Module) -> Vec<usize> {
    let find = |hook: Hook, below: usize| {
        let all = module.funcs.iter().enumerate();
        let some = all.filter(|(_, func)| func.hook == hook && func.layer < below);
        some.max_by_key(|(_, func)| func.layer)
            .map(|(index, _)| index)
    };
    let mut reached: Vec<usize> = find(Hook::Round, usize::MAX).into_iter().collect();
    let mut next = 0;
    while let Some(func) = reached.get(next).and_then(|index| module.funcs.get(*index)) {
        for index in callees(func, &find) {
            if !reached.contains(&index) {
                reached.push(index);
            }
        }
        next += 1;
    }
    reached
}

fn callees(func: &Func, find: &dyn Fn(Hook, usize) -> Option<usize>) -> Vec<usize> {
    let has = |kind| mentions(&func.body, &kind);
    let called = Hook::ALL
        .into_iter()
        .filter(|hook| has(OpKind::Fed(FedOp::Call(*hook))));
    let inner = Hook::ALL
        .into_iter()
        .filter(|hook| has(OpKind::Fed(FedOp::Super(*hook))));
    let called = called.filter_map(|hook| find(hook, usize::MAX));
    called
        .chain(inner.filter_map(|hook| find(hook, func.layer)))
        .collect()
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
