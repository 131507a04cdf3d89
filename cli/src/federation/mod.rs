//! `fedround coordinator`, `fedround party` and `fedround federation`: the same algorithms between
//! machines, over Flower's SuperLink.

mod args;
mod coordinator;
mod error;
mod escape;
mod membership;
mod party;
mod resolve;
mod run_token;
mod server_app;
mod status;
mod stop;
mod superlink_args;
mod superlink_run;

pub(crate) use args::{CoordinatorArgs, FederationArgs, FederationCommand, PartyArgs};
pub(crate) use coordinator::coordinator;
pub(crate) use error::FederationError;
pub(crate) use party::party;
pub(crate) use status::status;
pub(crate) use stop::stop;
