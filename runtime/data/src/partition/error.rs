use super::{PARTITIONS, Partition};
use fedround_names::did_you_mean;

/// Why examples cannot be dealt to clients.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionError {
    /// No partition has this name.
    #[error(
        "unknown partition `{name}`{}; write {}",
        did_you_mean(*nearest),
        syntaxes()
    )]
    Unknown {
        /// The name that was written.
        name: String,
        /// The partition whose name is closest, where one is close.
        nearest: Option<&'static str>,
    },
    /// The part after the colon is missing or invalid.
    #[error("bad partition `{text}`: {expected}")]
    Argument {
        /// The whole text.
        text: String,
        /// What was expected.
        expected: &'static str,
    },
    /// There are no clients.
    #[error("a partition needs at least 1 client, found 0")]
    NoClients,
    /// Some clients would hold no examples.
    #[error(
        "cannot deal {examples} examples to {clients} clients; use at most {examples} clients, or the \
         partition shared:N, whose clients share examples"
    )]
    TooManyClients {
        /// The number of clients.
        clients: usize,
        /// The number of examples.
        examples: usize,
    },
    /// A client would hold examples twice.
    #[error(
        "cannot draw {per_client} different ones of {examples} examples; use shared:{examples} or less"
    )]
    TooFewToShare {
        /// The number of examples per client.
        per_client: usize,
        /// The number of examples.
        examples: usize,
    },
    /// Some shards would hold no examples.
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
         use a larger ALPHA, fewer clients or a lower minimum (the number after ALPHA); without a minimum, clients that \
         are too small get examples of the largest ones"
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
    /// The partition goes by groups, and the dataset has none.
    #[error(
        "partition `{partition}` deals by groups (clients, domains, users), and this data names none; use data that names \
         some, or a partition by labels such as dirichlet:0.5"
    )]
    NoGroups {
        /// The partition.
        partition: Partition,
    },
    /// The partition needs a dataset, not only labels.
    #[error(
        "partition `{partition}` changes examples, which labels alone do not have; deal a dataset"
    )]
    NeedsDataset {
        /// The partition.
        partition: Partition,
    },
    /// A class or group has fewer examples than it is cut into pieces.
    #[error(
        "cannot cut the {examples} examples of {kind} {index} into {pieces}; use fewer clients or parts"
    )]
    TooFewOfKind {
        /// `class` or `group`.
        kind: &'static str,
        /// Which one.
        index: usize,
        /// The number of its examples.
        examples: usize,
        /// The number of pieces.
        pieces: usize,
    },
    /// A client cannot hold that many classes.
    #[error(
        "a client cannot hold {per_client} of {classes} classes; use at most {classes} classes per client"
    )]
    TooManyClasses {
        /// The number of classes of each client.
        per_client: usize,
        /// The number of classes there are to hold.
        classes: usize,
    },
    /// The number of weights is not the number of classes.
    #[error(
        "{found} weights of labels for {classes} classes (`labels:K` alone has the 10 of AdFL's table 1); \
         write one for each class, labels:K:W,W,..."
    )]
    Weights {
        /// The number of classes.
        classes: usize,
        /// The number of weights.
        found: usize,
    },
    /// Some clients would hold no examples.
    #[error("{examples} examples leave some of {clients} clients without any; use fewer clients")]
    Empty {
        /// The number of clients.
        clients: usize,
        /// The number of examples.
        examples: usize,
    },
    /// Groups would have different numbers of clients.
    #[error(
        "cannot give each of {groups} groups as many of {clients} clients; \
         use a multiple of {groups} clients, such as {}", clients.next_multiple_of(*groups)
    )]
    NotAMultiple {
        /// The number of clients.
        clients: usize,
        /// The number of groups.
        groups: usize,
    },
    /// A group has fewer parts than clients.
    #[error(
        "{clients} clients of {groups} groups need {} parts of each, found {parts}; \
         use domains:{} or at most {} clients", clients / groups, clients / groups, parts * groups
    )]
    TooFewParts {
        /// The number of parts of each group.
        parts: usize,
        /// The number of clients.
        clients: usize,
        /// The number of groups.
        groups: usize,
    },
    /// Some clients would have no group.
    #[error(
        "cannot deal {groups} groups to {clients} clients; use at most {groups} clients, or domains to cut groups"
    )]
    TooFewGroups {
        /// The number of clients.
        clients: usize,
        /// The number of groups.
        groups: usize,
    },
    /// The rotated client would leave nothing for the others, or there are none.
    #[error(
        "a rotated client with {newcomer} of {examples} examples leaves too few for {} others; \
         use at least 2 clients, and fewer examples for the rotated one", clients.saturating_sub(1)
    )]
    NoRoom {
        /// The number of clients, the rotated one among them.
        clients: usize,
        /// The number of examples of the rotated client.
        newcomer: usize,
        /// The number of examples.
        examples: usize,
    },
    /// The examples to rotate are not square images.
    #[error(
        "cannot rotate column x of shape {shape:?}: expected square images [channels, side, side] in memory; \
         use a partition without `+rotated`"
    )]
    NotSquare {
        /// The shape of an example.
        shape: Vec<usize>,
    },
    /// The fraction of validation examples is out of range.
    #[error("cannot hold out {fraction} of the training examples; use at least 0 and less than 1")]
    Fraction {
        /// The fraction.
        fraction: f64,
    },
    /// A client has validation examples, and others would take their place.
    #[error(
        "client {client} has validation examples already, so that no fraction of its training examples can be \
         held out; leave out the fraction, or give all clients training examples only"
    )]
    HeldOut {
        /// The client.
        client: usize,
    },
    /// There is no memory for so many clients.
    #[error("no memory is left for the examples of {clients} clients; use fewer clients")]
    Memory {
        /// The number of clients.
        clients: usize,
    },
}

fn syntaxes() -> String {
    let syntaxes: Vec<&str> = PARTITIONS.iter().map(|p| p.syntax).collect();
    syntaxes.join(", ")
}
