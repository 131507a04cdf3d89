//! Keys, which name random streams.

use crate::stream::{self, Stream};

/// The seed of the benchmark tasks.
pub const SEED: u64 = 20260;

/// The purpose of a stream. It is the first part of a key, so streams of different purposes have different keys.
///
/// The comment of each purpose lists the parts that follow it in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
#[non_exhaustive]
pub enum Purpose {
    /// The initial parameters of a model. Parts: the layer, then 0 for its weights or 1 for its biases.
    Init = 1,
    /// The partition of the training examples among the clients.
    Partition = 2,
    /// The cohort of a round. Part: the round.
    Cohort = 3,
    /// The order in which a client visits its examples. Parts: the round, the client and its local epoch.
    ExampleOrder = 4,
    /// Synthetic examples. Parts: the split and the example.
    Synthesis = 5,
    /// Random tensors of a round, such as dropout masks. Parts: the round, the [`Drawer`] and the number of the
    /// random op.
    Noise = 6,
    /// Random tensors of an evaluation. Parts: the round and the chunk of examples.
    Evaluation = 7,
    /// The order of the rows of a value. Parts: the round, the [`Drawer`] and the pass over the rows.
    Rows = 8,
    /// The split into training and test examples, for data that its publisher does not split.
    Split = 10,
    /// The initial centres of a clustering of texts.
    Topics = 11,
    /// The split into training and test examples, for one part of a dataset. Part: the part. A user's own data has
    /// a split without parts, and one of a client and a class for when the client's turn is at the class.
    HoldOut = 20,
    /// The augmentation of an image. Parts: the round, the client, its local epoch and the example.
    Augmentation = 21,
    /// The clients that leave and join a rotating cohort. Parts: the round, then 0 for those that leave or 1 for
    /// those that join.
    Rotation = 22,
    /// Clients that fail or are late. Parts: 0 and the client for its speed; 1 and the client for its bandwidth;
    /// 2, the round and the client for whether it fails.
    Faults = 23,
    /// Whether a client takes part in a round, if each client decides independently. Parts: the round, the number
    /// of the cohort among those sampled in the round, and the client.
    Participation = 40,
    /// The choice of clients by their scores. Parts: as for [`Purpose::Participation`].
    Scores = 41,
    /// Numbers that a spec draws by a name. Parts: the round, the name, the [`Drawer`] and the draw.
    Named = 42,
    /// The initial parameters of further models. Part: the model.
    InitialModel = 43,
    /// Public training examples. Parts: 0 for the examples that are public; the round and 1 for those that a round
    /// reads.
    Public = 24,
    /// Randomized codecs of uploads. Parts: the round and the [`Drawer`].
    Encoding = 44,
    /// The neighbours of each client in a random topology. Parts: the round and the exchange.
    Topology = 45,
    /// The order of all clients in a pass over them. Part: the pass.
    Reshuffling = 46,
    /// Noise as the baseline of a measured correlation.
    CorrelationNoise = 60,
    /// Noise on inputs, as the baseline for attacks on shared data.
    InputNoise = 61,
    /// The two halves of the examples in a membership attack.
    MembershipAttack = 62,
    /// The values of hyper-parameters that a sweep tries.
    Sweep = 63,
}

/// The name of a random stream: a seed and a list of integers, its parts.
///
/// A key is folded into 64 bits as it is built. Starting from the seed, each part `k` replaces the
/// state by `mix(state + γ(k + 1))`, where `mix` and `γ` are those of SplitMix64 (Steele, Lea and
/// Flood, 2014). Two keys with the same parts are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamKey(u64);

impl StreamKey {
    /// The key of a seed and a purpose, to which further parts are added.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        Self::root(seed).fold(purpose as u64)
    }

    /// The key of a seed without parts, for tests and for streams with none of fedround's
    /// [purposes](Purpose).
    pub fn root(seed: u64) -> Self {
        Self(seed)
    }

    /// Adds a part to the key.
    #[must_use]
    pub fn with(self, part: usize) -> Self {
        self.fold(part as u64)
    }

    /// Adds a client's local epoch to the key.
    #[must_use]
    pub fn with_epoch(self, LocalEpoch { map, epoch }: LocalEpoch) -> Self {
        self.fold(((map as u64) << 32) + epoch as u64)
    }

    /// Adds to the key the code that draws, and the number of times that it has drawn before in the same call.
    #[must_use]
    pub fn with_drawer(self, drawer: Drawer, draws: u64) -> Self {
        match drawer {
            Drawer::Server => self.fold(0).fold(draws),
            Drawer::Client { client, map, turn } => {
                let who = 1 + client as u64 + ((turn as u64) << 40);
                self.fold(who).fold(((map as u64) << 32) + draws)
            }
        }
    }

    /// Adds a name to the key: its length, then its bytes.
    #[must_use]
    pub fn with_name(self, name: &str) -> Self {
        let bytes = name.bytes();
        bytes.fold(self.with(name.len()), |key, byte| key.fold(byte.into()))
    }

    /// The stream that the key names, from its first number on.
    pub fn stream(self) -> Stream {
        Stream::from_state(self.0)
    }

    /// The key as a number, which selects one of the streams of a [secret](crate::NoiseKey).
    pub(crate) fn number(self) -> u64 {
        self.0
    }

    fn fold(self, part: u64) -> Self {
        Self(stream::fold(self.0, part))
    }
}

/// A pass of a client over its examples within a round.
///
/// A round may run several client functions (`fed.map`s) one after another; the epochs of each are
/// counted from 0. A plain number is an epoch of the first one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalEpoch {
    /// The number of the client function in the round, from 0.
    pub map: usize,
    /// The epoch in that function, from 0.
    pub epoch: usize,
}

impl LocalEpoch {
    /// The epoch `n` epochs later.
    #[must_use]
    pub fn later(self, n: usize) -> Self {
        Self {
            epoch: self.epoch + n,
            ..self
        }
    }

    /// Whether this is the first epoch of the round.
    pub fn is_first(self) -> bool {
        self == Self::default()
    }
}

impl From<usize> for LocalEpoch {
    fn from(epoch: usize) -> Self {
        Self { map: 0, epoch }
    }
}

/// The code that draws random numbers in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawer {
    /// Code that runs on the server.
    Server,
    /// Code that runs on a client.
    Client {
        /// The number of the client.
        client: usize,
        /// The number of the client function (`fed.map`) in the round, from 0.
        map: usize,
        /// The number of values that visited the client before this one. Each visit draws new numbers, because
        /// averaging cancels noise only if the draws are independent.
        turn: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(parts: &[u64]) -> StreamKey {
        parts.iter().fold(StreamKey::root(9), |key, k| key.fold(*k))
    }

    #[test]
    fn keys_fold_the_words_of_the_specification() {
        let noise = StreamKey::new(9, Purpose::Noise).with(4);
        assert_eq!(noise.with_drawer(Drawer::Server, 2), words(&[6, 4, 0, 2]));
        let client = |map, turn| Drawer::Client {
            client: 7,
            map,
            turn,
        };
        assert_eq!(noise.with_drawer(client(0, 0), 2), words(&[6, 4, 1 + 7, 2]));
        assert_eq!(
            noise.with_drawer(client(3, 5), 2),
            words(&[6, 4, 1 + 7 + (5 << 40), (3 << 32) + 2])
        );
        let order = StreamKey::new(9, Purpose::ExampleOrder).with(4).with(7);
        let epoch = LocalEpoch { map: 3, epoch: 1 };
        assert_eq!(
            order.with_epoch(epoch.later(2)),
            words(&[4, 4, 7, (3 << 32) + 3])
        );
        assert_eq!(order.with_epoch(2.into()), words(&[4, 4, 7, 2]));
    }

    #[test]
    fn names_fold_their_bytes() {
        let key = StreamKey::root(9);
        assert_eq!(key.with_name("ab"), words(&[2, 97, 98]));
        assert_ne!(
            key.with_name("ab").with(1),
            key.with_name("a").with_name("b")
        );
    }

    #[test]
    fn only_the_first_epoch_of_the_round_is_first() {
        assert!(LocalEpoch::from(0).is_first());
        assert!(!LocalEpoch::from(1).is_first());
        assert!(!LocalEpoch { map: 1, epoch: 0 }.is_first());
    }
}
