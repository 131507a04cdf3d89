//! Bytes that somebody changed: an error or another message, never a panic.

use std::sync::LazyLock;

use bytes::Bytes;
use prost::Message as _;

use super::golden::{golden, inline};
use crate::object::record::settings_to_wire;
use crate::object::{
    InlineRecords, ObjectError, ObjectId, ReceivedObjects, check_bytes, decode_message,
};
use crate::payload::{Config, ConfigValue, Payload};
use crate::wire::record::{RecordDict, RecordDictItem, RecordDictItemKind as Kind};

/// A small generator, so that the cases are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

fn change(bytes: &mut Vec<u8>, numbers: &mut Numbers) {
    let at = numbers.below(bytes.len());
    match numbers.below(5) {
        0 => bytes[at] = numbers.below(256) as u8,
        1 => bytes[at] ^= 1 << numbers.below(8),
        2 => bytes.truncate(at),
        3 => bytes.insert(at, b"0,9]}' \0"[numbers.below(8)]),
        _ => {
            bytes.remove(at);
        }
    }
}

/// The message with one object changed. The ids above it are made to fit, so that the change is
/// met where the object is read and not before.
fn decode_with(changed: usize, edit: impl FnOnce(&mut Vec<u8>)) -> Result<(), ObjectError> {
    let mut edit = Some(edit);
    let mut renamed: Vec<(String, String)> = vec![];
    let mut set = ReceivedObjects::new(1 << 24);
    let mut root = None;
    static REQUEST: LazyLock<Vec<(&str, Bytes)>> = LazyLock::new(|| golden("request"));
    for (at, (id, bytes)) in REQUEST.iter().enumerate() {
        let mut bytes = bytes.to_vec();
        for (old, new) in &renamed {
            replace(&mut bytes, old.as_bytes(), new.as_bytes());
        }
        if at == changed {
            edit.take().unwrap()(&mut bytes);
        }
        let new = ObjectId::of(&bytes);
        if new.to_string() != *id {
            renamed.push(((*id).to_owned(), new.to_string()));
        }
        set.insert(new, Bytes::from(bytes)).unwrap();
        root = Some(new);
    }
    decode_message(&mut set, root.unwrap()).map(|_| ())
}

fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    let mut at = 0;
    while at + old.len() <= bytes.len() {
        if bytes[at..].starts_with(old) {
            bytes[at..at + old.len()].copy_from_slice(new);
        }
        at += 1;
    }
}

#[test]
fn no_change_is_a_message() {
    decode_with(0, |_| {}).unwrap();
}

#[test]
fn changed_objects_do_not_panic() {
    let count = golden("request").len();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut refused = 0;
    for _ in 0..10_000 {
        let at = numbers.below(count);
        let edits = 1 + numbers.below(3);
        let result = decode_with(at, |bytes| {
            for _ in 0..edits {
                if !bytes.is_empty() {
                    change(bytes, &mut numbers);
                }
            }
        });
        if let Err(error) = result {
            assert!(!error.to_string().is_empty());
            refused += 1;
        }
    }
    // The rest are other numbers, names and settings.
    assert!(refused > 5_000, "{refused} of 10000 were refused");
}

/// The message with records in its envelope, one of which, or its object, was changed.
fn decode_inline(object: bool, edit: impl FnOnce(&mut Vec<u8>)) -> Result<Payload, ObjectError> {
    static GOLDEN: LazyLock<(Bytes, Bytes)> = LazyLock::new(|| {
        let (shared, envelope) = (golden("shared").remove(0).1, inline().1);
        (shared, envelope)
    });
    let (mut shared, mut envelope) = (GOLDEN.0.to_vec(), GOLDEN.1.to_vec());
    let message = ObjectId::of(b"the message");
    if object {
        edit(&mut shared);
        let (old, new) = (ObjectId::of(&GOLDEN.0), ObjectId::of(&shared));
        replace(
            &mut envelope,
            old.to_string().as_bytes(),
            new.to_string().as_bytes(),
        );
    } else {
        edit(&mut envelope);
    }
    let mut set = ReceivedObjects::new(1 << 24);
    set.insert(ObjectId::of(&shared), shared.into()).unwrap();
    // The envelope is a part of an answer of the SuperLink, which is refused as a whole.
    let envelope = RecordDict::decode(Bytes::from(envelope));
    let envelope = envelope.map_err(|source| ObjectError::Protobuf {
        id: message,
        source,
    })?;
    InlineRecords::of(message, envelope)?.payload(&mut set)
}

#[test]
fn changed_envelopes_do_not_panic() {
    assert_eq!(decode_inline(true, |_| {}).unwrap(), inline().0);
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut refused, mut other) = (0, 0);
    for _ in 0..10_000 {
        let object = numbers.below(3) == 0;
        let edits = 1 + numbers.below(3);
        let result = decode_inline(object, |bytes| {
            for _ in 0..edits {
                if !bytes.is_empty() {
                    change(bytes, &mut numbers);
                }
            }
        });
        match result {
            Ok(payload) => other += u64::from(payload != inline().0),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(
        refused > 5_000,
        "{refused} of 10000 were refused, {other} have other values"
    );
}

#[test]
fn envelopes_that_do_not_fit_are_refused() {
    let config = |key: &str, value: &str| {
        let value = ConfigValue::Text(value.to_owned());
        let config = Config::from([(key.to_owned(), value)]);
        Some(Kind::ConfigRecord(settings_to_wire(&config)))
    };
    let read = |items: &[(&str, Option<Kind>)]| {
        let items = items.iter().map(|(key, value)| RecordDictItem {
            key: (*key).to_owned(),
            value: value.clone(),
        });
        let envelope = RecordDict {
            items: items.collect(),
        };
        let records = InlineRecords::of(ObjectId::of(b"m"), envelope)?;
        records.payload(&mut ReceivedObjects::new(100))
    };
    let id = ObjectId::of(b"a").to_string();
    type Items<'a> = &'a [(&'a str, Option<Kind>)];
    let cases: [(Items<'_>, &str); 5] = [
        (&[("own", None)], "has no value"),
        (
            &[("own", config("a", "")), ("own", config("b", ""))],
            "twice",
        ),
        (&[("", config("own", "x"))], "is no object id"),
        (&[("", config("own", &id))], "was not sent"),
        (
            &[("own", config("a", "")), ("", config("own", &id))],
            "in the envelope and an object",
        ),
    ];
    for (items, expected) in cases {
        let error = read(items).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn truncated_objects_are_refused() {
    for (at, (_, bytes)) in golden("request").iter().enumerate() {
        for length in 0..bytes.len() {
            let result = decode_with(at, |bytes| bytes.truncate(length));
            assert!(result.is_err(), "object {at} of {length} bytes");
        }
    }
}

#[test]
fn bytes_of_another_id_are_refused() {
    let id = ObjectId::of(b"a");
    check_bytes(id, b"a").unwrap();
    let error = check_bytes(id, b"b").unwrap_err();
    assert!(matches!(error, ObjectError::Bytes { .. }), "{error}");
}

#[test]
fn an_object_that_is_not_there_is_named() {
    let id = ObjectId::of(b"a");
    let error = decode_message(&mut ReceivedObjects::new(100), id).unwrap_err();
    assert!(matches!(error, ObjectError::Missing { id: missing } if missing == id));
}

/// One chunk may stand many times in an array: a message of a kilobyte could ask for terabytes.
#[test]
fn an_array_cannot_grow_without_end() {
    let mut set = ReceivedObjects::new(10_000);
    let chunk = [b"ArrayChunk  1000\0".to_vec(), vec![0; 1000]].concat();
    let id = ObjectId::of(&chunk);
    set.insert(id, chunk.into()).unwrap();
    let body = format!(
        r#"{{"dtype": "uint8", "shape": [100000], "stype": "numpy.ndarray", "arraychunk_ids": [{}0]}}"#,
        "0, ".repeat(1000)
    );
    let array = format!("Array {id} {}\0{body}", body.len());
    let array_id = ObjectId::of(array.as_bytes());
    set.insert(array_id, array.into()).unwrap();
    let error = crate::object::array::decode(&mut set, array_id).unwrap_err();
    assert!(
        matches!(error, ObjectError::Limit { limit: 10_000 }),
        "{error}"
    );
}
