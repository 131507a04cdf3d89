//! A struct of hyper-parameters: its fields, their attributes and the base.

use syn::ext::IdentExt;
use syn::{
    Attribute, DeriveInput, Expr, GenericArgument, Ident, Lit, Meta, PathArguments, Type,
    TypeParam, UnOp,
};

use super::Names;
use crate::parse::{HyperInput, Key, hyper_crate};

/// What `#[derive(Hyper)]` stands on.
pub struct Hypers<'a> {
    /// The struct as it was written.
    pub item: &'a DeriveInput,
    /// Where fedround is.
    pub names: Names,
    /// Keys on the struct.
    pub keys: &'a [Key],
    /// The type parameter, and the fields of that type with their keys: exactly one field, without keys, if
    /// the struct is right.
    pub base: Option<(&'a TypeParam, Vec<KeyedField<'a>>)>,
    /// The hyper-parameters, in order.
    pub fields: Vec<HyperField<'a>>,
    /// The doc comment: one line for each paragraph.
    pub doc: String,
}

/// A field with its keys.
pub type KeyedField<'a> = (&'a Ident, &'a [Key]);

/// A hyper-parameter.
pub struct HyperField<'a> {
    /// Its name.
    pub name: &'a Ident,
    /// Its type as it was written.
    pub ty: &'a Type,
    /// Its type, if it is one of the supported ones.
    pub kind: Option<FieldType>,
    /// Keys on the field.
    pub keys: &'a [Key],
    /// The doc comment, on one line.
    pub doc: String,
}

/// The types that a hyper-parameter can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// `usize`
    Usize,
    /// `bool`
    Bool,
    /// `String`
    Text,
    /// An enum of words, with `#[derive(Hyper)]` of its own.
    Word,
}

/// The model of a struct; it takes anything, as finding fault is `check`'s task.
pub fn hypers(input: &HyperInput) -> Hypers<'_> {
    let param = input.item.generics.type_params().next();
    let is_base = |ty: &Type| param.is_some_and(|param| is_path(ty, &param.ident));
    let named = || {
        input
            .fields
            .iter()
            .filter_map(|(field, keys)| Some((field, field.ident.as_ref()?, keys)))
    };
    let bases = named()
        .filter(|(field, ..)| is_base(&field.ty))
        .map(|(_, name, keys)| (name, keys.as_slice()))
        .collect();
    let fields = named()
        .filter(|(field, ..)| !is_base(&field.ty))
        .map(|(field, name, keys)| HyperField {
            name,
            ty: &field.ty,
            kind: FieldType::of(&field.ty),
            keys,
            doc: paragraphs(&field.attrs).join(" "),
        })
        .collect();
    Hypers {
        item: &input.item,
        names: Names::new(hyper_crate(&input.item.attrs)),
        keys: &input.keys,
        base: param.map(|param| (param, bases)),
        fields,
        doc: paragraphs(&input.item.attrs).join("\n"),
    }
}

impl<'a> Hypers<'a> {
    /// The struct's name in lower case, by which commands call it if it declares no other.
    pub fn type_name(&self) -> String {
        lower_case(&self.item.ident)
    }

    /// `FedAvg` of `struct FedProx<A = FedAvg>`.
    pub fn base_type(&self) -> Option<&'a Type> {
        self.base
            .as_ref()
            .and_then(|(param, _)| param.default.as_ref())
    }
}

impl FieldType {
    /// The type of that last name.
    fn of(ty: &Type) -> Option<Self> {
        let Type::Path(path) = ty else { return None };
        let last = path
            .path
            .segments
            .last()
            .filter(|last| last.arguments.is_none())?;
        Some(match last.ident.to_string().as_str() {
            "f32" => Self::F32,
            "f64" => Self::F64,
            "usize" => Self::Usize,
            "bool" => Self::Bool,
            "String" => Self::Text,
            // Types of one's own are in upper case; that it is such an enum is for rustc to check.
            name if name.starts_with(char::is_uppercase) => Self::Word,
            _ => return None,
        })
    }

    /// Whether it has an order, so that it can have a range.
    pub fn is_number(self) -> bool {
        matches!(self, Self::F32 | Self::F64 | Self::Usize)
    }
}

impl HyperField<'_> {
    /// `default = ..`.
    pub fn default(&self) -> Option<&Expr> {
        key(self.keys, "default")
    }

    /// `choices = [..]`.
    pub fn choices(&self) -> Option<&Expr> {
        key(self.keys, "choices")
    }

    /// `range = ..`.
    pub fn range(&self) -> Option<&Expr> {
        key(self.keys, "range")
    }
}

/// The first value of a key.
pub fn key<'a>(keys: &'a [Key], name: &str) -> Option<&'a Expr> {
    keys.iter()
        .find(|key| key.name == name)
        .map(|key| &key.value)
}

/// The value of a literal number, such as `-0.5`; other expressions are rustc's to evaluate.
pub fn number(expr: &Expr) -> Option<f64> {
    let value = match expr {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(int) => int.base10_digits().parse().ok(),
            Lit::Float(float) => float.base10_parse().ok(),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => number(&unary.expr).map(|x| -x),
        Expr::Paren(inner) => number(&inner.expr),
        Expr::Group(inner) => number(&inner.expr),
        _ => None,
    };
    value.filter(|x: &f64| x.is_finite())
}

/// The text of a literal text.
pub fn string(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// An algorithm as commands name it: `fedprox(scaffold)` of `FedProx<Scaffold>`, the types' names in lower
/// case. Nothing for a type of another form.
pub fn base_name(ty: &Type) -> Option<String> {
    let path = match ty {
        Type::Path(path) if path.qself.is_none() => &path.path,
        Type::Group(inner) => return base_name(&inner.elem),
        Type::Paren(inner) => return base_name(&inner.elem),
        _ => return None,
    };
    let last = path.segments.last()?;
    let name = lower_case(&last.ident);
    let arguments = match &last.arguments {
        PathArguments::None => return Some(name),
        PathArguments::AngleBracketed(arguments) => &arguments.args,
        PathArguments::Parenthesized(_) => return None,
    };
    match (arguments.first()?, arguments.len()) {
        (GenericArgument::Type(inner), 1) => Some(format!("{name}({})", base_name(inner)?)),
        _ => None,
    }
}

fn lower_case(ident: &Ident) -> String {
    ident.unraw().to_string().to_lowercase()
}

fn is_path(ty: &Type, name: &Ident) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}

/// The doc comment, each paragraph on one line.
fn paragraphs(attrs: &[Attribute]) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in attrs.iter().filter_map(doc_line) {
        let line = line.trim();
        match paragraphs.last_mut() {
            Some(last) if !line.is_empty() => {
                if !last.is_empty() {
                    last.push(' ');
                }
                last.push_str(line);
            }
            _ => paragraphs.push(String::new()),
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

fn doc_line(attr: &Attribute) -> Option<String> {
    match &attr.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => string(&meta.value),
        _ => None,
    }
}
