//! Rounds between a coordinator and parties.
//!
//! The round of a program is divided by [`fedround_passes::parties`]: each map over clients is a region, which
//! runs where the clients' examples and states are. A coordinator is a [`Simulation`] with
//! [parties](crate::Simulation::with_parties): it executes the server's program, and asks [hosts](PartyHost) for
//! the regions. What crosses is a [`Payload`], which any transport can carry.
//!
//! Results are those of a simulation, bit for bit, if each client is trained alone in its graph.
//!
//! [`Simulation`]: crate::Simulation

mod checksum;
mod error;
mod exchange;
mod host;
mod loopback;
mod message;
mod payload;
mod remote;
mod reply_types;
mod row_shapes;
mod table;
mod transport;
mod value_type;
mod values;

pub use error::{ContentError, ExchangeError, NoExchange, PayloadError};
pub use exchange::{ModelExchange, ModelValues, TrainedModel, TrainingRequest};
pub use host::{HeldOut, HostError, PartyHost};
pub use loopback::{Loopback, Traffic};
pub(crate) use message::Committed;
pub use message::Subject;
pub use payload::Payload;
pub(crate) use remote::{EvaluateAtParties, Remote, ServerModel};
pub use remote::{PartyScore, PartyScores};
pub use transport::{Host, HostId, Parties, PartyError, Replies, Ticket, Unreachable};
