//! The text form of attributes that several dialects have.

use fedround_names::nearest;

use super::super::{Hook, Kind};
use crate::text::attribute::{AttributeText, Codec, Piece, TextAttributes};

/// What follows a prefix in the op's name, and is written there.
pub(super) struct InName;

impl Codec<String> for InName {
    fn write(_: &String, _: &'static str, _: &mut AttributeText) {}

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<String, String> {
        match from.source().suffix {
            "" => Err("a name after the dot".to_owned()),
            name => Ok(name.to_owned()),
        }
    }
}

/// The kind of the first result's type.
pub(super) struct ResultKind;

impl Codec<Kind> for ResultKind {
    fn write(_: &Kind, _: &'static str, _: &mut AttributeText) {}

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Kind, String> {
        from.source().kind.ok_or_else(|| "a type".to_owned())
    }
}

/// One of `all`, by its `name` in quotes. An error says `what` was expected.
pub(super) fn quoted_name<T: Copy, const N: usize>(
    from: &mut TextAttributes,
    what: &str,
    all: [T; N],
    name: fn(T) -> &'static str,
) -> Result<T, String> {
    let mut found = String::new();
    let read = from.plain(|piece| match piece {
        Piece::Text(text) => {
            found.clone_from(text);
            all.into_iter().find(|one| name(*one) == text)
        }
        _ => None,
    });
    read.ok_or_else(|| match nearest(&found, all.map(name)) {
        Some(near) => format!("{what} (did you mean `\"{near}\"`?)"),
        None => {
            let names = all.map(|one| format!("`\"{}\"`", name(one)));
            format!("{what}, one of {}", names.join(", "))
        }
    })
}

/// `@hook`.
pub(super) struct HookName;

impl Codec<Hook> for HookName {
    fn write(value: &Hook, _: &'static str, to: &mut AttributeText) {
        to.entries.push(format!("@{}", value.name()));
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Hook, String> {
        let mut found = "";
        let hook = from.plain(|piece| match piece {
            Piece::Symbol(name) => {
                found = name;
                Hook::named(name)
            }
            _ => None,
        });
        hook.ok_or_else(|| match nearest(found, Hook::ALL.map(Hook::name)) {
            Some(near) => format!("a hook (did you mean `@{near}`?)"),
            None => format!("a hook, one of {}", Hook::ALL.map(Hook::name).join(", ")),
        })
    }
}
