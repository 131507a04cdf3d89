//! Values of metrics and configurations (`flwr/proto/recorddict.proto`).

use bytes::Bytes;
use prost::{Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DoubleList {
    #[prost(double, repeated, tag = "1")]
    pub(crate) vals: Vec<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SintList {
    #[prost(sint64, repeated, tag = "1")]
    pub(crate) vals: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct UintList {
    #[prost(uint64, repeated, tag = "1")]
    pub(crate) vals: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct BoolList {
    #[prost(bool, repeated, tag = "1")]
    pub(crate) vals: Vec<bool>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct StringList {
    #[prost(string, repeated, tag = "1")]
    pub(crate) vals: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct BytesList {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub(crate) vals: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum MetricRecordValueKind {
    #[prost(double, tag = "1")]
    Double(f64),
    #[prost(sint64, tag = "2")]
    Sint64(i64),
    #[prost(uint64, tag = "3")]
    Uint64(u64),
    #[prost(message, tag = "21")]
    DoubleList(DoubleList),
    #[prost(message, tag = "22")]
    SintList(SintList),
    #[prost(message, tag = "23")]
    UintList(UintList),
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MetricRecordValue {
    #[prost(oneof = "MetricRecordValueKind", tags = "1, 2, 3, 21, 22, 23")]
    pub(crate) value: Option<MetricRecordValueKind>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MetricRecordItem {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) value: Option<MetricRecordValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MetricRecord {
    #[prost(message, repeated, tag = "1")]
    pub(crate) items: Vec<MetricRecordItem>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum ConfigRecordValueKind {
    #[prost(double, tag = "1")]
    Double(f64),
    #[prost(sint64, tag = "2")]
    Sint64(i64),
    #[prost(uint64, tag = "3")]
    Uint64(u64),
    #[prost(bool, tag = "4")]
    Bool(bool),
    #[prost(string, tag = "5")]
    String(String),
    #[prost(bytes = "bytes", tag = "6")]
    Bytes(Bytes),
    #[prost(message, tag = "21")]
    DoubleList(DoubleList),
    #[prost(message, tag = "22")]
    SintList(SintList),
    #[prost(message, tag = "23")]
    UintList(UintList),
    #[prost(message, tag = "24")]
    BoolList(BoolList),
    #[prost(message, tag = "25")]
    StringList(StringList),
    #[prost(message, tag = "26")]
    BytesList(BytesList),
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ConfigRecordValue {
    #[prost(
        oneof = "ConfigRecordValueKind",
        tags = "1, 2, 3, 4, 5, 6, 21, 22, 23, 24, 25, 26"
    )]
    pub(crate) value: Option<ConfigRecordValueKind>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ConfigRecordItem {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) value: Option<ConfigRecordValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ConfigRecord {
    #[prost(message, repeated, tag = "1")]
    pub(crate) items: Vec<ConfigRecordItem>,
}

/// The records of a message by name. Those of arrays travel as objects, and are not read here.
#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum RecordDictItemKind {
    #[prost(message, tag = "3")]
    MetricRecord(MetricRecord),
    #[prost(message, tag = "4")]
    ConfigRecord(ConfigRecord),
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct RecordDictItem {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(oneof = "RecordDictItemKind", tags = "3, 4")]
    pub(crate) value: Option<RecordDictItemKind>,
}

/// The content of a message's envelope. It is empty if all content travels as objects, and absent if the
/// message is an error.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RecordDict {
    #[prost(message, repeated, tag = "1")]
    pub(crate) items: Vec<RecordDictItem>,
}
