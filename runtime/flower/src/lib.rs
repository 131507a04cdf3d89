//! A client of [Flower](https://flower.ai)'s protocol, for both ends of a federation.
//!
//! Parties and a coordinator exchange tensors through a SuperLink, Flower's server. A [`Party`]
//! stands where Flower has a SuperNode and its ClientApp; a [`Coordinator`] stands where Flower has
//! the process of a ServerApp. Both speak protobuf over HTTP, as Flower 1.40 to 1.42 do, and each
//! works with Flower's own at the other end. This crate knows names, types, shapes and bytes, and
//! neither burn nor algorithms.
//!
//! What would surprise: messages are delivered at most once, in both directions. A process that is
//! killed between pulling a message and using it has lost it, and the other side learns that when the
//! request expires. The coordinator then asks again, with a new request.

mod api;
mod array;
mod auth;
mod clock;
mod confirm;
mod control;
mod error;
mod fab;
mod fleet;
mod form;
mod heartbeat;
mod http;
mod id;
mod kind;
mod object;
mod pace;
mod parallel;
mod payload;
mod runtime;
mod wire;

pub use bytes::Bytes;

pub use array::{Array, ArrayError, Dtype, HeaderError, NpyError};
pub use auth::{ExecutorSecret, KeyError, NodeKey};
pub use control::{Control, Node, RunInfo};
pub use error::FlowerError;
pub use fab::Fab;
pub use fleet::{Delivery, Party, PartySettings, Request};
pub use form::Form;
pub use http::{
    CallError, ConnectError, Connection, ConnectionSettings, Reason, Refusal, StopSignal, Version,
    Versions,
};
pub use id::{NodeId, RunId};
pub use kind::{MessageKind, MessageKindError};
pub use object::{ObjectError, ObjectId};
pub use payload::{Arrays, Config, ConfigValue, MetricValue, Metrics, Payload, Record};
pub use runtime::{Coordinator, Outgoing, PartyError, Reply, RunOutcome, TaskToken, Ticket};
