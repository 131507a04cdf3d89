//! The Runtime API: the process that serves a run (`runtime.proto`, `task.proto`).

use prost::Message as Protobuf;

use super::message::{Message, ObjectTree};
use super::node::NodeInfo;

#[derive(Clone, Copy, PartialEq, Protobuf)]
pub(crate) struct Task {
    #[prost(uint64, tag = "3")]
    pub(crate) run_id: u64,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct AcquireTaskRequest {
    #[prost(string, repeated, tag = "1")]
    pub(crate) supported_task_types: Vec<String>,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct AcquireTaskResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) task: Option<Task>,
    #[prost(string, tag = "2")]
    pub(crate) token: String,
}

#[derive(Clone, Copy, PartialEq, Protobuf)]
pub(crate) struct PullTaskInputRequest {}

#[derive(Clone, Copy, PartialEq, Protobuf)]
pub(crate) struct PullTaskInputResponse {}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct PushTaskOutputRequest {
    #[prost(string, tag = "2")]
    pub(crate) sub_status: String,
    #[prost(string, tag = "3")]
    pub(crate) details: String,
}

#[derive(Clone, Copy, PartialEq, Protobuf)]
pub(crate) struct PushTaskOutputResponse {}

#[derive(Clone, Copy, PartialEq, Protobuf)]
pub(crate) struct SendTaskHeartbeatRequest {}

#[derive(Clone, Copy, PartialEq, Protobuf)]
pub(crate) struct SendTaskHeartbeatResponse {
    #[prost(bool, tag = "1")]
    pub(crate) success: bool,
}

#[derive(Clone, Copy, PartialEq, Protobuf)]
pub(crate) struct GetNodesRequest {}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct GetNodesResponse {
    #[prost(message, repeated, tag = "1")]
    pub(crate) nodes: Vec<NodeInfo>,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct PushAppMessagesRequest {
    #[prost(message, repeated, tag = "2")]
    pub(crate) messages_list: Vec<Message>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) message_object_trees: Vec<ObjectTree>,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct PushAppMessagesResponse {
    #[prost(string, repeated, tag = "1")]
    pub(crate) message_ids: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(crate) objects_to_push: Vec<String>,
    #[prost(string, tag = "3")]
    pub(crate) session_id: String,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct PullAppMessagesRequest {
    #[prost(string, repeated, tag = "2")]
    pub(crate) message_ids: Vec<String>,
}

#[derive(Clone, PartialEq, Protobuf)]
pub(crate) struct PullAppMessagesResponse {
    #[prost(message, repeated, tag = "1")]
    pub(crate) messages_list: Vec<Message>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) message_object_trees: Vec<ObjectTree>,
}
