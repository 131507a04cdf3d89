//! Nodes and their heartbeats (`node.proto`, `heartbeat.proto`).

use prost::Message;

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Node {
    #[prost(uint64, tag = "1")]
    pub(crate) node_id: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct NodeInfo {
    #[prost(uint64, tag = "1")]
    pub(crate) node_id: u64,
    #[prost(string, tag = "4")]
    pub(crate) status: String,
    #[prost(bytes = "vec", tag = "11")]
    pub(crate) public_key: Vec<u8>,
    #[prost(string, optional, tag = "13")]
    pub(crate) name: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct SendNodeHeartbeatRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) node: Option<Node>,
    /// Seconds.
    #[prost(double, tag = "2")]
    pub(crate) heartbeat_interval: f64,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct SendNodeHeartbeatResponse {
    #[prost(bool, tag = "1")]
    pub(crate) success: bool,
}
