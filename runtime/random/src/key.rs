//! The names of random streams.

use crate::stream::{self, Stream};

/// The seed of the benchmark tasks.
pub const SEED: u64 = 20260;

/// What a stream is for. It is the first part of a key, so streams of different purposes never meet.
///
/// The comment of each purpose lists the parts that follow it in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
#[non_exhaustive]
pub enum Purpose {
    /// Initial parameters: the layer, then 0 for its weights and 1 for its biases.
    Init = 1,
    /// Dealing the training examples to clients.
    Partition = 2,
    /// The cohort of a round: the round.
    Cohort = 3,
    /// The order of a client's examples: the round, the client and its local epoch.
    ExampleOrder = 4,
    /// Synthetic examples: the split and the example.
    Synthesis = 5,
    /// Random tensors of a round, such as dropout masks: the round, the [`Drawer`] and the place.
    Noise = 6,
    /// Random tensors of an evaluation: the round and the chunk of examples.
    Evaluation = 7,
    /// The order of the rows of a value: the round, the [`Drawer`] and the pass over the rows.
    Rows = 8,
    /// Training and test examples, of data that its publisher does not split.
    Split = 10,
    /// The first centres of a clustering of texts.
    Topics = 11,
    /// Training and test examples of one part of a dataset: the part.
    HoldOut = 20,
    /// Augmentation of an image: the round, the client, its local epoch and the example.
    Augmentation = 21,
    /// Clients that leave (0) and join (1) a rotating cohort: the round, then 0 or 1.
    Rotation = 22,
    /// Clients that fail and are late: 0 and the client for its speed, 1 and the client for its
    /// bandwidth, 2, the round and the client for whether it fails.
    Faults = 23,
    /// Whether a client takes part in a round, where each does so independently: the round, the number of
    /// the cohort among those drawn in it, and the client.
    Participation = 40,
    /// The draw of clients by their scores: as for [`Purpose::Participation`].
    Scores = 41,
    /// Numbers that a spec draws by a name: the round, the name, the [`Drawer`] and the draw.
    Named = 42,
    /// Initial parameters of further models: the model.
    InitialModel = 43,
    /// Training examples that are public (0), and those of them that a round reads: the round and 1.
    Public = 24,
    /// Random codecs of what clients upload: the round and the [`Drawer`].
    Encoding = 44,
    /// To whom clients send in a random topology: the round and the exchange.
    Topology = 45,
    /// The order of all clients in a pass over them: the pass.
    Reshuffling = 46,
    /// Noise as the reference of a measured correlation.
    CorrelationNoise = 60,
    /// Noise on inputs, as the reference that attacks on shared data are compared with.
    InputNoise = 61,
    /// The two halves of the examples in a membership attack.
    MembershipAttack = 62,
    /// Values of hyper-parameters that a sweep tries.
    Sweep = 63,
}

/// The name of a random stream: a seed, and integers that say what the stream is for.
///
/// A key is folded into 64 bits as it is built. Starting from the seed, each part `k` replaces the
/// state by `mix(state + γ(k + 1))`, where `mix` and `γ` are those of SplitMix64 (Steele, Lea and
/// Flood, 2014). Two keys with the same parts are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamKey(u64);

impl StreamKey {
    /// The streams of a purpose.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        Self::root(seed).fold(purpose as u64)
    }

    /// The stream of a seed alone, for tests and for streams that serve none of fedround's
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

    /// Adds to the key who draws, and how many times it has drawn before in the same call.
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

    /// Adds a name to the key: its bytes, and how many there are.
    #[must_use]
    pub fn with_name(self, name: &str) -> Self {
        let bytes = name.bytes();
        bytes.fold(self.with(name.len()), |key, byte| key.fold(byte.into()))
    }

    /// The numbers of the stream, from its first.
    pub fn stream(self) -> Stream {
        Stream::from_state(self.0)
    }

    /// The key as a number, which names the stream among those of a secret.
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
    /// Which client function of the round, from 0.
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

    /// Whether it is the first epoch of the round.
    pub fn is_first(self) -> bool {
        self == Self::default()
    }
}

impl From<usize> for LocalEpoch {
    fn from(epoch: usize) -> Self {
        Self { map: 0, epoch }
    }
}

/// Whose code draws random numbers in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawer {
    /// Code that runs on the server.
    Server,
    /// Code that runs on a client.
    Client {
        /// The client.
        client: usize,
        /// Which client function (`fed.map`) of the round, from 0.
        map: usize,
        /// How many values visited the client before this one. Each visit draws anew, because
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
