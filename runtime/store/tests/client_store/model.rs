//! The store against a map of all values that were ever set.

use std::collections::BTreeMap;

use fedround_store::{ClientStore, KEPT_CHECKPOINTS, StoreMark};
use proptest::prelude::*;

use super::{state, value};

#[derive(Clone, Debug)]
enum Action {
    /// A round that sets the state of these clients.
    Round(Vec<(usize, usize)>),
    Checkpoint,
    /// To the n-th of the last checkpoints.
    Rollback(usize),
    Reopen,
}

fn step() -> impl Strategy<Value = Action> {
    let states = prop::collection::vec((0..2usize, 0..4usize), 0..4);
    prop_oneof![
        5 => states.prop_map(Action::Round),
        2 => Just(Action::Checkpoint),
        1 => (0..KEPT_CHECKPOINTS).prop_map(Action::Rollback),
        1 => Just(Action::Reopen),
    ]
}

type States = BTreeMap<(usize, usize), f32>;

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_store_is_a_map_that_can_go_back(steps in prop::collection::vec(step(), 1..30)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("clients");
        let mut store = ClientStore::create(&path).unwrap();
        let (mut states, mut round, mut serial) = (States::new(), 0usize, 0f32);
        let mut marks: Vec<(StoreMark, States)> = vec![];
        for step in steps {
            match step {
                Action::Round(set) => {
                    round += 1;
                    let mut written = vec![];
                    for (name, client) in set {
                        serial += 1.0;
                        states.insert((name, client), serial);
                        written.push(state(["a", "b"][name], client, round, serial, 4));
                    }
                    store.write(&written).unwrap();
                }
                Action::Checkpoint => {
                    marks.retain(|(mark, _)| mark.round != round);
                    marks.push((store.checkpoint(round).unwrap(), states.clone()));
                    let surplus = marks.len().saturating_sub(KEPT_CHECKPOINTS);
                    marks.drain(..surplus);
                }
                Action::Rollback(n) => {
                    let Some(at) = marks.len().checked_sub(n + 1) else { continue };
                    store.rollback(&marks[at].0).unwrap();
                    marks.truncate(at + 1);
                    (round, states) = (marks[at].0.round, marks[at].1.clone());
                }
                Action::Reopen => {
                    drop(store);
                    store = ClientStore::open(&path).unwrap();
                }
            }
            for name in 0..2 {
                for client in 0..4 {
                    let found = value(&store, ["a", "b"][name], client);
                    prop_assert_eq!(found, states.get(&(name, client)).copied());
                }
            }
        }
    }
}
