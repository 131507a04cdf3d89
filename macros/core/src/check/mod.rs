//! The rules, one function each, with the reason for each rule. Code is emitted only after all rules have
//! run.

mod conditions;
mod hyper;
mod hyper_fields;
mod item;
mod lists;
mod loops;
mod self_uses;
mod signature;
mod syntax;
mod variables;

pub use hyper::hypers;

use syn::Block;

use crate::diagnostics::Diagnostics;
use crate::model::{Body, HookImpl, Spec, block_body, params};

/// The broken rules of an impl.
#[derive(Debug)]
pub struct Faults {
    /// All of them.
    pub error: syn::Error,
    /// For each hook, how many statements of its body keep the rules before the first that does not;
    /// `None` if rules on the impl or on signatures are broken.
    pub sound: Option<Vec<usize>>,
}

/// Checks an impl.
///
/// # Errors
/// Every broken rule.
pub fn spec(spec: &Spec<'_>) -> Result<(), Faults> {
    let mut diagnostics = Diagnostics::default();
    item::check(spec, &mut diagnostics);
    signature::check(spec, &mut diagnostics);
    let outside = diagnostics.count();
    for hook in &spec.hooks {
        body(&hook.method.block, &hook.body, spec, &mut diagnostics);
    }
    let in_bodies = outside == 0 && diagnostics.count() > 0;
    diagnostics.finish(()).map_err(|error| Faults {
        error,
        sound: in_bodies.then(|| spec.hooks.iter().map(|hook| sound(hook, spec)).collect()),
    })
}

fn body(block: &Block, body: &Body<'_>, spec: &Spec<'_>, diagnostics: &mut Diagnostics) {
    let before = diagnostics.count();
    syntax::check(block, diagnostics);
    conditions::check(body, diagnostics);
    self_uses::check(body, spec.base, diagnostics);
    variables::check(body, diagnostics);
    loops::check_forms(body, diagnostics);
    // What a loop carries means nothing while its body is wrong.
    if diagnostics.count() == before {
        loops::check_carried(body, diagnostics);
    }
}

/// How many statements of a body keep the rules before the first that does not.
fn sound(hook: &HookImpl<'_>, spec: &Spec<'_>) -> usize {
    let all = &hook.method.block;
    let keeps = |count: &usize| {
        let mut block = all.clone();
        block.stmts.truncate(*count);
        let mut diagnostics = Diagnostics::default();
        let model = block_body(params(hook.method), &block, spec.base);
        body(&block, &model, spec, &mut diagnostics);
        diagnostics.finish(()).is_ok()
    };
    (0..=all.stmts.len()).rev().find(keeps).unwrap_or_default()
}
