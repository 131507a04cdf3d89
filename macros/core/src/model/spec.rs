//! An `impl Algorithm for X` as hooks with bodies.

use syn::{Attribute, FnArg, ImplItem, ImplItemFn, ItemImpl, Pat};

use super::{Body, Hook, Names, block_body, bound_names};
use crate::parse::Federated;

/// What `#[federated]` stands on.
pub struct Spec<'a> {
    /// The field that holds the algorithm this one is added to.
    pub base: Option<&'a syn::Ident>,
    /// Where fedround is.
    pub names: Names,
    /// The impl as it was written.
    pub item: &'a ItemImpl,
    /// Its methods, in order.
    pub hooks: Vec<HookImpl<'a>>,
}

/// A method of the impl.
pub struct HookImpl<'a> {
    /// The hook of that name, if there is one.
    pub hook: Option<&'static Hook>,
    /// The method as it was written.
    pub method: &'a ImplItemFn,
    /// What its body does.
    pub body: Body<'a>,
}

impl HookImpl<'_> {
    /// Its `#[cfg(..)]` attributes, which may leave it out.
    pub fn conditions(&self) -> impl Iterator<Item = &Attribute> {
        let attrs = self.method.attrs.iter();
        attrs.filter(|attr| attr.path().is_ident("cfg"))
    }
}

/// The model of an impl; it takes anything, as finding fault is `check`'s task.
pub fn spec(input: &Federated) -> Spec<'_> {
    let base = input.base.as_ref();
    let hooks = input.item.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) => Some(HookImpl {
            hook: Hook::from_name(&method.sig.ident.to_string()),
            method,
            body: block_body(params(method), &method.block, base),
        }),
        _ => None,
    });
    Spec {
        base,
        names: Names::new(input.krate.clone()),
        item: &input.item,
        hooks: hooks.collect(),
    }
}

/// The variables that a method's parameters bind.
pub fn params(method: &ImplItemFn) -> Vec<String> {
    let patterns = method.sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(input) => Some::<&Pat>(&input.pat),
        FnArg::Receiver(_) => None,
    });
    patterns.flat_map(bound_names).collect()
}
