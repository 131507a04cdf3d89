//! Types that a hyper-parameter may have, and what the derive needs of them.

use fedround_ir::Loc;
use fedround_ir::fed::HyperValue;

use crate::scalar::widen;
use crate::{Field, FieldKind, HyperError, Index, Scalar};

/// A type of a hyper-parameter field.
#[diagnostic::on_unimplemented(
    message = "a hyper-parameter cannot be of type `{Self}`",
    label = "expected `f32`, `f64`, `usize`, `bool`, `String` or an enum with `#[derive(Hyper)]`",
    note = "the base of a plug-in is the field named by `#[federated(base = ..)]`, of a type parameter `A: Algorithm`"
)]
pub trait HyperField {
    /// What a spec's code sees of it: a [`Scalar`], an [`Index`], or the plain value.
    type Staged;
    /// Its kind.
    const KIND: FieldKind;
    /// The words that it can be, if it is an enum of words.
    const WORDS: &'static [&'static str] = &[];
    /// What `self.field` becomes in a spec.
    fn stage(&self, name: &'static str, loc: Loc) -> Self::Staged;
    /// Its value.
    fn read(&self) -> HyperValue;
    /// Takes a value that [`Field::check`] accepted; `false` for one of another kind, or one that
    /// the type cannot hold.
    fn write(&mut self, value: &HyperValue) -> bool;
}

/// `self.field` in a spec.
#[track_caller]
pub fn hyper<H: HyperField>(name: &'static str, field: &H) -> H::Staged {
    field.stage(name, Loc::caller())
}

/// A field's value, for a derived `get`.
pub fn read_field<H: HyperField>(field: &H) -> HyperValue {
    field.read()
}

/// Checks and sets a field, for a derived `set_own`.
///
/// # Errors
/// [`HyperError::WrongType`] and [`HyperError::OutOfRange`].
pub fn write_field<H: HyperField>(
    field: &Field,
    target: &mut H,
    value: HyperValue,
) -> Result<(), HyperError> {
    let value = field.check(value)?;
    if target.write(&value) {
        Ok(())
    } else {
        Err(field.wrong_type(&value))
    }
}

/// The error of a derived `set_own` for a field that the struct does not have.
pub fn unknown_field(algorithm: &str, name: &str, fields: &[Field]) -> HyperError {
    HyperError::Unknown {
        field: name.to_owned(),
        algorithm: algorithm.to_owned(),
        nearest: fedround_names::nearest(name, fields.iter().map(|field| field.name))
            .map(str::to_owned),
        known: fields.iter().map(|field| field.name.to_owned()).collect(),
    }
}

impl HyperField for f32 {
    type Staged = Scalar;
    const KIND: FieldKind = FieldKind::Float;
    fn stage(&self, name: &'static str, loc: Loc) -> Scalar {
        Scalar::hyper(name, widen(*self), loc)
    }
    fn read(&self) -> HyperValue {
        HyperValue::Float(widen(*self))
    }
    fn write(&mut self, value: &HyperValue) -> bool {
        let HyperValue::Float(x) = value else {
            return false;
        };
        // A field of 32 bits holds the nearest number that it can.
        #[allow(clippy::cast_possible_truncation)]
        let narrow = *x as Self;
        if narrow.is_infinite() {
            return false;
        }
        *self = narrow;
        true
    }
}

impl HyperField for f64 {
    type Staged = Scalar;
    const KIND: FieldKind = FieldKind::Float;
    fn stage(&self, name: &'static str, loc: Loc) -> Scalar {
        Scalar::hyper(name, *self, loc)
    }
    fn read(&self) -> HyperValue {
        HyperValue::Float(*self)
    }
    fn write(&mut self, value: &HyperValue) -> bool {
        let HyperValue::Float(x) = value else {
            return false;
        };
        *self = *x;
        true
    }
}

impl HyperField for usize {
    type Staged = Index;
    const KIND: FieldKind = FieldKind::Int;
    fn stage(&self, name: &'static str, loc: Loc) -> Index {
        Index::hyper(name, *self, loc)
    }
    fn read(&self) -> HyperValue {
        HyperValue::Int(*self)
    }
    fn write(&mut self, value: &HyperValue) -> bool {
        let HyperValue::Int(n) = value else {
            return false;
        };
        *self = *n;
        true
    }
}

impl HyperField for bool {
    type Staged = Self;
    const KIND: FieldKind = FieldKind::Bool;
    fn stage(&self, _: &'static str, _: Loc) -> Self {
        *self
    }
    fn read(&self) -> HyperValue {
        HyperValue::Bool(*self)
    }
    fn write(&mut self, value: &HyperValue) -> bool {
        let HyperValue::Bool(b) = value else {
            return false;
        };
        *self = *b;
        true
    }
}

impl HyperField for String {
    type Staged = Self;
    const KIND: FieldKind = FieldKind::Text;
    fn stage(&self, _: &'static str, _: Loc) -> Self {
        self.clone()
    }
    fn read(&self) -> HyperValue {
        HyperValue::Text(self.clone())
    }
    fn write(&mut self, value: &HyperValue) -> bool {
        let HyperValue::Text(text) = value else {
            return false;
        };
        self.clone_from(text);
        true
    }
}
