//! Dealing examples to clients.
//!
//! [`PARTITIONS`] lists what can be written, and `docs/partitions.md` what it
//! means. All are functions of the examples' labels (or groups), the number of
//! clients and the seed.
//!
//! Where sizes do not divide, the first clients (or shards) hold one example
//! more. Every client gets an example, and no example goes to two clients.
//! Every example goes to one, but for those that the kind leaves out: classes
//! that nobody holds (`islands`, `classes`), what is more than the scarcest
//! label allows (`labels`), parts and groups without a client (`domains`,
//! `natural`).
//!
//! The labels need not be classes: splitting by
//! [`SynthDigits::style_of`](crate::synth::SynthDigits::style_of) deals styles
//! instead, which is feature skew.

mod classes;
mod dirichlet;
mod error;
mod groups;
mod info;
mod local;
mod pool;
mod rotate;
mod shards;
#[cfg(test)]
mod tests;
mod text;

pub use error::PartitionError;
pub use info::{PARTITIONS, PartitionInfo};
pub use local::{Split, hold_out};
pub use rotate::Rotation;

use pool::Pool;

/// A way of dealing examples to clients. Parsed from, and printed as, the text
/// that users write; see [`PARTITIONS`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Partition {
    /// Equal shares of a permutation of all examples.
    Iid,
    /// Equal shards of the examples sorted by label, dealt at random.
    Shards {
        /// The number of shards of each client; at least 1.
        per_client: usize,
    },
    /// Latent Dirichlet allocation: of each class, shares of the clients that are drawn from a
    /// Dirichlet distribution, drawn anew until every client has enough examples. (The other
    /// convention, of Hsu et al., 2019, draws shares of the classes for each client.) A client
    /// that has `examples / clients` gets nothing of later classes.
    Dirichlet {
        /// The concentration; above 0. Small is skewed, large is iid.
        alpha: f64,
        /// The smallest client's number of examples. By default 10, or a
        /// quarter of an equal share where that is less.
        min: Option<usize>,
    },
    /// Shares of all examples, shuffled, that are drawn from a Dirichlet distribution: clients
    /// differ in size alone.
    Quantity {
        /// The concentration; above 0. Small is skewed, large is even.
        alpha: f64,
        /// As of [`Dirichlet`](Self::Dirichlet).
        min: Option<usize>,
    },
    /// One class each, a class in equal shares among its clients. Fewer clients than classes hold
    /// classes drawn at random.
    Islands,
    /// Some classes each, a class in equal shares among its clients. Client `i` holds class
    /// `i mod C` and others drawn at random.
    Classes {
        /// The number of classes of each client; at least 1.
        per_client: usize,
    },
    /// All classes each, of which `i mod C` dominates at client `i`.
    Subset {
        /// The share of a class that the clients it dominates hold, equally; above 0, at most 1.
        share: f64,
    },
    /// Some labels each, drawn without replacement, and equally many examples of each label at
    /// each client: as many as the scarcest label allows.
    Labels {
        /// The number of labels of each client; at least 1.
        per_client: usize,
        /// How likely each label is, in proportion. By default table 1 of AdFL, for ten classes.
        weights: Option<Vec<f64>>,
    },
    /// One group each, equally many clients for every group.
    Domains {
        /// Equal parts that a group is cut into; by default as many as it has clients. More parts
        /// leave data for clients that join.
        parts: Option<usize>,
        /// The most examples of a client; needs `parts`.
        most: Option<usize>,
    },
    /// All groups in equal shares of whole groups, drawn at random.
    Groups,
    /// One whole group each. Fewer clients than groups hold groups drawn at random.
    Natural,
    /// A base for all clients but the last, which holds random examples and sees them rotated.
    Rotated {
        /// How the other examples are dealt to the other clients; not itself rotated.
        base: Box<Partition>,
        /// The turn of the last client's images.
        rotation: Rotation,
        /// The number of training examples of the last client; at least 1.
        examples: usize,
    },
}

impl Partition {
    /// Deals `0..labels.len()` to `clients`; the result has the indices of each
    /// client. A function of its arguments alone. [`deal`](Self::deal) deals a
    /// whole dataset, by groups too and with tests of each client.
    ///
    /// # Errors
    /// No clients, more clients (or shards) than examples, a label that is not
    /// below `classes`, a draw that left a client too small in every try, and
    /// a partition that needs more than labels.
    pub fn split(
        &self,
        labels: &[u16],
        classes: usize,
        clients: usize,
        seed: u64,
    ) -> Result<Vec<Vec<usize>>, PartitionError> {
        if let Self::Rotated { .. } = self {
            return Err(PartitionError::NeedsDataset {
                partition: self.clone(),
            });
        }
        self.assign(&Pool {
            labels,
            classes,
            groups: None,
            clients,
            seed,
        })
    }

    fn assign(&self, pool: &Pool) -> Result<Vec<Vec<usize>>, PartitionError> {
        // What is built by hand may have arguments that cannot be written.
        self.to_string().parse::<Self>()?;
        pool.check()?;
        match self {
            Self::Iid => Ok(shards::iid(pool)),
            Self::Shards { per_client } => shards::shards(pool, *per_client),
            Self::Dirichlet { alpha, min } => {
                dirichlet::split(pool, &pool.by_class(), self, *alpha, *min)
            }
            Self::Quantity { alpha, min } => {
                dirichlet::split(pool, &[pool.all()], self, *alpha, *min)
            }
            Self::Islands => classes::islands(pool),
            Self::Classes { per_client } => classes::classes(pool, *per_client),
            Self::Subset { share } => classes::subset(pool, *share),
            Self::Labels {
                per_client,
                weights,
            } => classes::labels(pool, *per_client, weights.as_deref()),
            Self::Domains { parts, most } => groups::domains(pool, self, *parts, *most),
            Self::Groups => groups::groups(pool, self),
            Self::Natural => groups::natural(pool, self),
            Self::Rotated { base, examples, .. } => rotate::newcomer(pool, base, *examples),
        }
    }

    /// Whether clients are made of groups rather than of labels.
    fn by_groups(&self) -> bool {
        match self {
            Self::Domains { .. } | Self::Groups | Self::Natural => true,
            Self::Rotated { base, .. } => base.by_groups(),
            _ => false,
        }
    }
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
