//! Errors of auxiliary networks.

use crate::CallError;

/// An auxiliary network cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuxiliaryError {
    /// No network has the name.
    #[error("unknown auxiliary network `{name}`; there are {known}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// All names.
        known: String,
    },
    /// The network has no such form.
    #[error("auxiliary network `{network}` has no variant `{variant}`; there are {known}")]
    Variant {
        /// The network.
        network: &'static str,
        /// The variant asked for.
        variant: String,
        /// All of its variants.
        known: String,
    },
    /// The model's own parameters have the network's name.
    #[error(
        "the model has a part `{network}` of its own, the name of the auxiliary network that gives `{function}`; rename the model's field, or give the model the function"
    )]
    Taken {
        /// The network.
        network: &'static str,
        /// What is needed of it.
        function: &'static str,
    },
    /// The model has nothing that could be represented by.
    #[error(
        "the model defines neither `project` nor `features`, so it has no representation; it defines {}",
        .functions.join(", ")
    )]
    NoRepresentation {
        /// The model's functions.
        functions: Vec<&'static str>,
    },
    /// The model's representation is no row of numbers.
    #[error(
        "auxiliary networks need one row of numbers for each example, [batch, features], found {shape:?} from the model's `{function}`; choose another model"
    )]
    Shape {
        /// The model's function.
        function: &'static str,
        /// Its shape for a batch of one.
        shape: Vec<usize>,
    },
    /// The network's layers do not fit the data's images or the model's representations.
    #[error(
        "variant `{variant}` of the auxiliary network `{network}` needs {expected}, found {found}; choose another variant, or another model or dataset"
    )]
    Fit {
        /// The network.
        network: &'static str,
        /// Its variant.
        variant: &'static str,
        /// What it needs.
        expected: &'static str,
        /// What there is.
        found: String,
    },
    /// The base model cannot be run.
    #[error(transparent)]
    Call(#[from] CallError),
}
