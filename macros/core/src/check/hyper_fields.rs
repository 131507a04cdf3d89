//! Rules on the fields of a struct of hyper-parameters.

use syn::{Expr, ExprRange, Lit, RangeLimits};

use crate::diagnostics::{Diagnostics, text};
use crate::model::{FieldType, HyperField, number, string};

pub fn check(field: &HyperField<'_>, diagnostics: &mut Diagnostics) {
    check_type(field, diagnostics);
    check_default(field, diagnostics);
    check_range(field, diagnostics);
    check_choices(field, diagnostics);
}

const BASE_HELP: &str = "an algorithm that this one is added to is a type parameter: \
    `struct FedProx<A = FedAvg> { pub base: A, .. }`";
const SEVERAL_HELP: &str = "a hyper-parameter is one value: write a field for \
    each number, or a rule that gives them, such as `self.lr * self.decay.pow(server.round())`";

const WHOLE_HELP: &str = "write `usize`";
const OPTION_HELP: &str = "a hyper-parameter always has a value: write a `bool` beside it, or give a value such as 0 \
    the meaning of none";
const INTEGERS: [&str; 11] = [
    "u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64", "i128", "isize",
];

/// A type that a configuration file and a command line can give.
fn check_type(field: &HyperField<'_>, diagnostics: &mut Diagnostics) {
    if field.kind.is_none() {
        let found = text(field.ty);
        let help = match found.as_str() {
            several if several.starts_with("Vec") || several.starts_with('[') => SEVERAL_HELP,
            whole if INTEGERS.contains(&whole) => WHOLE_HELP,
            option if option.starts_with("Option<") => OPTION_HELP,
            _ => BASE_HELP,
        };
        diagnostics.error(
            field.ty,
            format!("expected `f32`, `f64`, `usize`, `bool`, `String` or an enum of words, found `{found}`"),
            help,
        );
    }
}

/// A default of the field's type: the paper's value, so that a spec runs without a word more.
fn check_default(field: &HyperField<'_>, diagnostics: &mut Diagnostics) {
    let Some(default) = field.default() else {
        const HELP: &str = "give the paper's value: `#[hyper(default = ..)]`";
        let help = match field.kind {
            // By its name, the type may be an algorithm as well.
            Some(FieldType::Word) => format!("{HELP}; {BASE_HELP}"),
            _ => HELP.to_owned(),
        };
        let message = format!("expected a default for `{}`, found none", field.name);
        diagnostics.error(field.name, message, help);
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
