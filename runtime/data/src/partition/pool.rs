//! The examples to deal, and the cutting of strata into equal pieces.

use std::ops::Range;

use super::PartitionError;
use fedround_random::{Purpose, StreamKey, permutation};

/// The examples and the number of clients.
#[derive(Clone, Copy)]
pub(super) struct Pool<'a> {
    pub labels: &'a [u16],
    pub classes: usize,
    pub groups: Option<&'a [u32]>,
    pub clients: usize,
    pub seed: u64,
}

/// What a partition draws: the second part of its streams' keys. `iid` and `shards` have keys of one
/// part, the [purpose](Purpose::Partition).
#[derive(Clone, Copy)]
pub(super) enum Draw {
    /// The clients' weights for a class.
    Weights,
    /// The order in which a class is dealt by weights.
    Members,
    /// The order of a stratum that is cut evenly.
    Stratum,
    /// The order of the classes or groups themselves.
    Order,
    /// The classes of a client.
    Classes,
    Newcomer,
    LocalTest,
    Validation,
    /// The examples of a client that may have some with others.
    Shared,
}

impl Draw {
    pub fn key(self, seed: u64) -> StreamKey {
        StreamKey::new(seed, Purpose::Partition).with(self as usize)
    }
}

impl Pool<'_> {
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    pub fn all(&self) -> Vec<usize> {
        (0..self.len()).collect()
    }

    /// Whether there are examples for all clients.
    pub fn check_clients(&self) -> Result<(), PartitionError> {
        let (clients, examples) = (self.clients, self.len());
        match clients > examples {
            true => Err(PartitionError::TooManyClients { clients, examples }),
            false => Ok(()),
        }
    }

    pub fn check(&self) -> Result<(), PartitionError> {
        let (clients, classes) = (self.clients, self.classes);
        if clients == 0 {
            return Err(PartitionError::NoClients);
        }
        let mut labels = self.labels.iter().enumerate();
        match labels.find(|(_, label)| usize::from(**label) >= classes) {
            None => Ok(()),
            Some((index, &label)) => Err(PartitionError::Label {
                index,
                label,
                classes,
            }),
        }
    }

    /// The examples of each class, `[classes]`.
    pub fn by_class(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.classes];
        for (example, &label) in self.labels.iter().enumerate() {
            members[usize::from(label)].push(example);
        }
        members
    }

    pub fn permutation(&self, n: usize, draw: Draw, index: usize) -> Vec<usize> {
        permutation(n, draw.key(self.seed).with(index))
    }

    /// Deals each stratum, shuffled and cut into equal pieces, to its holders.
    pub fn share(&self, strata: &[Stratum]) -> Result<Vec<Vec<usize>>, PartitionError> {
        let mut parts = vec![Vec::new(); self.clients];
        for (index, stratum) in strata.iter().enumerate() {
            let members = &stratum.members;
            if !stratum.holders.is_empty() && members.len() < stratum.pieces {
                return Err(PartitionError::TooFewOfKind {
                    kind: stratum.kind,
                    index: stratum.index,
                    examples: members.len(),
                    pieces: stratum.pieces,
                });
            }
            let order = self.permutation(members.len(), Draw::Stratum, index);
            for (&client, piece) in stratum
                .holders
                .iter()
                .zip(even(members.len(), stratum.pieces))
            {
                let piece = &order[piece];
                let piece = &piece[..piece.len().min(stratum.most)];
                parts[client].extend(piece.iter().map(|&i| members[i]));
            }
        }
        Ok(parts)
    }
}

/// The examples of one class or group, and the clients that hold them.
pub(super) struct Stratum {
    /// `class` or `group`.
    pub kind: &'static str,
    /// The number of the class or group.
    pub index: usize,
    pub members: Vec<usize>,
    /// The clients of the first pieces.
    pub holders: Vec<usize>,
    pub pieces: usize,
    /// The largest number of examples of a piece that are dealt.
    pub most: usize,
}

impl Stratum {
    /// A class, cut among its holders.
    pub fn class(index: usize, members: Vec<usize>, holders: Vec<usize>) -> Self {
        Self {
            kind: "class",
            index,
            members,
            pieces: holders.len(),
            holders,
            most: usize::MAX,
        }
    }
}

/// Cuts `0..n` into `parts` ranges whose sizes differ by at most one. The larger ones come first.
pub(super) fn even(n: usize, parts: usize) -> impl Iterator<Item = Range<usize>> {
    let (size, extra) = (n / parts.max(1), n % parts.max(1));
    (0..parts).map(move |i| {
        let start = i * size + i.min(extra);
        start..start + size + usize::from(i < extra)
    })
}
