//! Files that were changed behind the database's back: an error, or all values as they were.

use std::path::Path;

use fedround_store::{ClientStore, ClientStoreError, StoreMark};
use tempfile::tempdir;

use super::{state, value};

const CLIENTS: usize = 12;

/// A closed store with values of several sizes, at its second checkpoint.
fn written(path: &Path) -> StoreMark {
    let store = ClientStore::create(path).unwrap();
    let mut mark = None;
    for round in 1..=2 {
        for client in 0..CLIENTS {
            let states = [state(
                "c",
                client,
                round,
                (client + round) as f32,
                40 << (client % 6),
            )];
            store.write(&states).unwrap();
        }
        mark = Some(store.checkpoint(round).unwrap());
    }
    mark.unwrap()
}

/// Opens the file and reads everything; true if nothing was found wrong.
fn reads(path: &Path, mark: &StoreMark) -> Result<(), ClientStoreError> {
    let store = ClientStore::open(path)?;
    store.rollback(mark)?;
    for client in 0..CLIENTS {
        let found = store.get("c", client)?.expect("a state that was set");
        let expected = state("c", client, 2, (client + 2) as f32, 40 << (client % 6));
        assert_eq!(found, expected.tensors, "client {client} has other numbers");
    }
    // It can be written as well.
    store.write(&[state("c", 0, 3, 0.5, 7)])?;
    store.checkpoint(3)?;
    assert_eq!(value(&store, "c", 0), Some(0.5));
    Ok(())
}

#[test]
fn a_changed_byte_is_an_error_or_changes_nothing() {
    let dir = tempdir().unwrap();
    let [good, bad] = ["good", "bad"].map(|name| dir.path().join(name));
    let mark = written(&good);
    let bytes = std::fs::read(&good).unwrap();
    // Multiples of an odd number, which are spread over the file.
    let spread = |i: usize, n: usize| i.wrapping_mul(0x9e37_79b1) / 64 % n;
    let (mut errors, mut same) = (0, 0);
    for i in 0..300 {
        // The first page describes the file; all of it is tried more often than the rest.
        let at = spread(i, if i < 120 { 512 } else { bytes.len() });
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (i % 8);
        std::fs::write(&bad, changed).unwrap();
        match reads(&bad, &mark) {
            Ok(()) => same += 1,
            Err(_) => errors += 1,
        }
    }
    // Both happen: parts of pages are empty.
    assert!(
        errors > 50 && same > 20,
        "{errors} errors, {same} as before"
    );
}

#[test]
fn a_shortened_file_is_an_error() {
    let dir = tempdir().unwrap();
    let [good, bad] = ["good", "bad"].map(|name| dir.path().join(name));
    let mark = written(&good);
    let bytes = std::fs::read(&good).unwrap();
    for part in 0..20 {
        let length = bytes.len() * part / 20;
        std::fs::write(&bad, &bytes[..length]).unwrap();
        let error = reads(&bad, &mark).unwrap_err();
        assert!(!error.to_string().is_empty());
    }
    std::fs::write(&bad, b"not a database at all").unwrap();
    let error = reads(&bad, &mark).unwrap_err();
    assert!(matches!(error, ClientStoreError::Damaged { .. }), "{error}");
}

#[test]
fn a_value_is_checked_when_it_is_read() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("clients");
    written(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    // Of client 5 alone: others have not so many equal numbers. Pages that are no longer used may
    // have copies.
    let numbers = 7f32.to_le_bytes().repeat(1000);
    let mut copies = 0;
    while let Some(at) = bytes.windows(numbers.len()).position(|w| w == numbers) {
        bytes[at + 2001] ^= 4;
        copies += 1;
    }
    assert!(copies > 0);
    std::fs::write(&path, &bytes).unwrap();
    // Without the check of the whole file.
    let store = ClientStore::open_read_only(&path).unwrap();
    for client in 0..CLIENTS {
        let found = store.get("c", client);
        match found {
            Ok(found) => assert!(client != 5 && found.is_some()),
            Err(error) => {
                let text = error.to_string();
                assert!(
                    client == 5 && text.contains("client 5 from round 2: expected a value"),
                    "{text}"
                );
            }
        }
    }
}
