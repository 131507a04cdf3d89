//! Hyper-parameters: fields with a default, a range and a doc.

use fedround_ir::fed::HyperValue;

use crate::hyper_field::unknown_field;
use crate::{Field, HyperError};
use fedround_names::nearest;

/// The hyper-parameters of one layer of an algorithm. Derived by `#[derive(Hyper)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no hyper-parameters",
    label = "expected a struct with `#[derive(Hyper)]`"
)]
pub trait Hyper: 'static {
    /// The algorithm's name in commands and graphs, such as `fedprox`.
    fn name(&self) -> &'static str;

    /// The fields of this layer, without those of its base.
    fn fields(&self) -> &'static [Field];

    /// The value of a field of this layer.
    fn get(&self, field: &str) -> Option<HyperValue>;

    /// Sets a field of this layer. A whole number is accepted for a real one.
    ///
    /// # Errors
    /// [`HyperError`], for an unknown field, a value of another kind or out of range.
    fn set_own(&mut self, field: &str, value: HyperValue) -> Result<(), HyperError>;

    /// The base, if it has one.
    fn base(&self) -> Option<&dyn Hyper> {
        None
    }

    /// The base, if it has one, to set its fields.
    fn base_mut(&mut self) -> Option<&mut dyn Hyper> {
        None
    }

    /// Whether the algorithm trains on the examples of all clients in one place. A run then gives all
    /// training examples to client 0, and the other clients are only tested. A plug-in does what its base
    /// does. `#[hyper(centralized = true)]` on the struct sets it.
    fn centralized(&self) -> bool {
        self.base().is_some_and(Hyper::centralized)
    }
}

impl<H: Hyper + ?Sized> Hyper for Box<H> {
    fn name(&self) -> &'static str {
        (**self).name()
    }
    fn fields(&self) -> &'static [Field] {
        (**self).fields()
    }
    fn get(&self, field: &str) -> Option<HyperValue> {
        (**self).get(field)
    }
    fn set_own(&mut self, field: &str, value: HyperValue) -> Result<(), HyperError> {
        (**self).set_own(field, value)
    }
    fn base(&self) -> Option<&dyn Hyper> {
        (**self).base()
    }
    fn base_mut(&mut self) -> Option<&mut dyn Hyper> {
        (**self).base_mut()
    }
    fn centralized(&self) -> bool {
        (**self).centralized()
    }
}

/// A layer without hyper-parameters, by its name.
pub(crate) struct NoHypers(pub &'static str);

impl Hyper for NoHypers {
    fn name(&self) -> &'static str {
        self.0
    }

    fn fields(&self) -> &'static [Field] {
        &[]
    }

    fn get(&self, _: &str) -> Option<HyperValue> {
        None
    }

    fn set_own(&mut self, field: &str, _: HyperValue) -> Result<(), HyperError> {
        Err(unknown_field(self.0, field, &[]))
    }
}

/// A field of some layer with its value; see [`all_fields`].
#[derive(Clone, Debug)]
pub struct LayerField {
    /// The layer's name.
    pub layer: &'static str,
    /// The declaration.
    pub field: &'static Field,
    /// Its value now.
    pub value: HyperValue,
}

/// All fields of all layers, the outermost layer's first.
pub fn all_fields(alg: &dyn Hyper) -> Vec<LayerField> {
    let mut fields = Vec::new();
    let mut layer = Some(alg);
    while let Some(hyper) = layer {
        fields.extend(hyper.fields().iter().filter_map(|field| {
            Some(LayerField {
                layer: hyper.name(),
                field,
                value: hyper.get(field.name)?,
            })
        }));
        layer = hyper.base();
    }
    fields
}

/// Sets a field of the outermost layer that has it. Write `layer.field`, such as `fedavg.lr`, to choose the
/// layer.
///
/// # Errors
/// [`HyperError`]; for an unknown field with the nearest name.
pub fn set(alg: &mut dyn Hyper, field: &str, value: HyperValue) -> Result<(), HyperError> {
    let (layer, name) = match field.split_once('.') {
        Some((layer, name)) => (Some(layer), name),
        None => (None, field),
    };
    let known: Vec<&str> = all_fields(alg)
        .iter()
        .map(|known| known.field.name)
        .collect();
    let unknown = HyperError::Unknown {
        field: field.to_owned(),
        algorithm: alg.name().to_owned(),
        nearest: nearest(name, known.iter().copied()).map(str::to_owned),
        known: known.iter().map(|&name| name.to_owned()).collect(),
    };
    let mut current = Some(alg);
    while let Some(hyper) = current {
        let here = layer.is_none_or(|layer| layer == hyper.name());
        if here && hyper.fields().iter().any(|own| own.name == name) {
            return hyper.set_own(name, value);
        }
        current = hyper.base_mut();
    }
    Err(unknown)
}

/// Checks every field of every layer.
///
/// # Errors
/// All values that their fields do not allow.
pub fn validate(alg: &dyn Hyper) -> Result<(), Vec<HyperError>> {
    let errors: Vec<HyperError> = all_fields(alg)
        .into_iter()
        .filter_map(|field| field.field.check(field.value).err())
        .collect();
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}
