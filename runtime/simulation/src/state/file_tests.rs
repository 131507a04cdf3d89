//! Files of clients' states that change place, that nobody named, or that are not this run's.

use std::path::Path;

use super::State;
use super::tests::{SIZE, set, value};

fn at(path: &Path) -> State {
    let all = State::default();
    all.committed().set_path(path.to_owned()).unwrap();
    all
}

/// From memory, from a temporary file and from a file before, also those that are still being written.
#[test]
fn states_move_to_another_file() {
    for budget in [None, Some(SIZE), Some(0)] {
        let dir = tempfile::tempdir().unwrap();
        let [first, second] = ["first", "second"].map(|name| dir.path().join(name));
        let mut all = State::default();
        if let Some(bytes) = budget {
            all.committed().set_budget(bytes);
        }
        for client in 0..3 {
            set(&mut all, client, client as f32);
            all.commit();
        }
        let values = |all: &State| [0, 1, 2, 3].map(|k| value(all, k));
        let three = [Some(0.0), Some(1.0), Some(2.0), None];
        all.committed().set_path(first.clone()).unwrap();
        assert_eq!(values(&all), three, "{budget:?}");
        let mark = all.committed().checkpoint(3).unwrap().unwrap();
        // The same path again changes nothing.
        all.committed().set_path(first.clone()).unwrap();
        set(&mut all, 3, 3.0);
        all.commit();

        all.committed().set_path(second.clone()).unwrap();
        let four = [Some(0.0), Some(1.0), Some(2.0), Some(3.0)];
        assert_eq!(values(&all), four, "{budget:?}");
        all.commit();
        let later = all.committed().checkpoint(5).unwrap().unwrap();
        drop(all);
        for (path, mark, expected) in [(first, mark, three), (second, later, four)] {
            let all = at(&path);
            all.committed().restore(Some(&mark)).unwrap();
            assert_eq!(values(&all), expected, "{budget:?} {}", path.display());
        }
    }
}

#[test]
fn a_failed_rollback_leaves_the_file_of_another_run() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("clients.redb");
    let mut other = at(&path);
    set(&mut other, 0, 1.0);
    other.commit();
    let mark = other.committed().checkpoint(1).unwrap().unwrap();
    drop(other);

    let mut all = at(&path);
    set(&mut all, 0, 2.0);
    all.commit();
    let mut wrong = mark;
    wrong.history = [7; 32];
    let error = all.committed().restore(Some(&wrong)).unwrap_err();
    assert!(error.to_string().contains("another run"), "{error}");
    assert_eq!(value(&all, 0), Some(2.0));
    // What this run writes does not go there.
    let error = all.committed().checkpoint(1).unwrap_err().to_string();
    assert!(error.contains("exists"), "{error}");
    drop(all);
    let other = at(&path);
    other.committed().restore(Some(&mark)).unwrap();
    assert_eq!(value(&other, 0), Some(1.0));
}

#[test]
fn only_files_of_clients_states_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notes.txt");
    for text in ["mine", &"mine, and longer than any header ".repeat(400)] {
        std::fs::write(&path, text).unwrap();
        let error = at(&path).committed().restore(None).unwrap_err();
        assert!(error.to_string().contains("notes.txt"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    std::fs::write(&path, "").unwrap();
    at(&path).committed().restore(None).unwrap();
    assert!(!path.exists());

    let mut all = at(&path);
    set(&mut all, 0, 1.0);
    all.commit();
    all.committed().checkpoint(1).unwrap();
    drop(all);
    // A damaged one as well.
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.truncate(bytes.len() / 2);
    for file in [&bytes[..], &[0; 4096]] {
        std::fs::write(&path, file).unwrap();
        at(&path).committed().restore(None).unwrap();
        assert!(!path.exists());
    }
}

#[test]
fn states_are_as_before_where_their_file_cannot_be_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("clients.redb");
    let mut all = at(&path);
    all.committed().set_budget(0);
    set(&mut all, 0, 1.0);
    all.commit();
    all.committed().checkpoint(1).unwrap();
    std::fs::rename(&path, dir.path().join("moved.redb")).unwrap();
    std::fs::create_dir(&path).unwrap();
    let error = all.committed().restore(None).unwrap_err().to_string();
    assert!(error.contains("clients.redb"), "{error}");
    assert_eq!(value(&all, 0), Some(1.0));
}
