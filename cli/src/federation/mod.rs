//! `fedround coordinator`, `fedround party` and `fedround federation`: the same algorithms between
//! machines, over Flower's SuperLink.

mod approval;
mod args;
mod clients;
mod coordinator;
mod error;
mod foreign;
mod link;
mod membership;
mod party;
mod resolve;
mod server_app;
mod status;
mod stop;
mod superlink_run;
mod token;

pub(crate) use args::{CoordinatorArgs, FederationArgs, FederationCommand, PartyArgs};
pub(crate) use coordinator::coordinator;
pub(crate) use error::FederationError;
pub(crate) use party::party;
pub(crate) use status::status;
pub(crate) use stop::stop;
