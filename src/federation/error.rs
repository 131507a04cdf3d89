//! Errors of messages between a coordinator and a party.

use fedround_flower::{ArrayError, FlowerError};
use fedround_simulation::parties::PayloadError;

use super::durable_host::DurableHostError;

/// Why a party cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParticipantError {
    /// The SuperLink cannot be reached, or does not accept this party any more.
    #[error(transparent)]
    Flower(#[from] FlowerError),
    /// The states of its clients cannot be kept.
    #[error(transparent)]
    Host(#[from] DurableHostError),
}

/// A message of Flower is none of a federation of fedround.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// It has not the records of one.
    #[error("expected the record `{record}` with {expected}, which the message lacks")]
    Record {
        /// The record's name.
        record: &'static str,
        /// What is to be in it.
        expected: &'static str,
    },
    /// A metric is missing, or is no real number.
    #[error("expected the number `{name}` among the `metrics`, found none")]
    Metric {
        /// Its name.
        name: &'static str,
    },
    /// A setting has another type.
    #[error("setting `{name}`: expected {expected}, found another value")]
    Setting {
        /// Its name.
        name: &'static str,
        /// What it is to be.
        expected: &'static str,
    },
    /// Its tensors cannot be read or written.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// It is larger than an array may be.
    #[error(transparent)]
    Size(ArrayError),
}
