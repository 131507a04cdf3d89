use super::Partition;
use crate::error::did_you_mean;

/// Why examples could not be dealt to clients.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionError {
    /// No partition has this name.
    #[error(
        "unknown partition `{name}`{}; write iid, shards:N or dirichlet:ALPHA",
        did_you_mean(*nearest)
    )]
    Unknown {
        /// The name that was written.
        name: String,
        /// The partition whose name is closest, where one is close.
        nearest: Option<&'static str>,
    },
    /// The part after the colon is missing, or is not what it should be.
    #[error("bad partition `{text}`: {expected}")]
    Argument {
        /// All that was written.
        text: String,
        /// What should have been.
        expected: &'static str,
    },
    /// There is nobody to deal to.
    #[error("a partition needs at least 1 client, found 0")]
    NoClients,
    /// Some clients would hold nothing.
    #[error("cannot deal {examples} examples to {clients} clients; use at most {examples} clients")]
    TooManyClients {
        /// The number of clients.
        clients: usize,
        /// The number of examples.
        examples: usize,
    },
    /// Some shards would hold nothing.
    #[error(
        "cannot cut {examples} examples into {total} shards ({clients} clients with {per_client} each); \
         use fewer shards or fewer clients"
    )]
    TooManyShards {
        /// The number of clients.
        clients: usize,
        /// The number of shards per client.
        per_client: usize,
        /// Their product.
        total: usize,
        /// The number of examples.
        examples: usize,
    },
    /// A label is not one of the classes.
    #[error("label {label} of example {index} is out of range, expected 0 to {}", classes.saturating_sub(1))]
    Label {
        /// The example.
        index: usize,
        /// Its label.
        label: u16,
        /// The number of classes.
        classes: usize,
    },
    /// The minimum cannot be met by any draw.
    #[error(
        "cannot give each of {clients} clients at least {min} of {examples} examples; \
         lower the minimum to {} or less, or use fewer clients", examples / clients
    )]
    Minimum {
        /// The number of clients.
        clients: usize,
        /// The number of examples that each should have.
        min: usize,
        /// The number of examples.
        examples: usize,
    },
    /// Every draw left a client with too few examples.
    #[error(
        "partition `{partition}` left a client with too few examples in each of {tries} tries: \
         at best the smallest of {clients} clients had {best}, expected {min}; \
         use a larger ALPHA, fewer clients, or a lower minimum (dirichlet:ALPHA:MIN)"
    )]
    GaveUp {
        /// The partition.
        partition: Partition,
        /// The number of clients.
        clients: usize,
        /// How many draws were made.
        tries: usize,
        /// The size of the smallest client in the best draw.
        best: usize,
        /// The size it should have had.
        min: usize,
    },
}

impl PartitionError {
    pub(super) fn argument(text: &str, expected: &'static str) -> Self {
        Self::Argument {
            text: text.to_owned(),
            expected,
        }
    }
}
