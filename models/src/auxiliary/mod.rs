//! Auxiliary networks: networks that papers train together with a classifier, such as the discriminator of
//! ADCOL.
//!
//! [`assemble`] adds the networks whose functions an algorithm applies to a base model. All of them share one
//! tree of parameters. The names of a network's leaves begin with the network's name, which is a part of the
//! model like `features` and `head`.

mod assemble;
mod assembly;
mod base;
mod bundled;
mod error;
mod fada;
mod image;
mod task;

pub use assemble::{Assembled, assemble};
pub use assembly::{Assembly, BASE, Part};
pub use base::Base;
pub use bundled::AUXILIARIES;
pub use error::AuxiliaryError;
pub use fada::{Disentangler, MutualInformation};
pub use image::ImageDecoder;
pub use task::AuxiliaryTask;

use crate::Model;

/// A network that [`assemble`] can put beside a model.
pub struct Auxiliary {
    /// Its name: the first segment of its parameters' names.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Names of the functions that it gives to specs, each with the network's own name of it.
    pub functions: &'static [(&'static str, &'static str)],
    /// Its forms; the first is the default.
    pub variants: &'static [Variant],
}

/// A form of an [`Auxiliary`].
pub struct Variant {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    pub(crate) make: fn(&Base<'_>) -> Result<Box<dyn Model>, AuxiliaryError>,
}

/// The function without parameters that [`assemble`] gives to models that lack it: what
/// representations ADCOL and FADA look at.
pub const REPRESENT: &str = "represent";

impl Auxiliary {
    /// The names of its functions.
    pub fn function_names(&self) -> impl Iterator<Item = &'static str> {
        self.functions.iter().map(|(name, _)| *name)
    }

    /// The names of its variants.
    pub fn variant_names(&self) -> impl Iterator<Item = &'static str> {
        self.variants.iter().map(|variant| variant.name)
    }
}
