//! Compressed updates with error feedback: the part of an update that a round's code leaves out is sent in
//! a later round.

use fedround::prelude::*;

use crate::FedAvg;

/// How [`Compressed`] encodes an update.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressedCodec {
    /// The largest entries.
    TopK,
    /// Random entries.
    RandomK,
    /// A few bits for each entry.
    Quantize,
    /// The sign of each entry, times the mean magnitude of its tensor.
    Sign,
    /// Two matrices of a small rank for each matrix.
    LowRank,
}

/// Lossy uploads of any base's updates, with error feedback: a client sends `C(w_k − w + e_k)` and keeps
/// `e_k`, what the codec left out. Seide et al. 2014, "1-Bit Stochastic Gradient Descent", section 3.2;
/// Karimireddy et al. 2019, "Error Feedback Fixes SignSGD and other Gradient Compression Schemes",
/// Algorithm 2, <https://arxiv.org/abs/1901.09847>, with the base's local training in place of a step.
///
/// Departs:
/// - Running statistics of batch normalisation are encoded like weights. What was not sent of them adds up, so that
///   variances can become negative: compress models without batch normalisation, or with `group` in its place.
/// - Random entries are sent as they are, not times `P/k`: with error feedback nothing need be unbiased.
///   Without feedback they are times `P/k`, so that their mean over draws is the update.
///
/// Defaults: the largest hundredth of the entries, an eighth of the bits, and rank 2 are in the range of
/// the codecs' papers.
#[derive(Hyper, Debug, Clone)]
pub struct Compressed<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// How an update is encoded.
    #[hyper(default = CompressedCodec::TopK)]
    pub codec: CompressedCodec,
    /// `k/P`: share of the entries that `top-k` and `random-k` send.
    #[hyper(default = 0.01, range = 0.000001..=1.0)]
    pub share: f32,
    /// `b`: bits of an entry, for `quantize`.
    #[hyper(default = 4, range = 2..=16)]
    pub bits: usize,
    /// Columns of each matrix's factors, for `low-rank`.
    #[hyper(default = 2, range = 1..)]
    pub rank: usize,
    /// Whether a client adds to its update what the codec left out of earlier ones. If not, `random-k` sends
    /// its entries times `P/k`.
    #[hyper(default = true)]
    pub feedback: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Compressed<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let codec = match self.codec {
            CompressedCodec::TopK => Codec::top_k(self.share),
            CompressedCodec::RandomK if self.feedback => Codec::unscaled_random_k(self.share),
            CompressedCodec::RandomK => Codec::random_k(self.share),
            CompressedCodec::Quantize => Codec::quantize(self.bits),
            CompressedCodec::Sign => Codec::sign(),
            CompressedCodec::LowRank => Codec::low_rank(self.rank),
        };
        let mut update = self.base.client_update(k, w.clone()) - &w;
        if self.feedback {
            update += k.state("e_k");
        }
        let sent = update.encode(codec);
        if self.feedback {
            k.set_state("e_k", &(update - &sent));
        }
        w + sent
    }
}
