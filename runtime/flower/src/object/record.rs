//! Records of arrays, metrics and settings.

use indexmap::IndexMap;
use prost::Message;

use super::error::ObjectError;
use super::head::Object;
use super::id::ObjectId;
use super::set::{Encoder, ReceivedObjects};
use super::{array, json::python_json};
use crate::payload::{Config, ConfigValue, MetricValue, Metrics, Record};
use crate::wire::message::ObjectTree;
use crate::wire::record as wire;
use crate::wire::record::ConfigRecordValueKind as ConfigKind;
use crate::wire::record::MetricRecordValueKind as MetricKind;

const ARRAYS: &str = "ArrayRecord";
const METRICS: &str = "MetricRecord";
const CONFIG: &str = "ConfigRecord";

/// Adds a record.
pub(super) fn encode(encoder: &mut Encoder, record: &Record) -> ObjectTree {
    match record {
        Record::Arrays(arrays) => encode_named(encoder, ARRAYS, arrays, array::encode),
        Record::Metrics(metrics) => encoder.add(
            METRICS,
            vec![],
            &[&metrics_to_wire(metrics).encode_to_vec()],
        ),
        Record::Config(config) => {
            encoder.add(CONFIG, vec![], &[&settings_to_wire(config).encode_to_vec()])
        }
    }
}

/// Adds an object whose body `{"name": "id"}` names its children.
pub(super) fn encode_named<T>(
    encoder: &mut Encoder,
    kind: &str,
    values: &IndexMap<String, T>,
    encode: fn(&mut Encoder, &T) -> ObjectTree,
) -> ObjectTree {
    let mut children = vec![];
    let mut ids = serde_json::Map::new();
    for (name, value) in values {
        let child = encode(encoder, value);
        ids.insert(name.clone(), child.object_id.clone().into());
        children.push(child);
    }
    encoder.add(kind, children, &[&python_json(&ids)])
}

pub(super) fn metrics_to_wire(metrics: &Metrics) -> wire::MetricRecord {
    let items = metrics.iter().map(|(key, value)| wire::MetricRecordItem {
        key: key.clone(),
        value: Some(wire::MetricRecordValue {
            value: Some(metric_to_wire(value)),
        }),
    });
    wire::MetricRecord {
        items: items.collect(),
    }
}

pub(super) fn settings_to_wire(config: &Config) -> wire::ConfigRecord {
    let items = config.iter().map(|(key, value)| wire::ConfigRecordItem {
        key: key.clone(),
        value: Some(wire::ConfigRecordValue {
            value: Some(config_to_wire(value)),
        }),
    });
    wire::ConfigRecord {
        items: items.collect(),
    }
}

/// Reads a record.
pub(super) fn decode(objects: &mut ReceivedObjects, id: ObjectId) -> Result<Record, ObjectError> {
    let object = objects.get(id)?;
    match object.kind.as_str() {
        ARRAYS => {
            let arrays = decode_named(objects, &object, array::decode)?;
            Ok(Record::Arrays(arrays))
        }
        METRICS => {
            let record = wire::MetricRecord::decode(object.body.clone());
            let record = record.map_err(|source| ObjectError::Protobuf { id, source })?;
            Ok(Record::Metrics(metrics_from_wire(id, record)?))
        }
        _ => {
            object.expect(CONFIG)?;
            let record = wire::ConfigRecord::decode(object.body.clone());
            let record = record.map_err(|source| ObjectError::Protobuf { id, source })?;
            Ok(Record::Config(settings_from_wire(id, record)?))
        }
    }
}

/// The metrics of a record in this object.
pub(super) fn metrics_from_wire(
    id: ObjectId,
    record: wire::MetricRecord,
) -> Result<Metrics, ObjectError> {
    let entries = record.items.into_iter().map(|item| {
        let value = item.value.and_then(|value| value.value);
        (item.key, value.map(metric_from_wire))
    });
    unique(id, entries)
}

/// The settings of a record in this object.
pub(super) fn settings_from_wire(
    id: ObjectId,
    record: wire::ConfigRecord,
) -> Result<Config, ObjectError> {
    let entries = record.items.into_iter().map(|item| {
        let value = item.value.and_then(|value| value.value);
        (item.key, value.map(config_from_wire))
    });
    unique(id, entries)
}

/// The children that the body `{"name": "id"}` of an object names.
pub(super) fn decode_named<T>(
    objects: &mut ReceivedObjects,
    object: &Object,
    decode: fn(&mut ReceivedObjects, ObjectId) -> Result<T, ObjectError>,
) -> Result<IndexMap<String, T>, ObjectError> {
    let id = object.id;
    let body: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(&object.body).map_err(|source| ObjectError::Json { id, source })?;
    let mut found: IndexMap<String, ObjectId> = IndexMap::new();
    for (name, value) in body {
        let child = value.as_str().and_then(ObjectId::parse);
        let child = child.ok_or_else(|| ObjectError::Id {
            found: value.to_string().chars().take(80).collect(),
        })?;
        found.insert(name, child);
    }
    object.expect_children(&found.values().copied().collect::<Vec<_>>())?;
    let named = found.into_iter();
    named
        .map(|(name, child)| Ok((name, decode(objects, child)?)))
        .collect()
}

/// Named values, each of a name of its own.
pub(super) fn unique<T>(
    id: ObjectId,
    entries: impl Iterator<Item = (String, Option<T>)>,
) -> Result<IndexMap<String, T>, ObjectError> {
    let mut found = IndexMap::new();
    for (key, value) in entries {
        let Some(value) = value else {
            let problem = format!("the entry {key:?} has no value");
            return Err(ObjectError::Entry { id, problem });
        };
        if found.contains_key(&key) {
            let problem = format!("the entry {key:?} is there twice");
            return Err(ObjectError::Entry { id, problem });
        }
        found.insert(key, value);
    }
    Ok(found)
}

fn metric_to_wire(value: &MetricValue) -> MetricKind {
    match value.clone() {
        MetricValue::Float(value) => MetricKind::Double(value),
        MetricValue::Int(value) => MetricKind::Sint64(value),
        MetricValue::Uint(value) => MetricKind::Uint64(value),
        MetricValue::Floats(vals) => MetricKind::DoubleList(wire::DoubleList { vals }),
        MetricValue::Ints(vals) => MetricKind::SintList(wire::SintList { vals }),
        MetricValue::Uints(vals) => MetricKind::UintList(wire::UintList { vals }),
    }
}

fn metric_from_wire(value: MetricKind) -> MetricValue {
    match value {
        MetricKind::Double(value) => MetricValue::Float(value),
        MetricKind::Sint64(value) => MetricValue::Int(value),
        MetricKind::Uint64(value) => MetricValue::Uint(value),
        MetricKind::DoubleList(list) => MetricValue::Floats(list.vals),
        MetricKind::SintList(list) => MetricValue::Ints(list.vals),
        MetricKind::UintList(list) => MetricValue::Uints(list.vals),
    }
}

fn config_to_wire(value: &ConfigValue) -> ConfigKind {
    match value.clone() {
        ConfigValue::Float(value) => ConfigKind::Double(value),
        ConfigValue::Int(value) => ConfigKind::Sint64(value),
        ConfigValue::Uint(value) => ConfigKind::Uint64(value),
        ConfigValue::Bool(value) => ConfigKind::Bool(value),
        ConfigValue::Text(value) => ConfigKind::String(value),
        ConfigValue::Bytes(value) => ConfigKind::Bytes(value),
        ConfigValue::Floats(vals) => ConfigKind::DoubleList(wire::DoubleList { vals }),
        ConfigValue::Ints(vals) => ConfigKind::SintList(wire::SintList { vals }),
        ConfigValue::Uints(vals) => ConfigKind::UintList(wire::UintList { vals }),
        ConfigValue::Bools(vals) => ConfigKind::BoolList(wire::BoolList { vals }),
        ConfigValue::Texts(vals) => ConfigKind::StringList(wire::StringList { vals }),
        ConfigValue::ByteStrings(vals) => ConfigKind::BytesList(wire::BytesList { vals }),
    }
}

fn config_from_wire(value: ConfigKind) -> ConfigValue {
    match value {
        ConfigKind::Double(value) => ConfigValue::Float(value),
        ConfigKind::Sint64(value) => ConfigValue::Int(value),
        ConfigKind::Uint64(value) => ConfigValue::Uint(value),
        ConfigKind::Bool(value) => ConfigValue::Bool(value),
        ConfigKind::String(value) => ConfigValue::Text(value),
        ConfigKind::Bytes(value) => ConfigValue::Bytes(value),
        ConfigKind::DoubleList(list) => ConfigValue::Floats(list.vals),
        ConfigKind::SintList(list) => ConfigValue::Ints(list.vals),
        ConfigKind::UintList(list) => ConfigValue::Uints(list.vals),
        ConfigKind::BoolList(list) => ConfigValue::Bools(list.vals),
        ConfigKind::StringList(list) => ConfigValue::Texts(list.vals),
        ConfigKind::BytesList(list) => ConfigValue::ByteStrings(list.vals),
    }
}
