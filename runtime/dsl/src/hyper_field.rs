//! The types that a hyper-parameter may have.

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
    /// The type that code of the algorithm sees: a [`Scalar`], an [`Index`], or the plain value.
    type Staged;
    /// Its kind.
    const KIND: FieldKind;
    /// The words that it accepts, if it is an enum.
    const WORDS: &'static [&'static str] = &[];
    /// The value of `self.field` in the algorithm's code.
    fn stage(&self, name: &'static str, loc: Loc) -> Self::Staged;
    /// Its value.
    fn read(&self) -> HyperValue;
    /// Sets a value that [`Field::check`] accepted. Returns `false` if it has another kind or the type cannot
    /// hold it.
    fn write(&mut self, value: &HyperValue) -> bool;
}

/// `self.field` in the algorithm's code.
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
    match value {
        _ if target.write(&value) => Ok(()),
        HyperValue::Float(x) if H::KIND == FieldKind::Float => Err(field.too_large(x)),
        value => Err(field.wrong_type(&value)),
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

/// A type whose values are those of a variant of [`HyperValue`].
macro_rules! held_as {
    ($($ty:ty: $kind:ident, |$this:ident, $name:ident, $loc:ident| $staged:expr => $of:ty;)*) => {$(
        impl HyperField for $ty {
            type Staged = $of;
            const KIND: FieldKind = FieldKind::$kind;
            fn stage(&self, $name: &'static str, $loc: Loc) -> $of {
                let $this = self;
                $staged
            }
            fn read(&self) -> HyperValue {
                HyperValue::$kind(self.clone())
            }
            fn write(&mut self, value: &HyperValue) -> bool {
                let HyperValue::$kind(value) = value else {
                    return false;
                };
                self.clone_from(value);
                true
            }
        }
    )*};
}
held_as! {
    f64: Float, |x, name, loc| Scalar::hyper(name, *x, loc) => Scalar;
    usize: Int, |n, name, loc| Index::hyper(name, *n, loc) => Index;
    bool: Bool, |b, _name, _loc| *b => bool;
    String: Text, |text, _name, _loc| text.clone() => String;
}
