//! Rules on the signatures of methods. Types are checked by rustc, which knows what a name refers to.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{FnArg, ReturnType, Signature};

use super::syntax::check_pattern;
use crate::diagnostics::{Diagnostics, text};
use crate::model::{Hook, HookImpl, Spec};
use crate::suggestion::hook_suggestion;

pub fn check(spec: &Spec<'_>, diagnostics: &mut Diagnostics) {
    let mut seen = Vec::new();
    for hook in &spec.hooks {
        check_name(hook, diagnostics);
        check_once(hook, &mut seen, diagnostics);
        check_receiver(&hook.method.sig, diagnostics);
        check_qualifiers(&hook.method.sig, diagnostics);
        check_params(hook, diagnostics);
        check_returns(&hook.method.sig, diagnostics);
    }
}

/// The method is a hook: another name is a typing error, or a helper, which is a free function.
fn check_name(hook: &HookImpl<'_>, diagnostics: &mut Diagnostics) {
    let name = &hook.method.sig.ident;
    if hook.hook.is_some() {
        return;
    }
    let help = if name == "define" {
        "`#[federated]` writes `define` from the hooks".to_owned()
    } else {
        hook_suggestion(&name.to_string())
    };
    diagnostics.error(name, format!("expected a hook, found `{name}`"), help);
}

/// Each hook once: the graph has one definition of it for each layer. Of those with a `#[cfg(..)]`, rustc keeps
/// and checks some.
fn check_once(hook: &HookImpl<'_>, seen: &mut Vec<&'static Hook>, diagnostics: &mut Diagnostics) {
    let name = &hook.method.sig.ident;
    let Some(this) = hook.hook.filter(|_| hook.conditions().next().is_none()) else {
        return;
    };
    if seen.contains(&this) {
        diagnostics.error(
            name,
            format!("expected `{name}` once, found it again"),
            "a layer defines a hook once; remove one of the two",
        );
    }
    seen.push(this);
}

/// `&self`: a spec is read while the graph is built and never changes.
fn check_receiver(sig: &Signature, diagnostics: &mut Diagnostics) {
    const HELP: &str = "a hook reads its hyper-parameters: write `&self`";
    let Some(receiver) = sig.receiver() else {
        let at = sig.paren_token.span.open();
        diagnostics.error_at(at, "expected `&self`, found no receiver", HELP);
        return;
    };
    let plain = receiver.reference.is_some()
        && receiver.mutability.is_none()
        && receiver.colon_token.is_none();
    if !plain {
        let found = text(receiver);
        diagnostics.error(receiver, format!("expected `&self`, found `{found}`"), HELP);
    }
}

/// No `async`, `unsafe`, `const`, `extern` or type parameters: the trait's methods have none.
fn check_qualifiers(sig: &Signature, diagnostics: &mut Diagnostics) {
    let generics = sig
        .generics
        .lt_token
        .map(|_| sig.generics.to_token_stream());
    let found: [(Option<TokenStream>, &str); 5] = [
        (sig.asyncness.map(ToTokens::into_token_stream), "`async`"),
        (sig.unsafety.map(ToTokens::into_token_stream), "`unsafe`"),
        (sig.constness.map(ToTokens::into_token_stream), "`const`"),
        (sig.abi.as_ref().map(ToTokens::to_token_stream), "`extern`"),
        (generics, "type parameters"),
    ];
    for (tokens, found) in found {
        if let Some(tokens) = tokens {
            diagnostics.error(
                tokens,
                format!("expected a plain `fn`, found {found}"),
                "the hooks of `Algorithm` are plain functions",
            );
        }
    }
}

/// As many parameters as the hook has.
fn check_params(hook: &HookImpl<'_>, diagnostics: &mut Diagnostics) {
    let sig = &hook.method.sig;
    let typed: Vec<_> = sig
        .inputs
        .iter()
        .filter_map(|input| match input {
            FnArg::Typed(input) => Some(input),
            FnArg::Receiver(_) => None,
        })
        .collect();
    for input in &typed {
        check_pattern(&input.pat, diagnostics);
    }
    let Some(expected) = hook.hook.map(|hook| hook.params) else {
        return;
    };
    if typed.len() == expected.len() {
        return;
    }
    let list: Vec<String> = expected
        .iter()
        .map(|(n, ty)| format!("{n}: {ty}"))
        .collect();
    let message = format!(
        "expected {} parameters after `&self`, found {}",
        expected.len(),
        typed.len()
    );
    let help = format!("`fn {}(&self, {})`", sig.ident, list.join(", "));
    match typed.get(expected.len()) {
        Some(first_too_many) => diagnostics.error(first_too_many, message, help),
        None => diagnostics.error_at(sig.paren_token.span.close(), message, help),
    }
}

/// Every hook returns a value; without one the body's last expression is probably missing too.
fn check_returns(sig: &Signature, diagnostics: &mut Diagnostics) {
    if matches!(sig.output, ReturnType::Default) {
        diagnostics.error(
            &sig.ident,
            "expected a return type, found none",
            "a hook returns its value: `-> Params` and the like",
        );
    }
}
