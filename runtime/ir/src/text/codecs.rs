//! Codecs of the attributes that both dialects have.

use super::attribute::{AttributeText, Codec, Piece, TextAttributes};
use super::cursor::count;

/// A float as Rust writes it, which reads back to the same bits.
pub(crate) struct Real;

impl Codec<f64> for Real {
    fn write(value: &f64, _: &'static str, to: &mut AttributeText) {
        to.entries.push(format!("{value:?}"));
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<f64, String> {
        let number = from.plain(|piece| match piece {
            Piece::Number(text) => text.parse().ok(),
            _ => None,
        });
        number.ok_or_else(|| "a number".to_owned())
    }
}

/// Floats in brackets.
pub(crate) struct Reals;

impl Codec<Vec<f64>> for Reals {
    fn write(value: &Vec<f64>, _: &'static str, to: &mut AttributeText) {
        to.entries.push(format!("{value:?}"));
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Vec<f64>, String> {
        let numbers = from.plain(|piece| match piece {
            Piece::List(items) => items.iter().map(|item| item.parse().ok()).collect(),
            _ => None,
        });
        numbers.ok_or_else(|| "numbers in brackets".to_owned())
    }
}

/// A bare count.
pub(crate) struct Count;

impl Codec<usize> for Count {
    fn write(value: &usize, _: &'static str, to: &mut AttributeText) {
        to.entries.push(value.to_string());
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<usize, String> {
        let number = from.plain(|piece| match piece {
            Piece::Number(text) => count(text),
            _ => None,
        });
        number.ok_or_else(|| "a count below 2^31".to_owned())
    }
}

/// A string in quotes.
pub(crate) struct Quoted;

impl Codec<String> for Quoted {
    fn write(value: &String, _: &'static str, to: &mut AttributeText) {
        to.entries.push(format!("{value:?}"));
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<String, String> {
        let text = from.plain(|piece| match piece {
            Piece::Text(text) => Some(text.clone()),
            _ => None,
        });
        text.ok_or_else(|| "a name in quotes".to_owned())
    }
}

/// Strings in quotes, in brackets.
pub(crate) struct QuotedList;

impl Codec<Vec<String>> for QuotedList {
    fn write(value: &Vec<String>, _: &'static str, to: &mut AttributeText) {
        to.entries.push(format!("{value:?}"));
    }

    fn read(_: &'static str, from: &mut TextAttributes) -> Result<Vec<String>, String> {
        let names = from.plain(|piece| match piece {
            Piece::Texts(names) => Some(names.clone()),
            Piece::List(none) if none.is_empty() => Some(Vec::new()),
            _ => None,
        });
        names.ok_or_else(|| "names in quotes, in brackets".to_owned())
    }
}
