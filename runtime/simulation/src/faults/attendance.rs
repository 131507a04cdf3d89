//! Records which of the called clients took part in a round.

use std::collections::BTreeSet;

use super::{Fate, Fates};

/// Who took part in a round, over all its cohorts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attendance {
    /// Virtual seconds until the server had all that it waited for.
    pub seconds: f64,
    pub failed: BTreeSet<usize>,
    pub late: BTreeSet<usize>,
    /// Those who would have arrived, and were not among the fastest.
    pub surplus: BTreeSet<usize>,
}

impl Attendance {
    /// Calls some clients, of whom the `wanted` fastest take part, in the order of the call. The server
    /// waits for these; where fewer arrive, until the deadline if there is one, and otherwise for the
    /// last who arrives: a failure is noticed at once.
    pub fn call(
        &mut self,
        fates: Option<Fates<'_>>,
        called: &[usize],
        wanted: usize,
        examples: impl Fn(usize) -> usize,
    ) -> Vec<usize> {
        let Some(fates) = fates else {
            return called.to_vec();
        };
        let mut arrived = vec![];
        for (place, &client) in called.iter().enumerate() {
            match fates.of(client, examples(client)) {
                Fate::Fails => _ = self.failed.insert(client),
                Fate::Late => _ = self.late.insert(client),
                Fate::Arrives(seconds) => arrived.push((seconds, place)),
            }
        }
        arrived.sort_by(|(a, i), (b, j)| a.total_cmp(b).then(i.cmp(j)));
        let surplus = arrived.split_off(wanted.min(arrived.len()));
        self.surplus
            .extend(surplus.iter().map(|(_, place)| called[*place]));
        let last = arrived.last().map_or(0.0, |(seconds, _)| *seconds);
        let missed = fates.faults.deadline.filter(|_| arrived.len() < wanted);
        let waited = missed
            .filter(|deadline| deadline.is_finite())
            .unwrap_or(last);
        self.seconds = self.seconds.max(waited);
        let mut places: Vec<usize> = arrived.into_iter().map(|(_, place)| place).collect();
        places.sort_unstable();
        places.into_iter().map(|place| called[place]).collect()
    }
}
