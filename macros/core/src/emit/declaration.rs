//! A field's declaration as a constant, and its default as a value.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Expr, ExprRange, RangeLimits};

use crate::model::{FieldType, HyperField, Hypers, number};

/// `Field { name: "mu", .. }` of each field.
pub fn declarations(hypers: &Hypers<'_>, private: &TokenStream) -> Vec<TokenStream> {
    let fields = hypers.fields.iter();
    fields.map(|field| declaration(field, private)).collect()
}

fn declaration(field: &HyperField<'_>, private: &TokenStream) -> TokenStream {
    let name = field.name.unraw().to_string();
    let (doc, ty) = (&field.doc, field.ty);
    let default = field.default();
    let default = match field.kind {
        Some(FieldType::F32 | FieldType::F64) => {
            let value = default.map(real);
            quote!(Float(#value))
        }
        Some(FieldType::Bool) => quote!(Bool(#default)),
        Some(FieldType::Text) => quote!(Text(#default)),
        Some(FieldType::Word) => quote!(Text(<#ty>::word(&#default))),
        Some(FieldType::Usize) | None => quote!(Int(#default)),
    };
    let range = match field.range() {
        Some(Expr::Range(range)) => self::range(range, private),
        _ => quote!(#private::None),
    };
    let choices = match field.choices() {
        Some(choices) => quote!(&#choices),
        None if field.kind == Some(FieldType::Word) => quote!(<#ty as #private::HyperField>::WORDS),
        None => quote!(&[]),
    };
    quote! {
        #private::Field {
            name: #name,
            doc: #doc,
            kind: <#ty as #private::HyperField>::KIND,
            default: #private::DefaultValue::#default,
            range: #range,
            choices: #choices,
        }
    }
}

/// A field's default in `Default::default`, of the field's own type.
pub fn default_value(field: &HyperField<'_>, private: &TokenStream) -> TokenStream {
    let default = field.default();
    match field.kind {
        Some(FieldType::Text) => quote!(#private::String::from(#default)),
        _ => default.to_token_stream(),
    }
}

fn range(range: &ExprRange, private: &TokenStream) -> TokenStream {
    let end = |expr: &Option<Box<Expr>>| match expr {
        Some(expr) => {
            let value = real(expr);
            quote!(#private::Some(#value))
        }
        None => quote!(#private::None),
    };
    if range.start.is_none() && range.end.is_none() {
        return quote!(#private::None);
    }
    let (min, max) = (end(&range.start), end(&range.end));
    let min_inclusive = range.start.is_some();
    let max_inclusive = matches!(range.limits, RangeLimits::Closed(_));
    quote! {
        #private::Some(#private::Range {
            min: #min,
            max: #max,
            min_inclusive: #min_inclusive,
            max_inclusive: #max_inclusive,
        })
    }
}

/// A number as an `f64`: `1` and `0.1f32` are written anew, so that no digit is lost or added.
fn real(expr: &Expr) -> TokenStream {
    match number(expr) {
        Some(x) => {
            let sign = x.is_sign_negative().then(|| quote!(-));
            let mut digits = Literal::f64_unsuffixed(x.abs());
            digits.set_span(syn::spanned::Spanned::span(expr));
            quote!(#sign #digits)
        }
        None => quote!((#expr) as f64),
    }
}
