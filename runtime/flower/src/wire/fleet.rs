//! The Fleet API: nodes (`fleet.proto`).

use prost::Message as Protobuf;

use super::message::{Message, ObjectTree};
use super::node::Node;

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct RegisterNodeFleetRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) public_key: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Protobuf)]
pub(crate) struct RegisterNodeFleetResponse {}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct ActivateNodeRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) public_key: Vec<u8>,
    /// Seconds.
    #[prost(double, tag = "2")]
    pub(crate) heartbeat_interval: f64,
}

#[derive(Clone, Copy, PartialEq, Protobuf)]
pub(crate) struct ActivateNodeResponse {
    #[prost(uint64, tag = "1")]
    pub(crate) node_id: u64,
}

#[derive(Clone, Copy, PartialEq, Protobuf)]
pub(crate) struct DeactivateNodeRequest {
    #[prost(uint64, tag = "1")]
    pub(crate) node_id: u64,
}

#[derive(Clone, Copy, PartialEq, Protobuf)]
pub(crate) struct DeactivateNodeResponse {}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct PullMessagesRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) node: Option<Node>,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct PullMessagesResponse {
    #[prost(message, repeated, tag = "2")]
    pub(crate) messages_list: Vec<Message>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) message_object_trees: Vec<ObjectTree>,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct PushMessagesRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) node: Option<Node>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) messages_list: Vec<Message>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) message_object_trees: Vec<ObjectTree>,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct PushMessagesResponse {
    #[prost(string, repeated, tag = "3")]
    pub(crate) objects_to_push: Vec<String>,
    #[prost(string, tag = "4")]
    pub(crate) session_id: String,
}
