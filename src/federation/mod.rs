//! Federations between machines: a coordinator and parties that exchange messages through Flower's
//! SuperLink.
//!
//! The coordinator is an experiment whose clients are elsewhere: [`Run::with_parties`] with
//! [`FlowerParties`]. A [`Participant`] answers it, for the clients of a
//! [`DurableHost`]. Both compile the same algorithm with the same
//! settings, and take part in nothing else: messages carry the hash of the program.
//!
//! A message is what [`Payload`](fedround_simulation::parties::Payload) holds, as two of Flower's records, each
//! of encoded bytes: `shared` has the tensors that the requests to all parties share, and `own` has the rest.
//!
//! One side may be an app of Flower, in PyTorch or another framework, where clients train by plain SGD:
//! [`ClientApps`] lets a coordinator take part with such clients, an [`AppParty`] trains for such a server.
//! Messages are then in Flower's own convention.
//!
//! [`Run::with_parties`]: crate::experiment::Run::with_parties

#[cfg(test)]
mod app_tests;
mod client_apps;
mod convention;
mod durable_host;
mod error;
mod hello;
mod local_sgd;
mod message;
mod participant;
mod parties;
mod server_app;
mod state_dict;
mod terms;

pub use client_apps::{ClientApps, ClientAppsError};
pub use durable_host::{DurableHost, DurableHostError};
pub use error::{MessageError, ParticipantError};
pub use local_sgd::{LocalSgd, NotLocalSgd};
pub use participant::{Answer, Participant};
pub use parties::{FederationSettings, FlowerParties, Notice, RunEnd};
pub use server_app::{AppParty, AppTrainer, Compile, ServerAppError};
pub use state_dict::StateDictError;
pub use terms::Terms;
