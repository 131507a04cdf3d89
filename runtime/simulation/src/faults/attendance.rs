//! Records which of the called clients took part in a round.

use std::collections::BTreeSet;

use super::{Fate, Fates};

/// Which clients took part in a round, over all its cohorts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attendance {
    /// Virtual seconds that the server waited: until the last update that it waited for had arrived, or until the
    /// deadline.
    pub seconds: f64,
    /// Called clients that failed.
    pub failed: BTreeSet<usize>,
    /// Called clients that would have arrived after the deadline.
    pub late: BTreeSet<usize>,
    /// Called clients that arrived, but were not among the fastest.
    pub surplus: BTreeSet<usize>,
}

impl Attendance {
    /// Calls clients, and returns the `wanted` fastest of those that arrive, in the order of the call. The server
    /// waits until these have arrived. If fewer arrive, it waits until the deadline, or, without a deadline, for the
    /// last that arrives: failures are noticed at once.
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
        for (position, &client) in called.iter().enumerate() {
            match fates.of(client, examples(client)) {
                Fate::Fails => _ = self.failed.insert(client),
                Fate::Late => _ = self.late.insert(client),
                Fate::Arrives(seconds) => arrived.push((seconds, position)),
            }
        }
        arrived.sort_by(|(a, i), (b, j)| a.total_cmp(b).then(i.cmp(j)));
        let surplus = arrived.split_off(wanted.min(arrived.len()));
        self.surplus
            .extend(surplus.iter().map(|(_, position)| called[*position]));
        let last = arrived.last().map_or(0.0, |(seconds, _)| *seconds);
        let missed = fates.faults.deadline.filter(|_| arrived.len() < wanted);
        let waited = missed
            .filter(|deadline| deadline.is_finite())
            .unwrap_or(last);
        self.seconds = self.seconds.max(waited);
        let mut positions: Vec<usize> = arrived.into_iter().map(|(_, position)| position).collect();
        positions.sort_unstable();
        let in_order = positions.into_iter();
        in_order.map(|position| called[position]).collect()
    }
}
