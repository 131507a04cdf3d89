//! `#[derive(Hyper)] struct ..` with its `#[hyper(key = value, ..)]` attributes.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Expr, Field, Ident, Path, Token};

use crate::diagnostics::Diagnostics;

/// The struct and the keys of its attributes.
pub struct HyperInput {
    /// The struct as it was written.
    pub item: DeriveInput,
    /// Keys on the struct.
    pub keys: Vec<Key>,
    /// The named fields, each with its keys.
    pub fields: Vec<(Field, Vec<Key>)>,
}

/// `key = value` of a `#[hyper(..)]`.
pub struct Key {
    /// Its name.
    pub name: Ident,
    /// Its value.
    pub value: Expr,
}

impl Parse for Key {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = |error: syn::Error| {
            let message = "expected `key = value`, such as `default = 0.1`";
            syn::Error::new(error.span(), message)
        };
        let name = input.call(Ident::parse_any).map_err(key)?;
        input.parse::<Token![=]>().map_err(key)?;
        let value = input.parse()?;
        Ok(Self { name, value })
    }
}

/// Parses the derive's input.
///
/// # Errors
/// Malformed attributes, and anything but a struct with named fields.
pub fn hyper(item: DeriveInput) -> syn::Result<HyperInput> {
    let mut diagnostics = Diagnostics::default();
    let keys = keys(&item.attrs, &mut diagnostics);
    let fields = named_fields(&item, &mut diagnostics)
        .into_iter()
        .map(|field| {
            let keys = self::keys(&field.attrs, &mut diagnostics);
            (field, keys)
        })
        .collect();
    diagnostics.finish(HyperInput { item, keys, fields })
}

/// `crate = path` on a struct, whatever else may be wrong with it.
pub fn hyper_crate(attrs: &[Attribute]) -> Option<Path> {
    let mut ignored = Diagnostics::default();
    let keys = keys(attrs, &mut ignored);
    let krate = keys.iter().find(|key| key.name == "crate");
    let krate = krate.and_then(|key| match &key.value {
        Expr::Path(path) => Some(path.path.clone()),
        _ => None,
    });
    ignored.finish(krate.clone()).unwrap_or(krate)
}

/// The keys of all `#[hyper(..)]` attributes.
pub fn keys(attrs: &[Attribute], diagnostics: &mut Diagnostics) -> Vec<Key> {
    let mut keys = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("hyper")) {
        match attr.parse_args_with(Punctuated::<Key, Token![,]>::parse_terminated) {
            Ok(parsed) => keys.extend(parsed),
            Err(error) => diagnostics.push(error),
        }
    }
    keys
}

/// Hyper-parameters are set by name, so only a struct with named fields can hold them.
fn named_fields(item: &DeriveInput, diagnostics: &mut Diagnostics) -> Vec<Field> {
    let (token, found) = match &item.data {
        Data::Struct(data) => match &data.fields {
            syn::Fields::Named(fields) => return fields.named.iter().cloned().collect(),
            // Without any field there is nothing to name.
            syn::Fields::Unit => return Vec::new(),
            syn::Fields::Unnamed(fields) => (fields.to_token_stream(), "a tuple struct"),
        },
        Data::Enum(data) => (data.enum_token.to_token_stream(), "an enum"),
        Data::Union(data) => (data.union_token.to_token_stream(), "a union"),
    };
    diagnostics.error(
        token,
        format!("expected a struct with named fields, found {found}"),
        "hyper-parameters are set by name: `struct FedProx { pub mu: f32 }`",
    );
    Vec::new()
}
