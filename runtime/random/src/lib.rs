//! Counter-based random streams.
//!
//! Every random number in fedround is a pure function of a seed and a [`StreamKey`]. The key says what the
//! number is for: for example "the order in which client 7 visits its examples in local epoch 2 of round 30".
//! Results therefore do not depend on the number of threads, on the order of calls, or on the version of a
//! random-number library. The one exception is noise of differential privacy, which comes from a secret of the
//! system unless `--reproducible-noise` takes it from the seed too.
//!
//! * [`StreamKey`] names a stream. [`Stream`] is the sequence of its numbers.
//! * [`permutation`], [`first_permuted`] and [`uniform`] draw whole vectors from a key.
//! * [`fill`] fills the buffers of random tensors, such as dropout masks.
//! * [`noise`] draws noise of differential privacy, from a seed or from a secret of the system.
//!
//! ```
//! use fedround_random::{Purpose, StreamKey, permutation};
//!
//! let key = |round| StreamKey::new(42, Purpose::Cohort).with(round);
//! // The same key gives the same order again. Another round has another order.
//! assert_eq!(permutation(100, key(1)), permutation(100, key(1)));
//! assert_ne!(permutation(100, key(1)), permutation(100, key(2)));
//! ```

pub mod fill;
mod key;
pub mod noise;
mod order;
mod stream;

pub use key::{Drawer, LocalEpoch, Purpose, SEED, StreamKey};
pub use noise::{NoSecret, NoiseKey};
pub use order::{first_permuted, permutation, uniform};
pub use stream::Stream;
