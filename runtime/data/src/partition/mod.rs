//! Partitions: how the training examples are dealt to the clients.
//!
//! [`PARTITIONS`] lists the text form of every kind, and `docs/partitions.md` explains them. A partition
//! is a function of the examples' labels (or groups), the number of clients and the seed.
//!
//! Every client gets at least one example. No example goes to two clients, except under `shared`, which draws
//! each client's examples from all. Where sizes do not divide, the first clients (or shards) hold one example
//! more. Some kinds leave examples out: `islands` and `classes` those of classes that no client holds, `labels`
//! what exceeds the scarcest label, `domains` and `natural` parts and groups without a client.
//!
//! The labels need not be classes. Splitting by
//! [`SynthDigits::style_of`](crate::synth::SynthDigits::style_of) deals styles, which gives feature skew.

mod classes;
mod dirichlet;
mod error;
mod groups;
mod info;
mod local;
mod pool;
mod rotate;
mod shards;
mod shared;
#[cfg(test)]
mod tests;
mod text;

pub use error::PartitionError;
pub use info::{PARTITIONS, PartitionInfo};
pub use local::{Split, hold_out};
pub use rotate::Rotation;

use pool::Pool;

/// A way of dealing examples to clients. It is parsed from, and printed as, the text of [`PARTITIONS`].
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
    /// Latent Dirichlet allocation. For each class, the clients' shares are drawn from a Dirichlet
    /// distribution, and drawn anew until every client has enough examples. A client that holds
    /// `examples / clients` examples gets nothing of later classes. (Hsu et al., 2019, draw the shares
    /// of the classes for each client instead.)
    Dirichlet {
        /// The concentration; above 0. Small is skewed, large is iid.
        alpha: f64,
        /// The smallest client's number of examples. By default 10, or a
        /// quarter of an equal share where that is less.
        min: Option<usize>,
    },
    /// Shares of all shuffled examples, drawn from a Dirichlet distribution. Clients differ in size
    /// only.
    Quantity {
        /// The concentration; above 0. Small is skewed, large is even.
        alpha: f64,
        /// The same as in [`Dirichlet`](Self::Dirichlet).
        min: Option<usize>,
    },
    /// One class for each client. Clients of the same class share it equally. If there are fewer clients
    /// than classes, the classes are drawn at random.
    Islands,
    /// Some classes for each client. Clients of the same class share it equally. Client `i` holds class
    /// `i mod C` and others drawn at random.
    Classes {
        /// The number of classes of each client; at least 1.
        per_client: usize,
    },
    /// All classes for each client, where class `i mod C` dominates at client `i`.
    Subset {
        /// The share of a class that the clients it dominates hold, equally; above 0, at most 1.
        share: f64,
    },
    /// Some labels for each client, drawn without replacement. Every client has the same number of
    /// examples of each of its labels: as many as the scarcest label allows.
    Labels {
        /// The number of labels of each client; at least 1.
        per_client: usize,
        /// How likely each label is, in proportion. By default table 1 of AdFL, for ten classes.
        weights: Option<Vec<f64>>,
    },
    /// One group for each client, and the same number of clients for every group.
    Domains {
        /// The number of equal parts that a group is cut into. By default as many as it has clients.
        /// More parts leave data for clients that join later.
        parts: Option<usize>,
        /// The most examples of a client; needs `parts`.
        most: Option<usize>,
    },
    /// Equal numbers of whole groups for each client, drawn at random.
    Groups,
    /// One whole group for each client. If there are fewer clients than groups, the groups are drawn at
    /// random.
    Natural,
    /// Random examples for each client, drawn for it alone: clients may share examples, and there may be
    /// more clients than examples.
    Shared {
        /// The number of examples of each client, none of them twice; at least 1.
        per_client: usize,
    },
    /// Another partition for all clients but the last. The last client holds random examples, and its
    /// images are rotated.
    Rotated {
        /// The partition of the other examples among the other clients. It is not itself rotated.
        base: Box<Partition>,
        /// The rotation of the last client's images.
        rotation: Rotation,
        /// The number of training examples of the last client; at least 1.
        examples: usize,
    },
}

impl Partition {
    /// Deals `0..labels.len()` to `clients` and returns the indices of each client.
    ///
    /// [`deal`](Self::deal) deals a whole dataset: also by groups, and with test examples for each
    /// client.
    ///
    /// # Errors
    /// There are no clients, or more clients (or shards) than examples, which only
    /// [`Shared`](Self::Shared) allows. A label is not below `classes`.
    /// Every try of a random draw left a client too small. The partition needs more than labels.
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
        // A value built by hand may have arguments that the parser refuses.
        self.to_string().parse::<Self>()?;
        pool.check()?;
        if self.by_groups() && pool.groups.is_none() {
            return Err(PartitionError::NoGroups {
                partition: self.clone(),
            });
        }
        // Clients of `shared` need no examples of their own, and the others here count groups.
        if !matches!(self, Self::Shared { .. } | Self::Groups | Self::Natural) {
            pool.check_clients()?;
        }
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
            Self::Domains { parts, most } => groups::domains(pool, *parts, *most),
            Self::Groups => groups::groups(pool),
            Self::Natural => groups::natural(pool),
            Self::Shared { per_client } => shared::shared(pool, *per_client),
            Self::Rotated { base, examples, .. } => rotate::newcomer(pool, base, *examples),
        }
    }

    /// Whether the partition goes by groups rather than by labels.
    pub fn by_groups(&self) -> bool {
        match self {
            Self::Domains { .. } | Self::Groups | Self::Natural => true,
            Self::Rotated { base, .. } => base.by_groups(),
            _ => false,
        }
    }
}

/// The number of examples of each class that each client holds, `[clients][classes]`. Labels that are
/// not below `classes` are not counted.
///
/// # Panics
/// If a part contains an index that `labels` does not have.
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
