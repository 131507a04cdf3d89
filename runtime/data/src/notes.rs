//! Remarks of a reader about files that it accepts.

use std::sync::Mutex;

/// Collects remarks from any thread.
#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<Vec<String>>);

impl Notes {
    pub fn add(&self, note: String) {
        if let Ok(mut notes) = self.0.lock() {
            notes.push(note);
        }
    }

    /// All remarks, sorted, so that their order does not depend on threads.
    pub fn take(&self) -> Vec<String> {
        let notes = self.0.lock().map(|mut notes| std::mem::take(&mut *notes));
        let mut notes = notes.unwrap_or_default();
        notes.sort_unstable();
        notes
    }
}

/// The start of a text, for messages. Characters that a terminal would obey are replaced.
pub(crate) fn start(text: &str) -> String {
    let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().take(80).map(shown).collect()
}

/// Names for a message, the first of many.
pub(crate) fn listed(names: &[String]) -> String {
    first_of(names, 30)
}

/// The first `most` names for a message, and how many more there are.
pub(crate) fn first_of(names: &[String], most: usize) -> String {
    let shown: Vec<String> = names.iter().take(most).map(|name| start(name)).collect();
    match names.len().checked_sub(most) {
        None | Some(0) => shown.join(", "),
        Some(more) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A number with its noun.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
