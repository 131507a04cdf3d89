//! The declaration of one hyper-parameter: its kind, default and range.

use std::fmt;

use fedround_ir::fed::HyperValue;

use crate::HyperError;

/// A hyper-parameter as it is declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its doc comment.
    pub doc: &'static str,
    /// The kind of its values.
    pub kind: FieldKind,
    /// Its value unless it is set; the paper's value.
    pub default: DefaultValue,
    /// The allowed numbers; `None` allows all.
    pub range: Option<Range>,
    /// The allowed words; an empty list allows all.
    pub choices: &'static [&'static str],
}

/// The kind of a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A real number.
    Float,
    /// A count.
    Int,
    /// `true` or `false`.
    Bool,
    /// A word.
    Text,
}

impl FieldKind {
    fn noun(self) -> &'static str {
        match self {
            Self::Float => "a number",
            Self::Int => "a whole number of at least 0",
            Self::Bool => "`true` or `false`",
            Self::Text => "a text",
        }
    }
}

/// A default, as a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultValue {
    /// A real number.
    Float(f64),
    /// A count.
    Int(usize),
    /// A switch.
    Bool(bool),
    /// A word.
    Text(&'static str),
}

impl From<DefaultValue> for HyperValue {
    fn from(default: DefaultValue) -> Self {
        match default {
            DefaultValue::Float(x) => Self::Float(x),
            DefaultValue::Int(n) => Self::Int(n),
            DefaultValue::Bool(b) => Self::Bool(b),
            DefaultValue::Text(text) => Self::Text(text.to_owned()),
        }
    }
}

/// The numbers that a field allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower bound.
    pub min: Option<f64>,
    /// Upper bound.
    pub max: Option<f64>,
    /// Whether the lower bound itself is allowed.
    pub min_inclusive: bool,
    /// Whether the upper bound itself is allowed.
    pub max_inclusive: bool,
}

impl Range {
    /// Whether a number is in it.
    pub fn contains(&self, x: f64) -> bool {
        let above = self
            .min
            .is_none_or(|min| x > min || (self.min_inclusive && x == min));
        let below = self
            .max
            .is_none_or(|max| x < max || (self.max_inclusive && x == max));
        above && below
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = (
            if self.min_inclusive { '[' } else { '(' },
            if self.max_inclusive { ']' } else { ')' },
        );
        match (self.min, self.max) {
            (Some(min), Some(max)) => write!(f, "{open}{min}, {max}{close}"),
            (Some(min), None) => write!(f, "{} {min}", if self.min_inclusive { "≥" } else { ">" }),
            (None, Some(max)) => write!(f, "{} {max}", if self.max_inclusive { "≤" } else { "<" }),
            (None, None) => f.write_str("any number"),
        }
    }
}

impl Field {
    pub(crate) fn wrong_type(&self, value: &HyperValue) -> HyperError {
        let least = self.range.and_then(|range| range.min);
        HyperError::WrongType {
            field: self.name.to_owned(),
            expected: match (self.kind, least) {
                (FieldKind::Int, Some(min)) => format!("a whole number of at least {min}"),
                (kind, _) => kind.noun().to_owned(),
            },
            found: match value {
                // A whole number with a point is no count. Files give negative ones without a point, too.
                HyperValue::Float(x) if *x >= 0.0 => format!("{x:?}"),
                value => value.to_string(),
            },
        }
    }

    /// The error of a real number that a field of 32 bits cannot hold.
    pub(crate) fn too_large(&self, found: f64) -> HyperError {
        HyperError::OutOfRange {
            field: self.name.to_owned(),
            expected: format!(
                "a size of at most {:e}, the largest number of 32 bits",
                f32::MAX
            ),
            found: format!("{found:e}"),
        }
    }

    /// Converts a value to the field's kind and checks its range.
    ///
    /// # Errors
    /// [`HyperError::WrongType`] and [`HyperError::OutOfRange`].
    pub fn check(&self, value: HyperValue) -> Result<HyperValue, HyperError> {
        let value = match (self.kind, value) {
            // Counts far beyond 2⁵³ lose digits, none of which a hyper-parameter means.
            #[allow(clippy::cast_precision_loss)]
            (FieldKind::Float, HyperValue::Int(n)) => HyperValue::Float(n as f64),
            (FieldKind::Float, value @ HyperValue::Float(_))
            | (FieldKind::Int, value @ HyperValue::Int(_))
            | (FieldKind::Bool, value @ HyperValue::Bool(_))
            | (FieldKind::Text, value @ HyperValue::Text(_)) => value,
            (_, value) => return Err(self.wrong_type(&value)),
        };
        #[allow(clippy::cast_precision_loss)]
        let number = match value {
            HyperValue::Float(x) if !x.is_finite() => return Err(self.wrong_type(&value)),
            HyperValue::Float(x) => Some(x),
            HyperValue::Int(n) => Some(n as f64),
            HyperValue::Bool(_) | HyperValue::Text(_) => None,
        };
        let allowed = match (number, &value, self.range) {
            (Some(x), _, Some(range)) => range.contains(x),
            (_, HyperValue::Text(word), _) => {
                self.choices.is_empty() || self.choices.contains(&word.as_str())
            }
            _ => true,
        };
        if allowed {
            return Ok(value);
        }
        Err(HyperError::OutOfRange {
            field: self.name.to_owned(),
            expected: self.allowed(),
            found: value.to_string(),
        })
    }

    /// The values that it takes, in words: a range, a list or `any`.
    pub fn allowed(&self) -> String {
        match self.range {
            Some(range) => range.to_string(),
            None if self.choices.is_empty() => "any".to_owned(),
            None => self.choices.join(" | "),
        }
    }

    /// A checked value from text, as in `--set mu=0.1`.
    ///
    /// # Errors
    /// [`HyperError::WrongType`] and [`HyperError::OutOfRange`].
    pub fn parse(&self, text: &str) -> Result<HyperValue, HyperError> {
        let text = text.trim();
        let value = match self.kind {
            FieldKind::Float => text.parse().ok().map(HyperValue::Float),
            FieldKind::Int => text.parse().ok().map(HyperValue::Int),
            FieldKind::Bool => text.parse().ok().map(HyperValue::Bool),
            FieldKind::Text => None,
        };
        self.check(value.unwrap_or_else(|| HyperValue::Text(text.to_owned())))
    }
}
