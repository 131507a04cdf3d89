//! The rules, one function each, with the reason for each rule. Code is emitted only after all rules have
//! run.

mod conditions;
mod hyper;
mod item;
mod loops;
mod self_uses;
mod signature;
mod syntax;
mod variables;

pub use hyper::hypers;

use crate::diagnostics::Diagnostics;
use crate::model::Spec;

/// Checks an impl.
///
/// # Errors
/// Every broken rule.
pub fn spec(spec: &Spec<'_>) -> syn::Result<()> {
    let mut diagnostics = Diagnostics::default();
    item::check(spec, &mut diagnostics);
    signature::check(spec, &mut diagnostics);
    for hook in &spec.hooks {
        let before = diagnostics.count();
        syntax::check(&hook.method.block, &mut diagnostics);
        conditions::check(&hook.body, &mut diagnostics);
        self_uses::check(&hook.body, spec.base, &mut diagnostics);
        variables::check(&hook.body, &mut diagnostics);
        loops::check_forms(&hook.body, &mut diagnostics);
        // What a loop carries means nothing while its body is wrong.
        if diagnostics.count() == before {
            loops::check_carried(&hook.body, &mut diagnostics);
        }
    }
    diagnostics.finish(())
}
