//! The standard definitions of hooks, for those that are called and that no layer defines:
//!
//! - `aggregate`: the mean of what the clients trained, weighted by their examples;
//! - `gradient`: the gradient of `loss` and `regularizer`;
//! - `loss`: the model's [`loss`](crate::ClientCx::loss), for classifiers cross-entropy of their
//!   predictions;
//! - `regularizer`: none;
//! - `personalize`: the global model;
//! - `evaluate`: what `personalize` makes of the global model, on every client;
//! - `server_gradient`: the gradient of the model's loss.

use fedround_ir::fed::{FedOp, Hook, Module, OpKind};

use crate::algorithm::call;
use crate::hyper::NoHypers;
use crate::{Definer, ServerCode, grad};

/// Defines some hooks as a layer below those that leave them to it.
pub(crate) fn define(hooks: &[Hook], m: &mut Definer) {
    m.layer(&NoHypers("standard"));
    for hook in hooks {
        match hook {
            Hook::Aggregate => m.aggregate(|_, w_k| w_k.weighted_mean(|k| k.num_examples())),
            Hook::Gradient => {
                m.gradient(|k, w, b| grad(w, |w| call::loss(k, w, b) + call::regularizer(k, w)))
            }
            Hook::Loss => m.loss(|k, w, b| k.loss(w, b)),
            Hook::Regularizer => m.regularizer(|_, _| 0.0.into()),
            Hook::Personalize => m.personalize(|_, w| w),
            Hook::Evaluate => m.evaluate(|server, w| {
                let w_k = w.broadcast(&server.all_clients());
                w_k.map(|k, w| call::personalize(k, w))
            }),
            Hook::ServerGradient => {
                m.server_gradient(|s, w, x, y| grad(w, |w| s.loss(w, x, y)));
            }
            Hook::Round | Hook::ClientUpdate => {}
        }
    }
}

/// The hooks with a standard definition that a module calls and that none of its layers defines,
/// those that the definitions call in turn among them.
pub(crate) fn missing(module: &Module) -> Vec<Hook> {
    // Each with the layer below which its definition must be.
    let mut called = vec![];
    for func in &module.funcs {
        called.extend(func.body.all_ops().filter_map(|op| match op.kind {
            OpKind::Fed(FedOp::Call(hook)) => Some((hook, usize::MAX)),
            OpKind::Fed(FedOp::Super(hook)) => Some((hook, func.layer)),
            _ => None,
        }));
    }
    let defined = |hook: Hook, below: usize| {
        let mut layers = module.funcs.iter().filter(|f| f.hook == hook);
        layers.any(|f| f.layer < below)
    };
    let lacks = |hook: Hook| {
        called
            .iter()
            .any(|&(s, below)| s == hook && !defined(hook, below))
    };
    let gradient = lacks(Hook::Gradient);
    let wanted = |hook: Hook| match hook {
        Hook::Round | Hook::ClientUpdate => false,
        Hook::Loss | Hook::Regularizer if gradient => lacks(hook) || !defined(hook, usize::MAX),
        hook => lacks(hook),
    };
    Hook::ALL.into_iter().filter(|hook| wanted(*hook)).collect()
}
