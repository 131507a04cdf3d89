//! Checkpoints, going back to them, and what a process that died leaves.

use std::path::Path;

use fedround_store::{ClientStore, ClientStoreError, StoreMark};
use tempfile::tempdir;

use super::{state, value};

/// Sets `c` of client `round` and of client 0 to the round's number.
fn round(store: &ClientStore, round: usize) {
    let states = [0, round].map(|client| state("c", client, round, round as f32, 3));
    store.write(&states).unwrap();
}

/// A file as a process that is killed now would leave it.
fn killed(path: &Path, to: &Path) {
    std::fs::copy(path, to).unwrap();
}

#[test]
fn a_process_that_dies_loses_what_came_after_its_last_checkpoint() {
    let dir = tempdir().unwrap();
    let [path, copy] = ["a", "b"].map(|name| dir.path().join(name));
    let store = ClientStore::create(&path).unwrap();
    round(&store, 1);
    let first = store.checkpoint(1).unwrap();
    round(&store, 2);
    let second = store.checkpoint(2).unwrap();
    round(&store, 3);
    round(&store, 4);
    killed(&path, &copy);
    assert_eq!(value(&store, "c", 0), Some(4.0));

    let again = ClientStore::open(&copy).unwrap();
    let found = [0, 1, 2, 3].map(|client| value(&again, "c", client));
    assert_eq!(found, [Some(2.0), Some(1.0), Some(2.0), None]);
    again.rollback(&second).unwrap();
    assert_eq!(value(&again, "c", 0), Some(2.0));
    again.rollback(&first).unwrap();
    let found = [0, 1, 2].map(|client| value(&again, "c", client));
    assert_eq!(found, [Some(1.0), Some(1.0), None]);
    let states = [0, 1].map(|client| ("c".to_owned(), client));
    assert_eq!(again.states().unwrap(), states);
}

#[test]
fn a_store_that_was_closed_goes_back_too() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("clients");
    let store = ClientStore::create(&path).unwrap();
    round(&store, 1);
    let mark = store.checkpoint(1).unwrap();
    round(&store, 2);
    drop(store);
    let store = ClientStore::open(&path).unwrap();
    assert_eq!(value(&store, "c", 2), Some(2.0));
    store.rollback(&mark).unwrap();
    let found = [0, 1, 2].map(|client| value(&store, "c", client));
    assert_eq!(found, [Some(1.0), Some(1.0), None]);
    // And on from there, as if nothing had been.
    round(&store, 2);
    assert_eq!(value(&store, "c", 0), Some(2.0));
}

#[test]
fn the_same_writes_have_the_same_history() {
    let mark = || -> StoreMark {
        let store = ClientStore::temporary().unwrap();
        round(&store, 1);
        store.checkpoint(1).unwrap();
        round(&store, 2);
        store.checkpoint(2).unwrap()
    };
    assert_eq!(mark(), mark());
}

#[test]
fn another_run_or_an_older_checkpoint_is_refused() {
    let store = ClientStore::temporary().unwrap();
    let marks: Vec<StoreMark> = (1..=3)
        .map(|r| {
            round(&store, r);
            store.checkpoint(r).unwrap()
        })
        .collect();
    let error = store.rollback(&marks[0]).unwrap_err();
    assert!(
        matches!(&error, ClientStoreError::NoCheckpoint { round: 1, found, .. } if found == &[2, 3]),
        "{error}"
    );
    let other = StoreMark {
        history: [7; 32],
        ..marks[1]
    };
    let error = store.rollback(&other).unwrap_err();
    assert!(
        matches!(error, ClientStoreError::OtherRun { round: 2, .. }),
        "{error}"
    );
    // Nothing has changed.
    assert_eq!(value(&store, "c", 0), Some(3.0));
}

#[test]
fn what_a_checkpoint_sealed_does_not_change() {
    let store = ClientStore::temporary().unwrap();
    round(&store, 2);
    store.checkpoint(2).unwrap();
    for round in [1, 2] {
        let error = store.write(&[state("c", 0, round, 9.0, 1)]).unwrap_err();
        assert!(
            matches!(error, ClientStoreError::Past { latest: 2, .. }),
            "{error}"
        );
    }
    let error = store.checkpoint(1).unwrap_err();
    assert!(matches!(error, ClientStoreError::Past { .. }), "{error}");
    assert_eq!(value(&store, "c", 0), Some(2.0));
}

#[test]
fn files_stay_small_while_states_change() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("clients");
    let store = ClientStore::create(&path).unwrap();
    let size = 50_000;
    let mut after = vec![];
    for round in 1..=40 {
        let states: Vec<_> = (0..4)
            .map(|client| state("c", client, round, round as f32, size))
            .collect();
        store.write(&states).unwrap();
        if round % 5 == 0 {
            store.checkpoint(round).unwrap();
            after.push(std::fs::metadata(&path).unwrap().len());
        }
    }
    // As many versions as are kept, and what was written since: no more with every checkpoint.
    assert!(after[7] <= after[3] * 3 / 2, "{after:?}");
}

#[test]
fn a_file_is_used_once_at_a_time() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("clients");
    let store = ClientStore::create(&path).unwrap();
    let refused = |error: Option<ClientStoreError>| error.unwrap().to_string();
    let error = refused(ClientStore::create(&path).err());
    assert!(error.contains("exists"), "{error}");
    let error = refused(ClientStore::open(&path).err());
    assert!(error.contains("open in another process"), "{error}");
    drop(store);
    assert!(ClientStore::open(&path).is_ok());
    let error = refused(ClientStore::open(dir.path().join("none")).err());
    assert!(
        error.starts_with("cannot open the clients' states"),
        "{error}"
    );
}
