//! What an op carries besides operands, as text: one [`Codec`] for each kind of attribute.

use super::cursor::{Cursor, count};
use super::lexer::{Token, TokenKind};
use super::{ParseError, Problem, Span};
use crate::fed::Kind;
use crate::tensor::TensorType;

/// How an attribute of type `T` is written and read. An op's row in its dialect's table (see
/// [`ops!`](crate::text::ops)) names one for each field, so that the printer and the parser cannot
/// disagree.
pub(crate) trait Codec<T> {
    /// Appends the value; `label` is the field's name in the table.
    fn write(value: &T, label: &'static str, to: &mut AttributeText);

    /// Takes the value from the front, or says what was expected there.
    fn read(label: &'static str, from: &mut TextAttributes) -> Result<T, String>;
}

/// Attributes on their way out.
#[derive(Debug)]
pub(crate) struct AttributeText {
    /// Each attribute's text.
    pub entries: Vec<String>,
    /// Whether literals that depend on sizes and settings are written as they are.
    pub exact: bool,
}

/// Attributes on their way in.
#[derive(Debug)]
pub(crate) struct TextAttributes<'t> {
    entries: Vec<Entry<'t>>,
    at: usize,
    source: Source<'t>,
}

/// Where attributes are that are not written as such.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Source<'t> {
    /// What follows the table's name in the op's name, such as `mse` in `loss.mse`.
    pub suffix: &'t str,
    /// The kind of a fed op's first result.
    pub kind: Option<Kind>,
    /// The type of a tensor op's first result.
    pub result: Option<&'t TensorType>,
}

/// `3`, `dim 3`, `"name"`, `0..3`, `[1, 2]` or `stride [1, 2]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry<'t> {
    pub label: Option<&'t str>,
    pub value: Piece<'t>,
    pub span: Span,
}

/// The value of an [`Entry`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece<'t> {
    Number(&'t str),
    Range(&'t str, &'t str),
    Word(&'t str),
    Symbol(&'t str),
    Text(String),
    List(Vec<&'t str>),
    Texts(Vec<String>),
    Steps(Steps<'t>),
}

/// `add($0, $1); relu($2); sum $2; give $3`: the body of a fused op.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Steps<'t> {
    /// Name, attributes and operands of each step.
    pub steps: Vec<(&'t str, Vec<Entry<'t>>, Vec<usize>)>,
    pub shape: Option<Vec<usize>>,
    pub sums: Vec<usize>,
    pub outputs: Vec<usize>,
}

impl<'t> TextAttributes<'t> {
    pub fn new(entries: Vec<Entry<'t>>, source: Source<'t>) -> Self {
        Self {
            entries,
            at: 0,
            source,
        }
    }

    /// What is known besides the entries.
    pub fn source(&self) -> Source<'t> {
        self.source
    }

    /// The next entry's value, if it has no label and `read` takes it.
    pub fn plain<T>(&mut self, read: impl FnOnce(&Piece<'t>) -> Option<T>) -> Option<T> {
        self.take(None, read)
    }

    /// The next entry's value, if it has the label and `read` takes it.
    pub fn labelled<T>(
        &mut self,
        label: &str,
        read: impl FnOnce(&Piece<'t>) -> Option<T>,
    ) -> Option<T> {
        self.take(Some(label), read)
    }

    fn take<T>(
        &mut self,
        label: Option<&str>,
        read: impl FnOnce(&Piece<'t>) -> Option<T>,
    ) -> Option<T> {
        let entry = self.entries.get(self.at)?;
        let value = (entry.label == label).then(|| read(&entry.value))??;
        self.at += 1;
        Some(value)
    }

    /// The first entry that was not taken.
    pub fn rest(&self) -> Option<Entry<'t>> {
        self.entries.get(self.at).cloned()
    }
}

impl Entry<'_> {
    /// As it was written, nearly.
    pub fn text(&self) -> String {
        let value = match &self.value {
            Piece::Number(text) | Piece::Word(text) => (*text).to_owned(),
            Piece::Range(from, to) => format!("{from}..{to}"),
            Piece::Symbol(name) => format!("@{name}"),
            Piece::Text(text) => format!("{text:?}"),
            Piece::List(items) => format!("[{}]", items.join(", ")),
            Piece::Texts(items) => format!("{items:?}"),
            Piece::Steps(steps) => {
                let names: Vec<&str> = steps.steps.iter().map(|(name, ..)| *name).collect();
                names.join("; ")
            }
        };
        let label = self
            .label
            .map_or_else(String::new, |label| format!("{label} "));
        label + &value
    }
}

impl<'t> Cursor<'t> {
    /// Reads an op's attributes with `read`, which says what it expected where it fails. None may
    /// be left.
    pub fn attributes<T>(
        &self,
        op: Token,
        entries: Vec<Entry<'t>>,
        source: Source<'t>,
        read: impl FnOnce(&mut TextAttributes<'t>) -> Result<T, String>,
    ) -> Result<T, ParseError> {
        let mut attributes = TextAttributes::new(entries, source);
        let read = read(&mut attributes);
        let rest = attributes.rest();
        let expected = match read {
            Ok(value) if rest.is_none() => return Ok(value),
            Ok(_) => "no further attribute".to_owned(),
            Err(expected) => expected,
        };
        let expected = format!("{expected} for `{}`", op.text);
        let (found, span) = match rest {
            Some(entry) => (format!("`{}`", entry.text()), entry.span),
            None => ("nothing".to_owned(), op.span),
        };
        Err(self.error(span, Problem::Expected { expected, found }))
    }

    /// One attribute: an optional label and a value.
    pub fn entry(&mut self) -> Result<Entry<'t>, ParseError> {
        let first = self.peek();
        let ahead = self.ahead(1);
        let labelled = first.kind == TokenKind::Word
            && !ahead.leads
            && (matches!(
                ahead.kind,
                TokenKind::Number | TokenKind::Word | TokenKind::Text
            ) || (ahead.kind == TokenKind::Punctuation && ahead.text == "["));
        let label = labelled.then(|| self.next().text);
        let value = self.piece()?;
        Ok(Entry {
            label,
            value,
            span: first.span,
        })
    }

    fn piece(&mut self) -> Result<Piece<'t>, ParseError> {
        let token = self.peek();
        match token.kind {
            TokenKind::Number => {
                self.next();
                if !self.eat("..") {
                    return Ok(Piece::Number(token.text));
                }
                let end = self.kind(TokenKind::Number, "the end of the range")?;
                Ok(Piece::Range(token.text, end.text))
            }
            TokenKind::Word => Ok(Piece::Word(self.next().text)),
            TokenKind::Symbol => Ok(Piece::Symbol(self.next().text)),
            TokenKind::Text => Ok(Piece::Text(self.string()?)),
            TokenKind::Punctuation if token.text == "[" => {
                self.next();
                if self.peek().kind == TokenKind::Text {
                    return Ok(Piece::Texts(self.list("]", Self::string)?));
                }
                let item = |cursor: &mut Self| Ok(cursor.kind(TokenKind::Number, "a number")?.text);
                Ok(Piece::List(self.list("]", item)?))
            }
            _ => Err(self.expected("an attribute")),
        }
    }

    /// A quoted string, without quotes and escapes.
    pub fn string(&mut self) -> Result<String, ParseError> {
        if self.peek().kind != TokenKind::Text {
            return Err(self.expected("a string in quotes"));
        }
        match unquote(self.peek().text) {
            Some(text) => {
                self.next();
                Ok(text)
            }
            None => Err(self.expected("a string with the escapes of Rust")),
        }
    }
}

/// Undoes `{:?}` of a string.
pub(crate) fn unquote(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            'u' => {
                let rest = chars.as_str().strip_prefix('{')?;
                let (code, rest) = rest.split_once('}')?;
                chars = rest.chars();
                char::from_u32(u32::from_str_radix(code, 16).ok()?)?
            }
            c @ ('"' | '\'' | '\\') => c,
            _ => return None,
        });
    }
    Some(out)
}

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
