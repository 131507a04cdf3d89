//! The content of messages, ready to be sent: as objects, or with small records in the envelope.
//!
//! Each object costs the SuperLink milliseconds at both ends, and an envelope crosses anyway. Its field
//! `content` is Flower's protobuf of the records, which a SuperLink keeps and hands on as it is; Flower's
//! own apps leave it empty, and read objects only. With [`Form::Inline`], records that are large, or that
//! several messages have in common, are objects, children of the message's object, and a record of this
//! module names them. The message's object then says nothing that the envelope does not: nobody pulls it, and it
//! is not sent. It may have other messages' objects as children, too, which are deleted with it.

use std::collections::HashSet;

use bytes::Bytes;
use indexmap::IndexMap;
use prost::Message as _;

use super::error::ObjectError;
use super::id::ObjectId;
use super::set::{Encoder, ReceivedObjects, id_of};
use super::{message, payload, record};
use crate::form::Form;
use crate::payload::{Config, ConfigValue, Payload, Record};
use crate::wire::message::{Error, Message, Metadata, ObjectTree};
use crate::wire::record::{RecordDict, RecordDictItem, RecordDictItemKind as Kind};

/// The record with the ids of those that are objects, by their names. Records of this name are objects.
const OBJECTS: &str = "";

/// The records of a message, as they are sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    envelope: RecordDict,
    /// The children of the message's object.
    children: Vec<ObjectTree>,
}

/// Encodes messages, and collects their objects. What several of them have in common is one object.
#[derive(Debug, Default)]
pub(crate) struct ContentEncoder<'a> {
    pub(super) encoder: Encoder,
    /// Records that are objects already.
    known: Vec<(&'a Record, ObjectTree)>,
    /// The objects that nobody pulls: those of messages whose envelopes say all.
    unread: HashSet<String>,
}

impl<'a> ContentEncoder<'a> {
    /// The content of a payload, of which at most `room` bytes may be in the envelope.
    pub(crate) fn encode(&mut self, payload: &'a Payload, form: Form, room: usize) -> Content {
        match form {
            // Flower requires the records of the envelope, and expects none in them in this form.
            Form::Objects => Content {
                envelope: RecordDict::default(),
                children: vec![payload::encode(&mut self.encoder, payload)],
            },
            Form::Inline => self.inline(payload, room),
        }
    }

    fn inline(&mut self, payload: &'a Payload, room: usize) -> Content {
        let (mut content, mut left) = (Content::default(), room);
        let items = &mut content.envelope.items;
        let mut objects = Config::new();
        for (name, value) in &payload.records {
            let known = self.known(value).is_some();
            match item(name, value).filter(|item| !known && item.encoded_len() <= left) {
                Some(item) => {
                    left -= item.encoded_len();
                    items.push(item);
                }
                None => {
                    let child = self.object(value);
                    objects.insert(name.clone(), ConfigValue::Text(child.object_id.clone()));
                    content.children.push(child);
                }
            }
        }
        // An envelope without any record is that of a message in the other form.
        if !objects.is_empty() || items.is_empty() {
            let objects = Kind::ConfigRecord(record::settings_to_wire(&objects));
            items.push(RecordDictItem {
                key: OBJECTS.to_owned(),
                value: Some(objects),
            });
        }
        content
    }

    fn known(&self, value: &Record) -> Option<&ObjectTree> {
        let mut known = self.known.iter();
        known.find_map(|(known, tree)| (*known == value).then_some(tree))
    }

    fn object(&mut self, value: &'a Record) -> ObjectTree {
        if let Some(tree) = self.known(value) {
            return tree.clone();
        }
        let tree = record::encode(&mut self.encoder, value);
        // Arrays remember their objects themselves.
        if !matches!(value, Record::Arrays(_)) {
            self.known.push((value, tree.clone()));
        }
        tree
    }

    /// The envelope and the objects of a message, which has content that was encoded here, or an error.
    /// The metadata has no id: the id of a message is that of its object. If that is not sent, it may carry
    /// others that are not sent either, to be deleted with it.
    pub(crate) fn message(
        &mut self,
        mut metadata: Metadata,
        content: Result<&Content, &Error>,
        carried: &[ObjectTree],
    ) -> (Message, ObjectTree) {
        let children = content.map(|content| content.children.clone());
        let mut children = children.unwrap_or_default();
        children.extend_from_slice(carried);
        let carried = carried.iter().map(|tree| tree.object_id.clone());
        self.unread.extend(carried);
        let tree = message::encode(&mut self.encoder, &metadata, children, content.err());
        metadata.message_id.clone_from(&tree.object_id);
        if content.is_ok_and(|content| !content.envelope.items.is_empty()) {
            self.unread.insert(tree.object_id.clone());
        }
        let envelope = Message {
            metadata: Some(metadata),
            content: content.ok().map(|content| content.envelope.clone()),
            error: content.err().cloned(),
        };
        (envelope, tree)
    }

    /// Whether nobody pulls this object, so that it need not be sent.
    pub(crate) fn is_unread(&self, id: &str) -> bool {
        self.unread.contains(id)
    }

    /// All objects so far by their ids, children before their parents.
    pub(crate) fn objects(&self) -> &IndexMap<String, Bytes> {
        &self.encoder.objects
    }
}

/// A record in an envelope, if it is of a kind and a name that may be there.
fn item(name: &str, value: &Record) -> Option<RecordDictItem> {
    let value = match value {
        _ if name == OBJECTS => return None,
        Record::Arrays(_) => return None,
        Record::Metrics(metrics) => Kind::MetricRecord(record::metrics_to_wire(metrics)),
        Record::Config(config) => Kind::ConfigRecord(record::settings_to_wire(config)),
    };
    Some(RecordDictItem {
        key: name.to_owned(),
        value: Some(value),
    })
}

/// The records of a message that came in the form [`Form::Inline`].
#[derive(Debug)]
pub(crate) struct InlineRecords {
    records: IndexMap<String, Record>,
    /// Those that are objects.
    objects: IndexMap<String, ObjectId>,
}

impl InlineRecords {
    /// Reads the envelope of the message of this id.
    pub(crate) fn of(id: ObjectId, envelope: RecordDict) -> Result<Self, ObjectError> {
        let entries = envelope
            .items
            .into_iter()
            .map(|item| (item.key, item.value));
        let mut records = IndexMap::new();
        let mut objects = IndexMap::new();
        for (name, value) in record::unique(id, entries)? {
            let record = match value {
                Kind::MetricRecord(all) => Record::Metrics(record::metrics_from_wire(id, all)?),
                Kind::ConfigRecord(all) => Record::Config(record::settings_from_wire(id, all)?),
            };
            match record {
                Record::Config(config) if name == OBJECTS => objects = ids(config)?,
                record => _ = records.insert(name, record),
            }
        }
        let twice = records.keys().find(|name| objects.contains_key(*name));
        if let Some(name) = twice {
            let problem = format!("the record {name:?} is in the envelope and an object");
            return Err(ObjectError::Entry { id, problem });
        }
        Ok(Self { records, objects })
    }

    /// Those children of the message's object that are records.
    pub(crate) fn trees(&self, tree: &ObjectTree) -> Result<Vec<ObjectTree>, ObjectError> {
        let mut trees = vec![];
        for child in &tree.children {
            let id = id_of(child)?;
            if self.objects.values().any(|record| *record == id) {
                trees.push(child.clone());
            }
        }
        Ok(trees)
    }

    /// All records, with those of objects that were pulled.
    pub(crate) fn payload(self, objects: &mut ReceivedObjects) -> Result<Payload, ObjectError> {
        let mut records = self.records;
        for (name, id) in self.objects {
            records.insert(name, record::decode(objects, id)?);
        }
        Ok(Payload { records })
    }
}

/// The ids of records that are objects.
fn ids(config: Config) -> Result<IndexMap<String, ObjectId>, ObjectError> {
    let id = |value: ConfigValue| match value {
        ConfigValue::Text(text) => ObjectId::parse(&text).ok_or(text),
        other => Err(format!("{other:?}")),
    };
    let ids = config.into_iter().map(|(name, value)| match id(value) {
        Ok(id) => Ok((name, id)),
        Err(found) => Err(ObjectError::Id {
            found: found.chars().take(80).collect(),
        }),
    });
    ids.collect()
}
