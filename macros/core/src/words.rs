//! `#[derive(Hyper)]` on an enum: a hyper-parameter that is one of several words.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{DataEnum, DeriveInput, Fields, Variant};

use crate::diagnostics::{Diagnostics, text};
use crate::model::{Names, string};
use crate::parse::{Key, hyper_crate, keys};

/// Expands the derive. Each variant is a word: its name in lower case with hyphens, such as
/// `first-order` for `FirstOrder`, or what `#[hyper(word = "..")]` says.
///
/// # Errors
/// Every broken rule.
pub fn words(item: &DeriveInput, data: &DataEnum) -> syn::Result<TokenStream> {
    let mut diagnostics = Diagnostics::default();
    if !item.generics.params.is_empty() || data.variants.is_empty() {
        diagnostics.error(
            &item.ident,
            format!(
                "expected an enum of words, found `{}` with type parameters or without variants",
                item.ident
            ),
            "write a variant for each word: `enum Rule { Adam, Yogi }`",
        );
    }
    let words: Vec<String> = data
        .variants
        .iter()
        .map(|variant| word(variant, &mut diagnostics))
        .collect();
    check_once(data, &words, &mut diagnostics);
    diagnostics.finish(())?;
    let private = Names::new(hyper_crate(&item.attrs)).private(Span::call_site());
    let (name, (params, args, clause)) = (&item.ident, item.generics.split_for_impl());
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    Ok(quote! {
        #[automatically_derived]
        impl #params #name #args #clause {
            /// Its word in commands and files.
            pub const fn word(&self) -> &'static str {
                match self {
                    #(Self::#variants => #words),*
                }
            }
        }
        #[automatically_derived]
        impl #params #private::HyperField for #name #args #clause {
            type Staged = Self;
            const KIND: #private::FieldKind = #private::FieldKind::Text;
            const WORDS: &'static [&'static str] = &[#(#words),*];
            fn stage(&self, _: &'static str, _: #private::Loc) -> Self {
                ::core::clone::Clone::clone(self)
            }
            fn read(&self) -> #private::HyperValue {
                #private::HyperValue::Text(#private::String::from(self.word()))
            }
            fn write(&mut self, value: &#private::HyperValue) -> bool {
                let #private::HyperValue::Text(word) = value else {
                    return false;
                };
                *self = match word.as_str() {
                    #(#words => Self::#variants,)*
                    _ => return false,
                };
                true
            }
        }
    })
}

/// Each word once: a command means one variant by it.
fn check_once(data: &DataEnum, words: &[String], diagnostics: &mut Diagnostics) {
    for (index, (variant, word)) in data.variants.iter().zip(words).enumerate() {
        if words.iter().take(index).any(|other| other == word) {
            diagnostics.error(
                &variant.ident,
                format!("expected a word for each variant, found `{word}` again"),
                "give one of the two another word: `#[hyper(word = \"..\")]`",
            );
        }
    }
}

/// A variant's word.
fn word(variant: &Variant, diagnostics: &mut Diagnostics) -> String {
    if !matches!(variant.fields, Fields::Unit) {
        diagnostics.error(
            &variant.fields,
            format!("expected a word, found `{}` with fields", variant.ident),
            "a hyper-parameter is a number, a switch or a word; numbers are fields of their own",
        );
    }
    let mut word = None;
    for Key { name, value } in keys(&variant.attrs, diagnostics) {
        if name != "word" {
            diagnostics.error(
                &name,
                format!("expected `word`, found `{name}`"),
                "a variant has its word in commands: `#[hyper(word = \"norm+head\")]`",
            );
            continue;
        }
        match string(&value) {
            Some(written) => word = Some(written),
            None => diagnostics.error(
                &value,
                format!("expected a text, found `{}`", text(&value)),
                "write the word: `word = \"norm+head\"`",
            ),
        }
    }
    word.unwrap_or_else(|| kebab_case(&variant.ident.to_string()))
}

/// `FirstOrder` to `first-order`.
fn kebab_case(name: &str) -> String {
    let mut word = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.extend(c.to_lowercase());
    }
    word
}
