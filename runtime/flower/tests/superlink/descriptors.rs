//! Our protobuf structs, field by field, against the descriptors of the installed Flower.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use syn::{Attribute, Fields, Item, Meta, Type};

use crate::server::flower;

/// What `#[prost(…)]` says of a field.
#[derive(Default)]
struct Options {
    tag: String,
    kind: String,
    label: &'static str,
    /// The enum of a oneof.
    oneof: Option<String>,
}

fn options(attributes: &[Attribute]) -> Option<Options> {
    let attribute = attributes.iter().find(|a| a.path().is_ident("prost"))?;
    let Meta::List(list) = &attribute.meta else {
        return None;
    };
    let mut options = Options {
        label: "plain",
        ..Options::default()
    };
    // Commas within quotes separate tags.
    let text = list
        .tokens
        .to_string()
        .replace(", ", ",")
        .replace("\" ", "\"");
    for part in text.split(',') {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim().trim_matches('"').to_owned();
        match key.trim() {
            "tag" => options.tag = value,
            "repeated" => options.label = "repeated",
            "optional" => options.label = "optional",
            "oneof" => options.oneof = Some(value),
            kind @ ("double" | "uint64" | "sint64" | "bool" | "string" | "bytes" | "message") => {
                options.kind = kind.to_owned();
            }
            _ => {}
        }
    }
    Some(options)
}

/// The name of the message within `Option<…>` or `Vec<…>`.
fn message_name(ty: &Type) -> String {
    let Type::Path(path) = ty else {
        panic!("a field of an unknown type");
    };
    let last = path.path.segments.last().unwrap();
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return last.ident.to_string();
    };
    let syn::GenericArgument::Type(inner) = arguments.args.first().unwrap() else {
        panic!("a field of an unknown type");
    };
    message_name(inner)
}

/// `DoubleList` as `double_list`.
fn snake(name: &str) -> String {
    let mut text = String::new();
    for (at, c) in name.char_indices() {
        if c.is_uppercase() && at > 0 {
            text.push('_');
        }
        text.extend(c.to_lowercase());
    }
    text
}

fn items() -> Vec<Item> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/wire");
    let files = std::fs::read_dir(folder).unwrap();
    let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    texts
        .flat_map(|text| syn::parse_file(&text).unwrap().items)
        .collect()
}

/// Our fields, in the words of `descriptors.py`.
fn ours() -> BTreeSet<String> {
    let items = items();
    let mut oneofs: BTreeMap<String, Vec<(String, Options, Type)>> = BTreeMap::new();
    for item in &items {
        let Item::Enum(item) = item else { continue };
        let variants = item.variants.iter().map(|variant| {
            let ty = variant.fields.iter().next().unwrap().ty.clone();
            (
                snake(&variant.ident.to_string()),
                options(&variant.attrs).unwrap(),
                ty,
            )
        });
        oneofs.insert(item.ident.to_string(), variants.collect());
    }
    let mut lines = BTreeSet::new();
    for item in &items {
        let Item::Struct(item) = item else { continue };
        let Fields::Named(fields) = &item.fields else {
            continue;
        };
        let mut add = |name: &str, options: &Options, label: &str, ty: &Type| {
            let kind = match options.kind.as_str() {
                "message" => message_name(ty),
                kind => kind.to_owned(),
            };
            let name = name.trim_start_matches("r#");
            lines.insert(format!(
                "{}.{name} {} {label} {kind}",
                item.ident, options.tag
            ));
        };
        for field in &fields.named {
            let options = options(&field.attrs).unwrap();
            match &options.oneof {
                Some(name) => {
                    for (variant, options, ty) in &oneofs[name] {
                        add(variant, options, "oneof", ty);
                    }
                }
                None => {
                    let name = field.ident.as_ref().unwrap().to_string();
                    add(&name, &options, options.label, &field.ty);
                }
            }
        }
    }
    lines
}

#[test]
fn fields_are_those_of_flower() {
    let Some(programs) = flower() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/superlink/descriptors.py");
    let output = Command::new(programs.join("python"))
        .arg(script)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    // An entry of a map has the name of its field, with the message in front.
    let theirs = text.replace("ListRunsResponseRunDictEntry", "RunDictEntry");
    let theirs: BTreeSet<_> = theirs.lines().map(str::to_owned).collect();
    let ours = ours();
    assert!(ours.len() > 80, "only {} fields were found", ours.len());
    let unknown: Vec<_> = ours.difference(&theirs).collect();
    assert!(
        unknown.is_empty(),
        "fields that Flower does not have: {unknown:#?}"
    );
}
