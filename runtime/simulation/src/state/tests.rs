//! States with and without a file.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use burn::tensor::DispatchTensor;
use fedround_exec::tensor::{from_floats, read};

use super::{Key, Side, State};

/// Bytes of a state below.
pub(super) const SIZE: usize = 400;

fn tensors(x: f32) -> Vec<DispatchTensor> {
    vec![from_floats(
        vec![x; SIZE / 4],
        &[SIZE / 4],
        &Default::default(),
    )]
}

pub(super) fn set(states: &mut State, client: usize, x: f32) {
    let key = (client, "c".to_owned());
    states.clients.extend(vec![(key, tensors(x))]);
}

pub(super) fn value(states: &State, client: usize) -> Option<f32> {
    let found = states.clients.get(&(client, "c".to_owned())).unwrap()?;
    Some(read(found[0].clone()).unwrap()[0])
}

#[test]
fn a_failed_round_leaves_states_as_they_were() {
    for budget in [None, Some(SIZE), Some(0)] {
        let mut all = State::default();
        if let Some(bytes) = budget {
            all.committed().set_budget(bytes);
        }
        set(&mut all, 0, 1.0);
        set(&mut all, 1, 2.0);
        all.commit();
        set(&mut all, 1, 3.0);
        set(&mut all, 2, 4.0);
        let values = |all: &State| [0, 1, 2].map(|k| value(all, k));
        assert_eq!(values(&all), [Some(1.0), Some(3.0), Some(4.0)]);
        all.roll_back(Default::default());
        assert_eq!(values(&all), [Some(1.0), Some(2.0), None]);
        assert_eq!(all.committed().all().unwrap().len(), 2);
    }
}

#[test]
fn both_sides_of_a_client_are_apart() {
    let mut all = State::default();
    all.committed().set_budget(0);
    for x in [1.0, 2.0] {
        set(&mut all, 0, x);
        let key = (0, "c".to_owned());
        all.for_clients.extend(vec![(key, tensors(-x))]);
        all.commit();
    }
    all.commit();
    assert_eq!(value(&all, 0), Some(2.0));
    let of_server = all.for_clients.get(&(0, "c".to_owned())).unwrap().unwrap();
    assert_eq!(read(of_server[0].clone()).unwrap()[0], -2.0);
}

#[test]
fn memory_is_the_budget_and_what_rounds_touch() {
    let (clients, cohort, budget) = (200, 4, 10 * SIZE);
    let mut all = State::default();
    all.committed().set_budget(budget);
    let mut expected = HashMap::new();
    for round in 0..300 {
        let drawn: Vec<usize> = (0..cohort)
            .map(|i| (round * 7 + i * 31) % clients)
            .collect();
        let kept = all.clients.clone();
        kept.reading_ahead(&drawn, &["c"], || {
            for &client in &drawn {
                assert_eq!(value(&all, client), expected.get(&client).copied());
            }
        });
        for &client in &drawn {
            set(&mut all, client, round as f32);
            expected.insert(client, round as f32);
        }
        all.committed().check().unwrap();
        all.commit();
    }
    assert_eq!(expected.len(), clients);
    for client in 0..clients {
        assert_eq!(value(&all, client), expected.get(&client).copied());
    }
    let memory = all.committed().memory();
    let (now, most) = (memory.bytes, memory.most);
    assert!(now <= budget + 2 * cohort * SIZE, "{now}");
    assert!(most <= budget + 3 * cohort * SIZE, "{most}");
    assert!(most > budget, "{most}");
}

#[test]
fn what_was_read_ahead_and_is_not_used_leaves_again() {
    let mut all = State::default();
    all.committed().set_budget(0);
    for client in 0..100 {
        set(&mut all, client, client as f32);
    }
    all.commit();
    all.commit();
    let clients: Vec<usize> = (0..100).collect();
    let kept = all.clients.clone();
    // More than may wait, and nobody asks for any but the last.
    kept.reading_ahead(&clients, &["c"], || {
        assert_eq!(value(&all, 99), Some(99.0));
        while all.committed().memory().bytes == 0 {
            std::thread::yield_now();
        }
    });
    assert_eq!(all.committed().memory().bytes, 0);
}

#[test]
fn what_workers_have_used_is_not_read_ahead_any_more() {
    let mut all = State::default();
    all.committed().set_budget(0);
    for client in 0..4 {
        set(&mut all, client, client as f32);
    }
    all.commit();
    all.commit();
    let keys = (0..4).map(|client| all.clients.key(client, "c"));
    let keys = all.committed().to_read_ahead(keys);
    assert_eq!(keys.len(), 4);
    assert_eq!([0, 2].map(|k| value(&all, k)), [Some(0.0), Some(2.0)]);
    all.committed().read_ahead(&keys, &AtomicBool::new(false));
    assert_eq!(all.committed().memory().bytes, 2 * SIZE);
}

#[test]
fn a_file_goes_back_to_its_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("clients.redb");
    let open = || {
        let all = State::default();
        all.committed().set_path(path.clone()).unwrap();
        all.committed().set_budget(SIZE);
        all
    };
    let mut all = open();
    assert_eq!(all.committed().checkpoint(0).unwrap(), None);
    for round in 1..=6 {
        for client in 0..round {
            set(&mut all, client, round as f32);
        }
        all.commit();
    }
    let mark = all.committed().checkpoint(6).unwrap().unwrap();
    set(&mut all, 0, 9.0);
    set(&mut all, 7, 9.0);
    all.commit();
    all.commit();
    drop(all);
    let mut all = open();
    all.committed().restore(Some(&mark)).unwrap();
    assert_eq!(
        [0, 5, 7].map(|k| value(&all, k)),
        [Some(6.0), Some(6.0), None]
    );
    set(&mut all, 7, 7.0);
    all.commit();
    assert!(all.committed().checkpoint(7).unwrap().is_some());
    assert_eq!(value(&all, 7), Some(7.0));
    all.committed().restore(None).unwrap();
    assert!(!path.exists());
    assert_eq!(value(&all, 0), None);
}

/// States that an archive holds are of the round that it was saved after, also if that is none.
#[test]
fn the_first_checkpoint_has_the_states_of_an_archive() {
    for round in [0, 5] {
        let dir = tempfile::tempdir().unwrap();
        let open = || {
            let all = State::default();
            let path = dir.path().join("clients.redb");
            all.committed().set_path(path).unwrap();
            all
        };
        let mut all = open();
        let key = Key {
            side: Side::Client,
            client: 0,
            name: "c".to_owned(),
        };
        let saved = vec![(key, tensors(1.0))];
        all.committed().replace(saved, round).unwrap();
        set(&mut all, 1, 2.0);
        all.commit();
        let mark = all.committed().checkpoint(round + 1).unwrap().unwrap();
        drop(all);
        let all = open();
        all.committed().restore(Some(&mark)).unwrap();
        let values = [0, 1].map(|k| value(&all, k));
        assert_eq!(values, [Some(1.0), Some(2.0)], "after round {round}");
    }
}

/// Somebody deletes the file while it is open: its states can be read, and are no longer in a file.
#[cfg(unix)]
#[test]
fn a_deleted_file_is_no_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("clients.redb");
    let mut all = State::default();
    all.committed().set_path(path.clone()).unwrap();
    all.committed().set_budget(0);
    for client in 0..3 {
        set(&mut all, client, 1.0);
    }
    all.commit();
    assert!(all.committed().checkpoint(1).unwrap().is_some());
    std::fs::remove_file(path).unwrap();
    assert_eq!(all.committed().checkpoint(2).unwrap(), None);
    assert_eq!(all.committed().all().unwrap().len(), 3);
    assert_eq!(value(&all, 2), Some(1.0));
}

#[test]
fn states_that_cannot_be_written_stay_and_are_said() {
    let dir = tempfile::tempdir().unwrap();
    let mut all = State::default();
    all.committed()
        .set_path(dir.path().join("missing/clients.redb"))
        .unwrap();
    all.committed().set_budget(0);
    set(&mut all, 3, 1.0);
    all.commit();
    // The next end of a round waits for the file.
    all.commit();
    let error = all.committed().check().unwrap_err().to_string();
    assert!(
        error.contains("cannot create the clients' states"),
        "{error}"
    );
    assert_eq!(value(&all, 3), Some(1.0));
    // Once there is a folder, it goes on.
    std::fs::create_dir(dir.path().join("missing")).unwrap();
    all.commit();
    all.commit();
    _ = all.committed().check();
    all.commit();
    assert!(all.committed().check().is_ok());
    assert_eq!(value(&all, 3), Some(1.0));
    assert!(dir.path().join("missing/clients.redb").exists());
}
