//! Dealing training examples to clients.
//!
//! | text | who gets what |
//! |---|---|
//! | `iid` | equal shares of a permutation of all examples |
//! | `shards:N` | N shards each of the examples sorted by label: about N classes per client (McMahan et al., 2017) |
//! | `dirichlet:ALPHA` | of each class a share drawn from Dirichlet(ALPHA): label and quantity skew, stronger for smaller ALPHA (Hsu et al., 2019) |
//!
//! Where sizes do not divide, the first clients (or shards) hold one example
//! more. Every example goes to exactly one client, and every client gets one.
//!
//! The labels need not be classes: splitting by
//! [`SynthDigits::style_of`](crate::synth::SynthDigits::style_of) deals styles
//! instead, which is feature skew.

mod dirichlet;
mod error;
#[cfg(test)]
mod tests;
mod text;

pub use error::PartitionError;

use crate::rng;

/// A way of dealing examples to clients. Parsed from, and printed as, the text
/// that users write; see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Partition {
    /// Equal shares of a permutation of all examples.
    Iid,
    /// Equal shards of the examples sorted by label, dealt at random.
    Shards {
        /// The number of shards of each client; at least 1.
        per_client: usize,
    },
    /// A share of each class that is drawn from a Dirichlet distribution, drawn
    /// anew until every client has enough examples.
    Dirichlet {
        /// The concentration; above 0. Small is skewed, large is iid.
        alpha: f64,
        /// The smallest client's number of examples. By default 10, or a
        /// quarter of an equal share where that is less.
        min: Option<usize>,
    },
}

/// What [`Partition`] can be, for listings.
#[derive(Clone, Copy, Debug)]
pub struct PartitionInfo {
    /// What to write, such as `shards:N`.
    pub syntax: &'static str,
    /// One line about it.
    pub doc: &'static str,
    /// Where it comes from; empty for `iid`.
    pub paper: &'static str,
}

/// Every kind of partition.
pub const PARTITIONS: &[PartitionInfo] = &[
    PartitionInfo {
        syntax: "iid",
        doc: "equal shares of shuffled examples",
        paper: "",
    },
    PartitionInfo {
        syntax: "shards:N",
        doc: "N shards each of the examples sorted by label: about N classes per client",
        paper: "McMahan et al., AISTATS 2017",
    },
    PartitionInfo {
        syntax: "dirichlet:ALPHA[:MIN]",
        doc: "of each class a Dirichlet(ALPHA) share, at least MIN examples per client; smaller is more skewed",
        paper: "Hsu et al., 2019",
    },
];

impl Partition {
    /// Deals `0..labels.len()` to `clients`; the result has the indices of each
    /// client. A function of its arguments alone.
    ///
    /// # Errors
    /// No clients, more clients (or shards) than examples, a label that is not
    /// below `classes`, and a Dirichlet draw that left a client too small in
    /// every try.
    pub fn split(
        &self,
        labels: &[u16],
        classes: usize,
        clients: usize,
        seed: u64,
    ) -> Result<Vec<Vec<usize>>, PartitionError> {
        let examples = labels.len();
        if clients == 0 {
            return Err(PartitionError::NoClients);
        }
        if clients > examples {
            return Err(PartitionError::TooManyClients { clients, examples });
        }
        if let Some(index) = labels.iter().position(|&l| usize::from(l) >= classes) {
            let label = labels[index];
            return Err(PartitionError::Label {
                index,
                label,
                classes,
            });
        }
        match *self {
            Self::Iid => {
                let order = rng::permutation(seed, examples, &[rng::PARTITION]);
                Ok(even(examples, clients).map(|r| order[r].to_vec()).collect())
            }
            Self::Shards { per_client } => shards(labels, clients, per_client, seed),
            Self::Dirichlet { alpha, min } => {
                dirichlet::split(labels, classes, clients, alpha, min, seed)
            }
        }
    }
}

/// Cuts `0..n` into `parts` ranges whose sizes differ by one at most, the
/// larger ones first.
fn even(n: usize, parts: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let (size, extra) = (n / parts, n % parts);
    (0..parts).map(move |i| {
        let start = i * size + i.min(extra);
        start..start + size + usize::from(i < extra)
    })
}

fn shards(
    labels: &[u16],
    clients: usize,
    per_client: usize,
    seed: u64,
) -> Result<Vec<Vec<usize>>, PartitionError> {
    let examples = labels.len();
    let total = clients.saturating_mul(per_client);
    if per_client == 0 {
        return Err(PartitionError::argument("shards:0", text::SHARDS));
    }
    if total > examples {
        return Err(PartitionError::TooManyShards {
            clients,
            per_client,
            total,
            examples,
        });
    }
    let mut by_label: Vec<usize> = (0..examples).collect();
    by_label.sort_by_key(|&i| labels[i]);
    let shards: Vec<_> = even(examples, total).collect();
    let dealt = rng::permutation(seed, total, &[rng::PARTITION]);
    let deal = |hand: &[usize]| {
        hand.iter()
            .flat_map(|&s| &by_label[shards[s].clone()])
            .copied()
            .collect()
    };
    Ok(dealt.chunks(per_client).map(deal).collect())
}

/// How many examples of each class each client holds: `[clients][classes]`.
/// Labels that are not below `classes` are not counted.
///
/// # Panics
/// Where a part names an example that `labels` does not have.
pub fn class_counts(parts: &[Vec<usize>], labels: &[u16], classes: usize) -> Vec<Vec<usize>> {
    let count = |part: &Vec<usize>| {
        let mut counts = vec![0; classes];
        for &example in part {
            if let Some(count) = counts.get_mut(usize::from(labels[example])) {
                *count += 1;
            }
        }
        counts
    };
    parts.iter().map(count).collect()
}
