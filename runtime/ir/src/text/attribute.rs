//! The attributes of ops as text. Each kind of attribute has a [`Codec`] that writes and reads it.

use super::Span;
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

/// Attributes that are being written.
#[derive(Debug)]
pub(crate) struct AttributeText {
    /// Each attribute's text.
    pub entries: Vec<String>,
    /// Whether to write literals that depend on sizes and settings; snapshots leave them out.
    pub exact: bool,
}

/// Attributes that are being read.
#[derive(Debug)]
pub(crate) struct TextAttributes<'t> {
    entries: Vec<Entry<'t>>,
    at: usize,
    source: Source<'t>,
}

/// What a codec can read besides the written attributes: parts of the op's name, and result types.
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
    pub leading_sums: Vec<usize>,
    pub channel_sums: Vec<usize>,
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

    /// What is known besides the written attributes.
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
    /// The attribute as text for an error message. It is close to what was written.
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
