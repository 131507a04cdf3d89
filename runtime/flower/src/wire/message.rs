//! Messages, their objects, and how both are pushed and pulled (`message.proto`, `error.proto`).

use bytes::Bytes;
use prost::Message as Protobuf;

use super::node::Node;
use super::record::RecordDict;

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct Error {
    #[prost(sint64, tag = "1")]
    pub(crate) code: i64,
    #[prost(string, tag = "2")]
    pub(crate) reason: String,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct Metadata {
    #[prost(uint64, tag = "1")]
    pub(crate) run_id: u64,
    #[prost(string, tag = "2")]
    pub(crate) message_id: String,
    #[prost(uint64, tag = "3")]
    pub(crate) src_node_id: u64,
    #[prost(uint64, tag = "4")]
    pub(crate) dst_node_id: u64,
    #[prost(string, tag = "5")]
    pub(crate) reply_to_message_id: String,
    #[prost(string, tag = "6")]
    pub(crate) group_id: String,
    /// Seconds.
    #[prost(double, tag = "7")]
    pub(crate) ttl: f64,
    #[prost(string, tag = "8")]
    pub(crate) message_type: String,
    /// Seconds since 1970.
    #[prost(double, tag = "9")]
    pub(crate) created_at: f64,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct Message {
    #[prost(message, optional, tag = "1")]
    pub(crate) metadata: Option<Metadata>,
    #[prost(message, optional, tag = "2")]
    pub(crate) content: Option<RecordDict>,
    #[prost(message, optional, tag = "3")]
    pub(crate) error: Option<Error>,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct ObjectTree {
    #[prost(string, tag = "1")]
    pub(crate) object_id: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) children: Vec<ObjectTree>,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct PushObjectRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) node: Option<Node>,
    #[prost(uint64, tag = "2")]
    pub(crate) run_id: u64,
    #[prost(string, tag = "3")]
    pub(crate) object_id: String,
    #[prost(bytes = "bytes", tag = "4")]
    pub(crate) object_content: Bytes,
    #[prost(string, tag = "5")]
    pub(crate) session_id: String,
}

#[derive(Clone, Copy, PartialEq, Protobuf)]
pub(crate) struct PushObjectResponse {
    #[prost(bool, tag = "1")]
    pub(crate) stored: bool,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct PullObjectRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) node: Option<Node>,
    #[prost(uint64, tag = "2")]
    pub(crate) run_id: u64,
    #[prost(string, tag = "3")]
    pub(crate) object_id: String,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct PullObjectResponse {
    #[prost(bool, tag = "1")]
    pub(crate) object_found: bool,
    #[prost(bool, tag = "2")]
    pub(crate) object_available: bool,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) object_content: Bytes,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct ConfirmMessageReceivedRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) node: Option<Node>,
    #[prost(uint64, tag = "2")]
    pub(crate) run_id: u64,
    #[prost(string, tag = "3")]
    pub(crate) message_object_id: String,
}

#[derive(Clone, Copy, PartialEq, Protobuf)]
pub(crate) struct ConfirmMessageReceivedResponse {}
