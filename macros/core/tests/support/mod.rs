//! Expands the items of a fixture, and renders errors at their tokens.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, File, Item, Meta};

/// A fixture's text.
pub fn fixture(name: &str) -> String {
    let path = format!("{}/tests/fixtures/{name}.rs", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Each item's input and expansion.
pub fn expansions(text: &str) -> Vec<(TokenStream, TokenStream)> {
    let file: File = syn::parse_str(text).expect("a fixture is Rust");
    file.items.into_iter().map(expansion).collect()
}

fn expansion(mut item: Item) -> (TokenStream, TokenStream) {
    let attrs = match &mut item {
        Item::Impl(item) => &mut item.attrs,
        Item::Struct(item) => &mut item.attrs,
        Item::Enum(item) => &mut item.attrs,
        other => panic!("no macro for {}", other.to_token_stream()),
    };
    let federated = attrs
        .iter()
        .position(|attr| attr.path().is_ident("federated"));
    if let Some(index) = federated {
        let attr = arguments(&attrs.remove(index));
        let input = item.into_token_stream();
        let output = fedround_macros_core::federated(attr, input.clone());
        (input, output)
    } else {
        attrs.retain(|attr| !attr.path().is_ident("derive"));
        let input = item.into_token_stream();
        let output = fedround_macros_core::hyper(input.clone());
        (input, output)
    }
}

fn arguments(attr: &Attribute) -> TokenStream {
    match &attr.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    }
}

/// Tokens as rustfmt would write them, nearly.
pub fn pretty(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).expect("an expansion is Rust"))
}

/// The items of the derive's scope, each with the name of the trait it implements.
pub fn parts(tokens: TokenStream) -> Vec<(String, String)> {
    let file: File = syn::parse2(tokens).expect("an expansion is Rust");
    let [Item::Const(scope)] = file.items.as_slice() else {
        panic!("the derive emits one scope");
    };
    let syn::Expr::Block(block) = &*scope.expr else {
        panic!("the scope is a block");
    };
    let items = block.block.stmts.iter().filter_map(|stmt| match stmt {
        syn::Stmt::Item(item) => Some(item),
        _ => None,
    });
    items
        .map(|item| (part_name(item), pretty(item.to_token_stream())))
        .collect()
}

/// `fields`, `no_base`, or the trait of an impl in lower case.
fn part_name(item: &Item) -> String {
    let text = item.to_token_stream().to_string();
    match item {
        _ if text.contains("for __NoBase") || text.starts_with("struct __NoBase") => {
            "no_base".into()
        }
        Item::Impl(item) => {
            let path = item.trait_.as_ref().map(|(_, path, _)| path);
            let last = path.and_then(|path| path.segments.last());
            last.map_or("impl".into(), |last| last.ident.to_string().to_lowercase())
        }
        _ => "fields".into(),
    }
}

/// Every `compile_error!` with the line it is at, the tokens at fault underlined.
pub fn errors(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::new();
    for (input, output) in expansions(text) {
        let errors = compile_errors(&output);
        assert!(!errors.is_empty(), "no error for {input}");
        for (from, to, message) in errors {
            let line = lines[from.line - 1];
            let end = if to.line == from.line {
                to.column
            } else {
                line.chars().count()
            };
            out += &format!("{:>3} | {line}\n", from.line);
            out += &format!(
                "    | {}{}\n",
                " ".repeat(from.column),
                "^".repeat(end - from.column)
            );
            out += &format!("{message}\n\n");
        }
    }
    out
}

type Error = (proc_macro2::LineColumn, proc_macro2::LineColumn, String);

/// The errors of an expansion, in order of place.
pub fn compile_errors(output: &TokenStream) -> Vec<Error> {
    let file: File = syn::parse2(output.clone()).expect("an expansion is Rust");
    let mut errors: Vec<Error> = file
        .items
        .into_iter()
        .filter_map(|item| match item {
            Item::Macro(item) if item.mac.path.segments.last()?.ident == "compile_error" => {
                let message: syn::LitStr = item.mac.parse_body().ok()?;
                let from = item.mac.path.span().start();
                let to = item.mac.delimiter.span().close().end();
                Some((from, to, message.value()))
            }
            _ => None,
        })
        .collect();
    errors.sort_by_key(|(from, ..)| *from);
    errors
}
