//! Rounds between a coordinator and parties.
//!
//! [`fedround_passes::parties`] splits the round of a program: each map over clients is a region, which runs where the
//! clients' examples and states are. A coordinator is a [`Simulation`] with
//! [parties](crate::Simulation::with_parties): it executes the server's operations, and sends requests to run the
//! regions to [hosts](PartyHost). Requests and replies are [`Payload`]s, which any transport can carry.
//!
//! Results are those of a simulation, bit for bit, if each client is trained alone in its graph.
//!
//! [`Simulation`]: crate::Simulation

mod checksum;
mod coordinator;
mod error;
mod exchange;
mod host;
mod loopback;
mod message;
mod payload;
mod reply_types;
mod row_shapes;
mod table;
mod transport;
mod value_type;
mod values;

pub(crate) use coordinator::{Coordinator, EvaluateAtParties, ServerModel};
pub use coordinator::{PartyScore, PartyScores};
pub use error::{ContentError, ExchangeError, NoExchange, PayloadError};
pub use exchange::{ModelExchange, ModelValues, TrainedModel, TrainingRequest};
pub use host::{HeldOut, HostError, PartyHost};
pub use loopback::{Loopback, Traffic};
pub(crate) use message::Committed;
pub use payload::Payload;
pub use transport::{Host, HostId, Parties, PartyError, Replies, Ticket, Unreachable};
