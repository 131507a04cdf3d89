//! Requests that were sent together, and what the SuperLink still keeps of them and of their replies.
//!
//! The SuperLink keeps a message's objects until one call says that the message has arrived, which costs it as
//! much as any other. One request of a batch therefore has the objects of the others, and those of earlier
//! replies, among its children: all are deleted with it.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::wire::message::ObjectTree;

/// A request may be answered this much after its time, as clocks differ.
const GRACE: Duration = Duration::from_secs(60);

/// Requests that were sent together.
#[derive(Debug)]
struct Batch {
    /// The messages with which all objects are deleted.
    roots: Vec<String>,
    /// The requests that have no reply yet.
    open: HashSet<String>,
    /// When none is expected any more.
    end: Instant,
}

/// What is to be deleted at the SuperLink, and when.
#[derive(Debug, Default)]
pub(super) struct Batches {
    batches: Vec<Batch>,
    /// Replies that were received and have no objects but their own, which is empty. The next batch deletes them.
    pub(super) replies: Vec<ObjectTree>,
}

impl Batches {
    /// Requests were sent together, which are answered within `time`, and deleted with these.
    pub(super) fn sent(&mut self, roots: Vec<String>, requests: HashSet<String>, time: Duration) {
        self.batches.push(Batch {
            roots,
            open: requests,
            end: Instant::now() + time + GRACE,
        });
    }

    /// A request has a reply. Gives the messages that may be deleted now.
    pub(super) fn answered(&mut self, request: &str) -> Vec<String> {
        let now = Instant::now();
        for batch in &mut self.batches {
            batch.open.remove(request);
        }
        let done = |batch: &mut Batch| batch.open.is_empty() || batch.end < now;
        let done = self.batches.extract_if(.., done);
        done.flat_map(|batch| batch.roots).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    fn texts<T: FromIterator<String>>(ids: &[&str]) -> T {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn a_batch_is_deleted_when_its_last_request_is_answered() {
        let mut batches = Batches::default();
        batches.sent(texts(&["b"]), texts(&["a", "b"]), LONG);
        batches.sent(texts(&["c", "d"]), texts(&["c", "d"]), LONG);
        assert!(batches.answered("b").is_empty());
        assert!(batches.answered("b").is_empty());
        assert!(batches.answered("c").is_empty());
        assert_eq!(batches.answered("a"), ["b"]);
        assert_eq!(batches.answered("d"), ["c", "d"]);
        assert!(batches.batches.is_empty());
    }

    #[test]
    fn requests_that_nobody_answers_are_deleted_in_the_end() {
        let mut batches = Batches::default();
        batches.sent(texts(&["a"]), texts(&["a"]), LONG);
        batches.sent(texts(&["b"]), texts(&["b"]), LONG);
        batches.batches[0].end = Instant::now() - Duration::from_millis(1);
        assert_eq!(batches.answered("b"), ["a", "b"]);
    }
}
