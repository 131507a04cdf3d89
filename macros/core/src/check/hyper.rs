//! Rules on a struct of hyper-parameters.

use syn::{Expr, ExprRange, GenericParam, Lit, RangeLimits};

use crate::diagnostics::{Diagnostics, text};
use crate::model::{FieldType, HyperField, Hypers, key, number};
use crate::parse::Key;
use crate::suggestion::suggestion;

const STRUCT_KEYS: [&str; 4] = ["base_default", "centralized", "crate", "name"];
const FIELD_KEYS: [&str; 3] = ["choices", "default", "range"];

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
        check_type(field, &mut diagnostics);
        check_default(field, &mut diagnostics);
        check_range(field, &mut diagnostics);
        check_choices(field, &mut diagnostics);
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
        [_] => {}
        [_, second, ..] => diagnostics.error(
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

/// `base_default` is a registered name and needs a base; `crate` is a path.
fn check_struct_values(hypers: &Hypers<'_>, diagnostics: &mut Diagnostics) {
    if let Some(value) = key(hypers.keys, "base_default") {
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
    if let Some(value) = key(hypers.keys, "centralized").filter(|value| !boolean(value)) {
        diagnostics.error(
            value,
            format!("expected `true` or `false`, found `{}`", text(value)),
            "an algorithm on the examples of all clients together has `centralized = true`",
        );
    }
    if let Some(value) = key(hypers.keys, "name").filter(|value| string(value).is_none()) {
        diagnostics.error(
            value,
            format!("expected a text, found `{}`", text(value)),
            "write the name that commands have for it: `name = \"fedavg\"`",
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

fn boolean(value: &Expr) -> bool {
    matches!(value, Expr::Lit(lit) if matches!(lit.lit, Lit::Bool(_)))
}

fn string(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

const BASE_HELP: &str = "an algorithm that this one is added to is a type parameter: \
    `struct FedProx<A = FedAvg> { pub base: A, .. }`";
const SEVERAL_HELP: &str = "a hyper-parameter is one value: write a field for \
    each number, or a rule that gives them, such as `self.lr * self.decay.pow(server.round())`";

/// A type that a configuration file and a command line can give.
fn check_type(field: &HyperField<'_>, diagnostics: &mut Diagnostics) {
    if field.kind.is_none() {
        let found = text(field.ty);
        let several = found.starts_with("Vec") || found.starts_with('[');
        diagnostics.error(
            field.ty,
            format!("expected `f32`, `f64`, `usize`, `bool`, `String` or an enum of words, found `{found}`"),
            if several { SEVERAL_HELP } else { BASE_HELP },
        );
    }
}

/// A default of the field's type: the paper's value, so that a spec runs without a word more.
fn check_default(field: &HyperField<'_>, diagnostics: &mut Diagnostics) {
    let Some(default) = field.default() else {
        diagnostics.error(
            field.name,
            format!("expected a default for `{}`, found none", field.name),
            "give the paper's value: `#[hyper(default = ..)]`",
        );
        return;
    };
    let expected = match (field.kind, literal(default)) {
        (Some(FieldType::F32 | FieldType::F64), Some(Lit::Float(_)))
        | (Some(FieldType::Usize), Some(Lit::Int(_)))
        | (Some(FieldType::Bool), Some(Lit::Bool(_)))
        | (Some(FieldType::Text), Some(Lit::Str(_)))
        // What is not a literal has a type that rustc knows.
        | (None, _)
        | (_, None) => return,
        (Some(FieldType::F32 | FieldType::F64), _) => "a real number such as `0.1` or `1.0`",
        (Some(FieldType::Usize), _) => "a whole number such as `10`",
        (Some(FieldType::Bool), _) => "`true` or `false`",
        (Some(FieldType::Text), _) => "a text such as `\"mean\"`",
        (Some(FieldType::Word), _) => "a variant such as `Rule::Adam`",
    };
    diagnostics.error(
        default,
        format!("expected {expected}, found `{}`", text(default)),
        format!("the field is of type `{}`", text(field.ty)),
    );
}

fn literal(expr: &Expr) -> Option<&Lit> {
    match expr {
        Expr::Lit(lit) => Some(&lit.lit),
        Expr::Unary(unary) => literal(&unary.expr),
        _ => None,
    }
}

/// A range, on a number, that has the default in it. Ends that are no literals are not compared.
fn check_range(field: &HyperField<'_>, diagnostics: &mut Diagnostics) {
    let Some(value) = field.range() else { return };
    let Expr::Range(range) = value else {
        diagnostics.error(
            value,
            format!("expected a range, found `{}`", text(value)),
            "write `0.0..=1.0`, `0.0..1.0`, `1..` or `..`",
        );
        return;
    };
    if field.kind.is_some_and(|kind| !kind.is_number()) {
        diagnostics.error(
            range,
            format!("expected no range on a `{}`, found one", text(field.ty)),
            "only numbers have ranges",
        );
        return;
    }
    if let (Some(min), Some(max)) = (end(&range.start), end(&range.end))
        && min > max
    {
        diagnostics.error(
            range,
            "expected a range from the smaller to the larger number, found the reverse",
            format!("`{max}..={min}`"),
        );
        return;
    }
    if let Some((default, x)) = field.default().and_then(|d| Some((d, number(d)?)))
        && !contains(range, x)
    {
        let found = text(default);
        diagnostics.error(
            default,
            format!("expected a default in `{}`, found `{found}`", text(range)),
            "widen the range or change the default",
        );
    }
}

/// A list of words, on a text, that has the default in it.
fn check_choices(field: &HyperField<'_>, diagnostics: &mut Diagnostics) {
    let Some(value) = field.choices() else { return };
    let words = match value {
        Expr::Array(array) => array.elems.iter().map(string).collect(),
        _ => None,
    };
    let Some(words) = words.filter(|words: &Vec<String>| !words.is_empty()) else {
        diagnostics.error(
            value,
            format!("expected a list of texts, found `{}`", text(value)),
            "write the words: `choices = [\"mean\", \"sum\"]`",
        );
        return;
    };
    if field.kind.is_some_and(|kind| kind != FieldType::Text) {
        diagnostics.error(
            value,
            format!("expected no choices of a `{}`, found some", text(field.ty)),
            "only texts have choices; numbers have a range, and an enum its variants",
        );
        return;
    }
    if let Some(default) = field.default()
        && string(default).is_some_and(|word| !words.contains(&word))
    {
        diagnostics.error(
            default,
            format!("expected one of the choices, found `{}`", text(default)),
            format!("the choices are {}", words.join(", ")),
        );
    }
}

fn end(expr: &Option<Box<Expr>>) -> Option<f64> {
    expr.as_deref().and_then(number)
}

fn contains(range: &ExprRange, x: f64) -> bool {
    let above = end(&range.start).is_none_or(|min| x >= min);
    let below = end(&range.end).is_none_or(|max| match range.limits {
        RangeLimits::Closed(_) => x <= max,
        RangeLimits::HalfOpen(_) => x < max,
    });
    above && below
}
