//! Encoding of parameters for the wire.

use fedround_ir::Loc;
use fedround_ir::fed::{Encoding, FedOp};

use crate::wire::Wire;
use crate::{Count, Index, Params, Scalar};

/// A lossy codec, by which a client encodes what it uploads; see [`Params::encode`]. Its setting is a
/// hyper-parameter or a literal.
#[derive(Clone, Debug)]
pub struct Codec {
    encoding: Encoding,
    setting: Option<Setting>,
}

#[derive(Clone, Debug)]
enum Setting {
    Share(Scalar),
    Count(Index),
}

impl Codec {
    fn of_share(encoding: Encoding, share: impl Into<Scalar>) -> Self {
        Self {
            encoding,
            setting: Some(Setting::Share(share.into())),
        }
    }

    fn of_count(encoding: Encoding, count: impl Count) -> Self {
        Self {
            encoding,
            setting: Some(Setting::Count(count.into_index())),
        }
    }

    /// The largest entries by magnitude, and zeros elsewhere: `k = ⌈share · P⌉` of all tensors together.
    /// They take `4k` bytes, and their positions `min(4k, ⌈P/8⌉)`, or none if all are kept. The share is
    /// above 0 and up to 1.
    #[track_caller]
    pub fn top_k(share: impl Into<Scalar>) -> Self {
        Self::of_share(Encoding::TopK, share)
    }

    /// `k = ⌈share · P⌉` entries at random, each times `P/k`, and zeros elsewhere: the mean over draws is
    /// what was encoded. They take `4k + 8` bytes. The share is above 0 and up to 1.
    #[track_caller]
    pub fn random_k(share: impl Into<Scalar>) -> Self {
        Self::of_share(Encoding::RandomK, share)
    }

    /// Like [`random_k`](Self::random_k), but without the factor `P/k`. Error feedback needs this: what is
    /// sent must not be further from the encoded value than zero is.
    #[track_caller]
    pub fn unscaled_random_k(share: impl Into<Scalar>) -> Self {
        Self::of_share(Encoding::UnscaledRandomK, share)
    }

    /// `b` bits for each entry, from 2 to 16: each becomes one of the two nearest of `2ᵇ − 1` levels
    /// between minus and plus the largest magnitude of its tensor, at random, so that the mean over draws
    /// is what was encoded. A tensor of `n` entries takes `4 + ⌈b·n/8⌉` bytes.
    ///
    /// QSGD: Alistarh et al. 2017, section 4, with the largest magnitude in place of the 2-norm.
    #[track_caller]
    pub fn quantize(bits: impl Count) -> Self {
        Self::of_count(Encoding::Quantize, bits)
    }

    /// The sign of each entry, of which 0 counts as positive, times the mean magnitude of its tensor. A
    /// tensor of `n` entries takes `4 + ⌈n/8⌉` bytes.
    ///
    /// Seide et al. 2014; Bernstein et al. 2018; Karimireddy et al. 2019.
    pub fn sign() -> Self {
        Self {
            encoding: Encoding::Sign,
            setting: None,
        }
    }

    /// Each tensor with more axes than one as a product of two matrices of `rank` columns, by two power
    /// iterations from a random start. An `m × c` matrix takes `4·rank·(m + c)` bytes; vectors, and
    /// matrices that are no larger, stay as they are.
    ///
    /// PowerSGD: Vogels et al. 2019, Algorithm 1, which starts from the factor of the round before.
    #[track_caller]
    pub fn low_rank(rank: impl Count) -> Self {
        Self::of_count(Encoding::LowRank, rank)
    }
}

impl Params {
    /// What the server decodes of these parameters, encoded by a codec.
    ///
    /// If the closure of `map` returns the result as it is, alone or in a tuple, the encoded bytes are
    /// uploaded, and the wire table and a run's metrics count them. If more is computed of it, that is
    /// uploaded uncompressed.
    #[must_use]
    #[track_caller]
    pub fn encode(&self, codec: Codec) -> Self {
        let loc = Loc::caller();
        let graph = &self.graph;
        let setting = codec.setting.map(|setting| match setting {
            Setting::Share(share) => share.value_in(graph, loc),
            Setting::Count(count) => count.value_in(graph),
        });
        let operands: Vec<_> = [self.value].into_iter().chain(setting).collect();
        Self::of_op(graph, FedOp::Encode(codec.encoding), &operands, loc)
    }
}
