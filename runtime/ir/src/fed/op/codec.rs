//! How attributes of several dialects are written.

use super::super::Kind;
use crate::text::attribute::{AttributeText, Codec, TextAttributes};

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
