//! `Hyper`, `Default` and `Registered` of a struct.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{DeriveInput, Ident};

use super::declaration::{declarations, default_value};
use crate::model::{Hypers, base_name, key};

/// The expansion of `#[derive(Hyper)]`. The impls share the fields' declarations, in a scope of
/// their own so that nothing of it can clash with the user's names.
pub fn hypers(hypers: &Hypers<'_>) -> TokenStream {
    let private = hypers.names.private(Span::call_site());
    let declarations = declarations(hypers, &private);
    let impls = [
        hyper_impl(hypers, &private),
        default_impl(hypers, &private),
        registered_impl(hypers, &private),
    ];
    quote! {
        const _: () = {
            const __FIELDS: &[#private::Field] = &[#(#declarations),*];
            #(#impls)*
        };
    }
}

/// The one name of an algorithm, in commands and in graphs: as declared by `#[hyper(name = "..")]`,
/// or the struct's in lower case.
fn command_name(hypers: &Hypers<'_>) -> TokenStream {
    match key(hypers.keys, "name") {
        Some(name) => name.to_token_stream(),
        None => hypers.type_name().to_token_stream(),
    }
}

/// `impl Hyper`, for any base.
fn hyper_impl(hypers: &Hypers<'_>, private: &TokenStream) -> TokenStream {
    let name = command_name(hypers);
    let fields: Vec<&Ident> = hypers.fields.iter().map(|field| field.name).collect();
    let texts: Vec<String> = fields
        .iter()
        .map(|field| field.unraw().to_string())
        .collect();
    let indices = (0..fields.len()).map(syn::Index::from);
    let base = base_field(hypers).map(|base| {
        quote! {
            fn base(&self) -> #private::Option<&dyn #private::Hyper> {
                #private::Some(&self.#base)
            }
            fn base_mut(&mut self) -> #private::Option<&mut dyn #private::Hyper> {
                #private::Some(&mut self.#base)
            }
        }
    });
    let centralized = key(hypers.keys, "centralized").map(|value| {
        quote! {
            fn centralized(&self) -> bool {
                #value
            }
        }
    });
    let header = header(
        hypers.item,
        &quote!(#private::Hyper),
        &quote!(#private::Hyper),
    );
    quote! {
        #[automatically_derived]
        #header {
            fn name(&self) -> &'static str {
                #name
            }
            fn fields(&self) -> &'static [#private::Field] {
                __FIELDS
            }
            fn get(&self, field: &str) -> #private::Option<#private::HyperValue> {
                match field {
                    #(#texts => #private::Some(#private::read_field(&self.#fields)),)*
                    _ => #private::None,
                }
            }
            fn set_own(
                &mut self,
                field: &str,
                value: #private::HyperValue,
            ) -> #private::Result<(), #private::HyperError> {
                match field {
                    #(#texts => #private::write_field(&__FIELDS[#indices], &mut self.#fields, value),)*
                    _ => #private::Err(#private::unknown_field(#name, field, __FIELDS)),
                }
            }
            #base
            #centralized
        }
    }
}

/// `impl Default`: the declared defaults, over the base's own.
fn default_impl(hypers: &Hypers<'_>, private: &TokenStream) -> TokenStream {
    let default = quote!(::core::default::Default);
    let header = header(hypers.item, &default, &default);
    let values = values(hypers, private);
    let base = base_field(hypers).map(|base| quote!(#base: #default::default(),));
    quote! {
        #[automatically_derived]
        #header {
            fn default() -> Self {
                Self { #base #(#values),* }
            }
        }
    }
}

/// `impl Registered`, for the base that is chosen when the command runs.
fn registered_impl(hypers: &Hypers<'_>, private: &TokenStream) -> TokenStream {
    let ident = &hypers.item.ident;
    let name = command_name(hypers);
    let doc = &hypers.doc;
    let values = values(hypers, private);
    let (target, takes_base, default_base, build, no_base) = match base_field(hypers) {
        None => {
            let build =
                quote!(|_| #private::Box::new(<#ident as ::core::default::Default>::default()));
            (quote!(#ident), false, None, build, None)
        }
        Some(base) => {
            let (fallback, no_base) = match hypers.base_type() {
                Some(ty) => (quote!(<#ty as ::core::default::Default>::default()), None),
                None => (quote!(__NoBase), Some(no_base(private))),
            };
            let build = quote! {
                |base| #private::Box::new(#ident::<#private::BoxedAlgorithm> {
                    #base: match base {
                        #private::Some(base) => base,
                        #private::None => #private::Box::new(#fallback),
                    },
                    #(#values),*
                })
            };
            let target = quote!(#ident<#private::BoxedAlgorithm>);
            (target, true, default_base(hypers), build, no_base)
        }
    };
    let default_base = match default_base {
        Some(name) => quote!(#private::Some(#name)),
        None => quote!(#private::None),
    };
    quote! {
        #no_base
        #[automatically_derived]
        impl #private::Registered for #target {
            fn entry() -> #private::Entry {
                #private::Entry {
                    name: #name,
                    doc: #doc,
                    fields: __FIELDS,
                    takes_base: #takes_base,
                    default_base: #default_base,
                    build: #build,
                }
            }
        }
    }
}

/// What a plug-in without a default base stands on if it is built without one: an algorithm
/// without hooks, so that linking says which are missing.
fn no_base(private: &TokenStream) -> TokenStream {
    quote! {
        struct __NoBase;
        impl #private::Hyper for __NoBase {
            fn name(&self) -> &'static str {
                "no_base"
            }
            fn fields(&self) -> &'static [#private::Field] {
                &[]
            }
            fn get(&self, _: &str) -> #private::Option<#private::HyperValue> {
                #private::None
            }
            fn set_own(
                &mut self,
                field: &str,
                _: #private::HyperValue,
            ) -> #private::Result<(), #private::HyperError> {
                #private::Err(#private::unknown_field("no_base", field, &[]))
            }
        }
        impl #private::Algorithm for __NoBase {
            fn define(&self, _: &mut #private::Definer) {}
        }
    }
}

/// `impl<A: Bound> Trait for X<A>`.
pub fn header(item: &DeriveInput, name: &TokenStream, bound: &TokenStream) -> TokenStream {
    let ident = &item.ident;
    let mut generics = item.generics.clone();
    for param in generics.type_params_mut() {
        param.bounds.push(syn::parse_quote!(#bound));
    }
    let (params, args, clause) = generics.split_for_impl();
    quote!(impl #params #name for #ident #args #clause)
}

fn values(hypers: &Hypers<'_>, private: &TokenStream) -> Vec<TokenStream> {
    let fields = hypers.fields.iter();
    fields
        .map(|field| {
            let (name, value) = (field.name, default_value(field, private));
            quote!(#name: #value)
        })
        .collect()
}

fn base_field<'a>(hypers: &Hypers<'a>) -> Option<&'a Ident> {
    hypers
        .base
        .as_ref()
        .and_then(|(_, fields)| Some(fields.first()?.0))
}

/// The default base as commands name it: as declared, or by its type.
fn default_base(hypers: &Hypers<'_>) -> Option<TokenStream> {
    if let Some(declared) = key(hypers.keys, "base_default") {
        return Some(declared.to_token_stream());
    }
    base_name(hypers.base_type()?).map(|name| name.to_token_stream())
}
