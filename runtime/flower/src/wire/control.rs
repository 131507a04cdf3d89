//! The Control API: runs and nodes, for operators (`control.proto`).

use prost::Message;

use super::node::NodeInfo;
use super::run::{Fab, Run};

#[derive(Clone, PartialEq, Message)]
pub(crate) struct StartRunRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) fab: Option<Fab>,
    #[prost(string, tag = "5")]
    pub(crate) federation: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct StartRunResponse {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) run_id: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct ListRunsRequest {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) run_id: Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    pub(crate) limit: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct RunDictEntry {
    #[prost(uint64, tag = "1")]
    pub(crate) key: u64,
    #[prost(message, optional, tag = "2")]
    pub(crate) value: Option<Run>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ListRunsResponse {
    /// A map on the wire is a list of entries.
    #[prost(message, repeated, tag = "1")]
    pub(crate) run_dict: Vec<RunDictEntry>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct StopRunRequest {
    #[prost(uint64, tag = "1")]
    pub(crate) run_id: u64,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct StopRunResponse {
    #[prost(bool, tag = "1")]
    pub(crate) success: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct RegisterNodeRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) public_key: Vec<u8>,
    #[prost(string, optional, tag = "3")]
    pub(crate) name: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct RegisterNodeResponse {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) node_id: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct UnregisterNodeRequest {
    #[prost(uint64, tag = "1")]
    pub(crate) node_id: u64,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct UnregisterNodeResponse {}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct ListNodesRequest {}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ListNodesResponse {
    #[prost(message, repeated, tag = "1")]
    pub(crate) nodes_info: Vec<NodeInfo>,
}
