//! Runs and the bundles of code that they name (`run.proto`, `fab.proto`).

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct RunStatus {
    #[prost(string, tag = "1")]
    pub(crate) status: String,
    #[prost(string, tag = "2")]
    pub(crate) sub_status: String,
    #[prost(string, tag = "3")]
    pub(crate) details: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Run {
    #[prost(uint64, tag = "1")]
    pub(crate) run_id: u64,
    #[prost(string, tag = "6")]
    pub(crate) pending_at: String,
    #[prost(message, optional, tag = "10")]
    pub(crate) status: Option<RunStatus>,
    #[prost(string, tag = "12")]
    pub(crate) federation: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Fab {
    #[prost(string, tag = "1")]
    pub(crate) hash_str: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) content: Vec<u8>,
}
