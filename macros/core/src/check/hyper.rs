//! Rules on a struct of hyper-parameters.

use quote::ToTokens;
use syn::{Expr, GenericParam, Lit};

use super::hyper_fields;
use crate::diagnostics::{Diagnostics, text};
use crate::model::{Hypers, base_name, key, string};
use crate::parse::Key;
use crate::suggestion::suggestion;

const STRUCT_KEYS: [&str; 4] = ["base_default", "centralized", "crate", "name"];
const FIELD_KEYS: [&str; 3] = ["choices", "default", "range"];
/// Layers that fedround adds to algorithms itself.
const OWN_LAYERS: [&str; 2] = ["personalized", "standard"];

/// Checks a struct.
///
/// # Errors
/// Every broken rule.
pub fn hypers(hypers: &Hypers<'_>) -> syn::Result<()> {
    let mut diagnostics = Diagnostics::default();
    check_generics(hypers, &mut diagnostics);
    check_base(hypers, &mut diagnostics);
    check_keys(hypers.keys, &STRUCT_KEYS, &mut diagnostics);
    check_struct_values(hypers, &mut diagnostics);
    for field in &hypers.fields {
        check_keys(field.keys, &FIELD_KEYS, &mut diagnostics);
        hyper_fields::check(field, &mut diagnostics);
    }
    diagnostics.finish(())
}

/// At most one parameter, a type: the base. Hyper-parameters are numbers, words and switches, with
/// nothing to be generic over.
fn check_generics(hypers: &Hypers<'_>, diagnostics: &mut Diagnostics) {
    let mut types = 0;
    for param in &hypers.item.generics.params {
        let found = match param {
            GenericParam::Type(_) if types == 0 => {
                types += 1;
                continue;
            }
            GenericParam::Type(_) => "another type parameter",
            GenericParam::Lifetime(_) => "a lifetime",
            GenericParam::Const(_) => "a constant",
        };
        diagnostics.error(
            param,
            format!("expected at most one type parameter, the base, found {found}"),
            "an algorithm is added to one other: `struct FedProx<A = FedAvg> { pub base: A, .. }`",
        );
    }
}

/// The type parameter is the type of one field, without keys: the base has its own defaults.
fn check_base(hypers: &Hypers<'_>, diagnostics: &mut Diagnostics) {
    let Some((param, fields)) = &hypers.base else {
        return;
    };
    match fields.as_slice() {
        [] => diagnostics.error(
            &param.ident,
            format!(
                "expected a field of type `{}`, the base, found none",
                param.ident
            ),
            format!("add `pub base: {}`", param.ident),
        ),
        [(_, keys)] => {
            if let Some(key) = keys.first() {
                let name = &key.name;
                diagnostics.error(
                    name,
                    format!("expected no keys on the base, found `{name}`"),
                    "its default is the parameter's: `struct FedProx<A = FedAvg> { pub base: A, .. }`",
                );
            }
        }
        [_, (second, _), ..] => diagnostics.error(
            second,
            format!(
                "expected one field of type `{}`, found another",
                param.ident
            ),
            "an algorithm is added to one other",
        ),
    }
}

/// Only the keys that mean something, each once.
fn check_keys(keys: &[Key], known: &[&str], diagnostics: &mut Diagnostics) {
    let quoted: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
    for (index, key) in keys.iter().enumerate() {
        let name = &key.name;
        if !known.iter().any(|known| name == known) {
            diagnostics.error(
                name,
                format!("expected {}, found `{name}`", quoted.join(" or ")),
                suggestion(&name.to_string(), known),
            );
        } else if keys.iter().take(index).any(|other| other.name == *name) {
            diagnostics.error(
                name,
                format!("expected `{name}` once, found it again"),
                "remove one of the two",
            );
        }
    }
}

/// The values that a struct's keys have.
fn check_struct_values(hypers: &Hypers<'_>, diagnostics: &mut Diagnostics) {
    check_name(hypers, diagnostics);
    check_default_base(hypers, diagnostics);
    if let Some(value) = key(hypers.keys, "centralized").filter(|value| !boolean(value)) {
        diagnostics.error(
            value,
            format!("expected `true` or `false`, found `{}`", text(value)),
            "an algorithm on the examples of all clients together has `centralized = true`",
        );
    }
    if let Some(value) = key(hypers.keys, "crate").filter(|value| !matches!(value, Expr::Path(_))) {
        diagnostics.error(
            value,
            format!("expected a path, found `{}`", text(value)),
            "write where fedround is: `crate = my_crate::fedround`",
        );
    }
}

/// A name that commands can read, and that no layer of fedround's own has: states and hyper-parameters are
/// found by it.
fn check_name(hypers: &Hypers<'_>, diagnostics: &mut Diagnostics) {
    const HELP: &str = "choose another name for commands and graphs: `#[hyper(name = \"mine\")]`";
    let (at, name) = match key(hypers.keys, "name") {
        None => (hypers.item.ident.to_token_stream(), hypers.type_name()),
        Some(value) => match string(value) {
            Some(name) => (value.to_token_stream(), name),
            None => {
                return diagnostics.error(
                    value,
                    format!("expected a text, found `{}`", text(value)),
                    "write the name that commands have for it: `name = \"fedavg\"`",
                );
            }
        },
    };
    let readable = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if OWN_LAYERS.contains(&name.as_str()) {
        let message = format!(
            "expected a name of the algorithm's own, found `{name}`, a layer of fedround's own"
        );
        diagnostics.error(at, message, HELP);
    } else if name.is_empty() || !name.chars().all(readable) {
        let message = format!("expected a name of letters, digits, `_` and `-`, found `{name}`");
        diagnostics.error(at, message, HELP);
    }
}

/// The default base as commands name it, declared or by the parameter's default type.
fn check_default_base(hypers: &Hypers<'_>, diagnostics: &mut Diagnostics) {
    let Some(value) = key(hypers.keys, "base_default") else {
        if let Some(ty) = hypers.base_type().filter(|ty| base_name(ty).is_none()) {
            let found = text(ty);
            diagnostics.error(
                ty,
                format!("expected a type such as `FedAvg` or `FedProx<Scaffold>`, found `{found}`"),
                "name the default base as commands do: `#[hyper(base_default = \"fedprox(scaffold)\")]`",
            );
        }
        return;
    };
    if string(value).is_none() {
        diagnostics.error(
            value,
            format!("expected a registered name, found `{}`", text(value)),
            "write the name as `fedround list` shows it: `base_default = \"fedavg\"`",
        );
    } else if hypers.base.is_none() {
        diagnostics.error(
            value,
            "expected a type parameter for the base, found none",
            "`struct FedProx<A = FedAvg> { pub base: A, .. }`",
        );
    }
}

fn boolean(value: &Expr) -> bool {
    matches!(value, Expr::Lit(lit) if matches!(lit.lit, Lit::Bool(_)))
}
