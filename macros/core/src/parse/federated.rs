//! `#[federated(base = field, crate = path)] impl ..`.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, Item, ItemImpl, Path, Token};

use crate::diagnostics::{Diagnostics, text};
use crate::suggestion::suggestion;

/// The attribute's arguments and the impl it stands on.
pub struct Federated {
    /// `base = field`: the field that holds the algorithm this one is added to.
    pub base: Option<Ident>,
    /// `crate = path`: where fedround is, if not `::fedround`.
    pub krate: Option<Path>,
    /// The impl, without the attribute.
    pub item: ItemImpl,
}

/// Parses the attribute and its item.
///
/// # Errors
/// The arguments' errors and, if the item is not an impl, that one too.
pub fn federated(attr: TokenStream, item: TokenStream) -> syn::Result<Federated> {
    let mut diagnostics = Diagnostics::default();
    let (base, krate) = arguments(attr, &mut diagnostics);
    match item_impl(item, &mut diagnostics) {
        Some(item) => diagnostics.finish(Federated { base, krate, item }),
        None => Err(diagnostics.finish(()).err().unwrap_or_else(|| {
            syn::Error::new(proc_macro2::Span::call_site(), "expected an impl")
        })),
    }
}

/// `crate = path` of the attribute, whatever else may be wrong with it.
pub fn federated_crate(attr: TokenStream) -> Option<Path> {
    let mut ignored = Diagnostics::default();
    let (_, krate) = arguments(attr, &mut ignored);
    ignored.finish(krate.clone()).unwrap_or(krate)
}

/// `key = value` of the attribute; `crate` is a keyword and a fine key.
struct Argument {
    key: Ident,
    value: Expr,
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.call(Ident::parse_any)?;
        input.parse::<Token![=]>()?;
        let value = input.parse()?;
        Ok(Self { key, value })
    }
}

fn arguments(attr: TokenStream, diagnostics: &mut Diagnostics) -> (Option<Ident>, Option<Path>) {
    let (mut base, mut krate) = (None, None);
    let parsed = Punctuated::<Argument, Token![,]>::parse_terminated.parse2(attr);
    let parsed = parsed.unwrap_or_else(|error| {
        diagnostics.push(error);
        Punctuated::new()
    });
    for Argument { key, value } in parsed {
        let again = match key.to_string().as_str() {
            "base" => match path(&value).and_then(Path::get_ident) {
                Some(field) => base.replace(field.clone()).is_some(),
                None => {
                    diagnostics.error(
                        &value,
                        format!("expected a field's name, found `{}`", text(&value)),
                        "write the name as it stands in the struct: `base = base`",
                    );
                    false
                }
            },
            "crate" => match path(&value) {
                Some(path) => krate.replace(path.clone()).is_some(),
                None => {
                    diagnostics.error(
                        &value,
                        format!("expected a path, found `{}`", text(&value)),
                        "write where fedround is: `crate = my_crate::fedround`",
                    );
                    false
                }
            },
            other => {
                diagnostics.error(
                    &key,
                    format!("expected `base` or `crate`, found `{other}`"),
                    suggestion(other, &["base", "crate"]),
                );
                false
            }
        };
        if again {
            diagnostics.error(
                &key,
                format!("expected `{key}` once, found it again"),
                "remove one of the two",
            );
        }
    }
    (base, krate)
}

fn path(value: &Expr) -> Option<&Path> {
    match value {
        Expr::Path(value) if value.qself.is_none() => Some(&value.path),
        _ => None,
    }
}

fn item_impl(item: TokenStream, diagnostics: &mut Diagnostics) -> Option<ItemImpl> {
    match syn::parse2::<Item>(item) {
        Ok(Item::Impl(item)) => Some(item),
        Ok(other) => {
            let found = other.to_token_stream();
            diagnostics.error(
                keyword(&other).unwrap_or(found),
                "expected `impl Algorithm for ..`, found another item",
                "put `#[federated]` on the impl of `Algorithm`",
            );
            None
        }
        Err(error) => {
            diagnostics.push(error);
            None
        }
    }
}

/// The item's own keyword: the smallest token that says what was found.
fn keyword(item: &Item) -> Option<TokenStream> {
    Some(match item {
        Item::Struct(item) => item.struct_token.to_token_stream(),
        Item::Enum(item) => item.enum_token.to_token_stream(),
        Item::Fn(item) => item.sig.fn_token.to_token_stream(),
        Item::Trait(item) => item.trait_token.to_token_stream(),
        Item::Mod(item) => item.mod_token.to_token_stream(),
        _ => return None,
    })
}
