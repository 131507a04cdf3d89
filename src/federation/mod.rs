//! Federations between machines: a coordinator and parties that exchange messages through Flower's
//! SuperLink.
//!
//! The coordinator is an experiment whose clients are elsewhere: [`Run::with_parties`] with
//! [`FlowerParties`]. A [`Participant`] answers it, for the clients of a
//! [`DurableHost`]. Both compile the same algorithm with the same
//! settings, and take part in nothing else: messages carry the hash of the program.
//!
//! A message is what [`Payload`](fedround_simulation::parties::Payload) holds, as Flower's records: the
//! tensors as the arrays `arrays`, the numbers that the algorithm sends as `numbers`, and the head as the
//! text `head` of the settings `fedround`.
//!
//! [`Run::with_parties`]: crate::experiment::Run::with_parties

mod durable_host;
mod error;
mod hello;
mod message;
mod participant;
mod parties;

pub use durable_host::{DurableHost, DurableHostError};
pub use error::{MessageError, ParticipantError};
pub use participant::{Answer, Participant};
pub use parties::{FederationSettings, FlowerParties, Notice, RunEnd};
