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
//! A party in a program of your own, with the types of [`flower`](crate::flower):
//!
//! ```no_run
//! use std::path::Path;
//! use std::time::Duration;
//!
//! use fedround::Experiment;
//! use fedround::algorithms::FedAvg;
//! use fedround::data::DataSource;
//! use fedround::federation::{Answer, DurableHost, Participant, Terms};
//! use fedround::flower::{Connection, ConnectionSettings, Party, PartySettings};
//!
//! /// Trains client 3 of 10 with the examples of this machine, until `stop` says so.
//! fn serve(
//!     own: impl DataSource + 'static,
//!     approved: &str,
//!     stop: impl Fn() -> bool,
//! ) -> Result<(), Box<dyn std::error::Error>> {
//!     // The coordinator has the same algorithm, model, number of clients, seed and share for validation.
//!     let experiment = Experiment::new(FedAvg::default()).model("2nn").clients(10).seed(1);
//!     let run = experiment.data(own).of_party_with_own_data(vec![3]).prepare(1)?;
//!     let terms = Terms::of(&run, true);
//!     let host = run.into_party(vec![3])?;
//!     if host.graph_hash() != approved {
//!         return Err(format!("the program {} is not approved", host.graph_hash()).into());
//!     }
//!     // One process at a time uses this folder, which exists. It has the clients' states and the party's key.
//!     let folder = Path::new("party");
//!     let host = DurableHost::open(host, folder)?;
//!     let link = Connection::open(ConnectionSettings::new("https://superlink.example:8000"))?;
//!     let party = Party::join(&link, PartySettings::new(folder))?;
//!     let mut participant = Participant::new(party, host).with_terms(terms);
//!     while !stop() {
//!         match participant.answer_next(Duration::from_secs(1))? {
//!             Some(Answer::Refused(why) | Answer::Failed(why)) => eprintln!("{why}"),
//!             Some(Answer::OtherProgram(hash)) => eprintln!("the coordinator runs {hash}"),
//!             _ => {}
//!         }
//!     }
//!     // The coordinator gets the last replies before the party goes offline.
//!     participant.leave()?;
//!     Ok(())
//! }
//! ```
//!
//! One side may be an app of Flower, in PyTorch or another framework, where clients train by plain SGD:
//! [`ClientApps`] lets a coordinator take part with such clients, an [`AppParty`] trains for such a server.
//! Messages are then in Flower's own convention.
//!
//! [`Run::with_parties`]: crate::experiment::Run::with_parties

#[cfg(test)]
mod app_tests;
mod checksum;
mod client_apps;
mod convention;
mod durable_host;
mod error;
mod hello;
mod input_columns;
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
