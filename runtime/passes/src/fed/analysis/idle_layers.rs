//! Layers of an algorithm that do nothing, such as a plug-in over a base that calls none of its hooks.

use std::collections::BTreeSet;

use fedround_ir::fed::{FedOp, Func, Module, OpKind};

use super::super::definition::definition;
use super::standard_hooks::is_standard;
use super::warnings::{evaluates, mentions, reached};

/// A layer none of whose hooks is ever called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleLayer {
    /// The name of its algorithm.
    pub layer: String,
    /// The hooks that it defines.
    pub hooks: BTreeSet<&'static str>,
    /// The name of a layer around it that replaces one of these hooks, if this layer's own version calls the inner one.
    /// With the two layers exchanged, this layer would have an effect.
    pub replaced_by: Option<String>,
}

/// The plug-ins that do nothing in any of an algorithm's phases, outermost first. The modules are those before
/// linking. The innermost algorithm may do nothing: a plug-in that defines all hooks may have a base whose
/// hyper-parameters alone it reads.
pub fn idle_layers(phases: &[&Module]) -> Vec<IdleLayer> {
    let layers = phases.iter().map(|module| module.layers.len()).min();
    let idle = |from_outside: usize| {
        let (mut hooks, mut replaced_by) = (BTreeSet::new(), None);
        for module in phases {
            let layer = module.layers.len() - 1 - from_outside;
            if layer == innermost(module) {
                return None;
            }
            let reached = reached(module);
            let own = module.funcs.iter().filter(|func| func.layer == layer);
            for func in own.filter(|func| !is_standard(func)) {
                if reached.contains(&(func.hook, layer)) || evaluates(func.hook) {
                    return None;
                }
                hooks.insert(func.hook.name());
                replaced_by = replaced_by.or_else(|| replacing(module, func));
            }
        }
        let layer = phases.last()?.layers.iter().rev().nth(from_outside)?;
        (!hooks.is_empty()).then(|| IdleLayer {
            layer: layer.name.clone(),
            hooks,
            replaced_by,
        })
    };
    (0..layers.unwrap_or_default()).filter_map(idle).collect()
}

/// The name of the outermost layer that defines the hook of a function further in, if that function calls what it is
/// around.
fn replacing(module: &Module, func: &Func) -> Option<String> {
    let inner = OpKind::Fed(FedOp::Super(func.hook));
    let outer = definition(module, func.hook, usize::MAX)?.layer;
    let works_around_it = outer > func.layer && mentions(&func.body, &inner);
    works_around_it.then(|| module.layers.get(outer).map(|layer| layer.name.clone()))?
}

/// The innermost layer that has a definition which is not the standard one.
fn innermost(module: &Module) -> usize {
    let own = module.funcs.iter().filter(|func| !is_standard(func));
    own.map(|func| func.layer).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use fedround_ir::Loc;
    use fedround_ir::fed::Hook;

    use super::*;
    use crate::testing::{Fill, layers};

    #[test]
    fn a_layer_is_idle_if_no_phase_calls_it() {
        let same: Fill = &|_, args| args.to_vec();
        let module = layers(&[
            ("inner", &[(Hook::Round, same)]),
            ("outer", &[(Hook::Aggregate, same)]),
        ]);
        let idle = idle_layers(&[&module]);
        let expected = IdleLayer {
            layer: "outer".to_owned(),
            hooks: BTreeSet::from(["aggregate"]),
            replaced_by: None,
        };
        assert_eq!(idle, [expected]);
        // The outermost round is what runs: the plug-in below it is idle. So is the innermost layer, whose
        // hyper-parameters others may read.
        let module = layers(&[
            ("inner", &[(Hook::Round, same)]),
            ("middle", &[(Hook::Round, same)]),
            ("outer", &[(Hook::Round, same), (Hook::Aggregate, same)]),
        ]);
        let idle: Vec<String> = idle_layers(&[&module])
            .into_iter()
            .map(|idle| idle.layer)
            .collect();
        assert_eq!(idle, ["middle"]);
        // In another phase it is called.
        let phase = |hook| {
            layers(&[
                ("inner", &[(Hook::Round, same)]),
                ("outer", &[(hook, same)]),
            ])
        };
        let (idle, called) = (phase(Hook::Aggregate), phase(Hook::Round));
        assert!(idle_layers(&[&idle, &called]).is_empty());
        // What evaluations call is not idle.
        let module = layers(&[
            ("inner", &[(Hook::Round, same)]),
            ("outer", &[(Hook::Personalize, same)]),
        ]);
        assert!(idle_layers(&[&module]).is_empty());
    }

    #[test]
    fn a_layer_that_calls_what_it_is_around_may_be_around_the_one_that_replaces_it() {
        let same: Fill<'_> = &|_, args| args.to_vec();
        let inner: Fill<'_> =
            &|b, args| b.push(OpKind::Fed(FedOp::Super(Hook::Round)), args, Loc::caller());
        for (middle, expected) in [
            ((Hook::Round, inner), Some("outer")),
            // It would replace the outer one's round in turn.
            ((Hook::Round, same), None),
            // Nobody replaces it; nobody calls it either.
            ((Hook::Aggregate, same), None),
        ] {
            let module = layers(&[
                ("inner", &[(Hook::Round, same)]),
                ("middle", &[middle]),
                ("outer", &[(Hook::Round, same)]),
            ]);
            let found = idle_layers(&[&module]);
            let [idle] = found.as_slice() else {
                panic!("{found:?}");
            };
            assert_eq!(idle.layer, "middle");
            assert_eq!(idle.replaced_by.as_deref(), expected);
        }
    }
}
