//! Bytes that somebody changed: an error or another message, never a panic.

use std::sync::LazyLock;

use bytes::Bytes;

use super::golden::golden;
use crate::object::{ObjectError, ObjectId, ReceivedObjects, decode_message};

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
    let mut set = ReceivedObjects::new(100);
    let id = ObjectId::of(b"a");
    let error = set.insert(id, Bytes::from_static(b"b")).unwrap_err();
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
