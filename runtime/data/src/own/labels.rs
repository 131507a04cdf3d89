//! Classes and groups by the texts that name them.

use std::collections::BTreeMap;
use std::path::Path;

use fedround_names::nearest;

use super::OwnDataError;
use crate::notes::first_of;

/// Texts in the order of their first occurrence, with a number for each.
#[derive(Default)]
pub(super) struct Names {
    ids: BTreeMap<String, u32>,
    of: Vec<u32>,
}

/// The largest number of classes: labels are 16-bit integers, of which the last stands for no prediction.
pub(super) const MOST_CLASSES: usize = u16::MAX as usize;

impl Names {
    /// Adds the next example's text.
    pub fn push(&mut self, text: &str) {
        let next = self.ids.len() as u32;
        let id = match self.ids.get(text) {
            Some(&id) => id,
            None => *self.ids.entry(text.to_owned()).or_insert(next),
        };
        self.of.push(id);
    }

    /// The distinct texts in their order, and the place of each example's text among them. Whole numbers
    /// are in the order of their values, and other texts in that of their letters.
    pub fn sorted(self) -> (Vec<String>, Vec<u32>) {
        let mut names: Vec<(String, u32)> = self.ids.into_iter().collect();
        let number = |text: &str| text.parse::<i64>().ok();
        if names.iter().all(|(name, _)| number(name).is_some()) {
            names.sort_by_key(|(name, _)| number(name));
        }
        let mut place = vec![0; names.len()];
        for (at, (_, id)) in (0..).zip(&names) {
            place[*id as usize] = at;
        }
        let of = self.of.iter().map(|&id| place[id as usize]).collect();
        (names.into_iter().map(|(name, _)| name).collect(), of)
    }

    /// [`sorted`](Self::sorted) for classes. `what` says what they are the values of.
    pub fn classes(self, what: &str) -> Result<(Vec<String>, Vec<u16>), OwnDataError> {
        let (names, of) = self.sorted();
        if names.len() < 2 || names.len() > MOST_CLASSES {
            return Err(OwnDataError::Classes {
                what: what.to_owned(),
                found: names.len(),
            });
        }
        Ok((names, of.into_iter().map(|id| id as u16).collect()))
    }
}

/// Every class of the test examples, which come from `path`, must have training examples.
pub(super) fn check_test(
    path: &Path,
    names: &[String],
    train: &[u16],
    test: &[u16],
) -> Result<(), OwnDataError> {
    let mut trained = vec![false; names.len()];
    train.iter().for_each(|&y| trained[usize::from(y)] = true);
    let only = test.iter().find(|&&y| !trained[usize::from(y)]);
    let Some(&only) = only else { return Ok(()) };
    let class = &names[usize::from(only)];
    let known = names.iter().zip(&trained).filter(|(_, trained)| **trained);
    let known = known.map(|(name, _)| name.as_str());
    Err(OwnDataError::OnlyInTest {
        path: path.to_path_buf(),
        class: class.clone(),
        nearest: nearest(class, known).map(str::to_owned),
    })
}

/// A note on each class of which a model cannot be tested, or hardly trained.
pub(super) fn notes(names: &[String], train: &[u16], test: &[u16]) -> Vec<String> {
    let mut counts = vec![[0usize; 2]; names.len()];
    train.iter().for_each(|&y| counts[usize::from(y)][0] += 1);
    test.iter().for_each(|&y| counts[usize::from(y)][1] += 1);
    let of = |wanted: fn(&[usize; 2]) -> bool| {
        let found = names.iter().zip(&counts).filter(|(_, n)| wanted(n));
        let found: Vec<String> = found.map(|(name, _)| name.clone()).collect();
        found
    };
    let mut notes = vec![];
    let mut note = |classes: Vec<String>, what: &str| {
        if !classes.is_empty() {
            notes.push(format!("{what}: {}", first_of(&classes, 5)));
        }
    };
    note(of(|n| n[0] == 0), "classes without a training example");
    note(of(|n| n[0] == 1), "classes with a single training example");
    note(of(|n| n[1] == 0), "classes without a test example");
    notes
}
