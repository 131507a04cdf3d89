//! Lossy codecs of parameters.
//!
//! A codec turns the tensors of a model, or of its update, into a byte buffer that is shorter than their
//! `f32` values, and back. What the receiver decodes differs from what was encoded; each codec's file
//! says by how much. Its length depends on the codec and on the tensors' shapes alone, so that a
//! program's bytes are known before it runs.
//!
//! Both sides know the codec with its settings and the shapes, and these are not in the buffer. Random
//! codecs draw from a [`StreamKey`], so that equal keys give equal bytes. Numbers are little-endian. A
//! value that is not finite stays so: the receiver finds out that the sender has diverged.

mod bits;
mod low_rank;
mod quantize;
mod sign;
mod sparse;

use fedround_random::StreamKey;

/// A codec with its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Codec {
    /// The largest entries by magnitude. Of `n` entries of all tensors together, `⌈share · n⌉` are kept,
    /// and the rest are zero. Positions are 32-bit numbers or a bitmap, whichever is shorter.
    TopK {
        /// The share of the entries that is kept, above 0 and up to 1.
        share: f64,
    },
    /// `⌈share · n⌉` entries that are drawn at random, each times `n / k`, so that the mean over draws is
    /// what was encoded. Positions follow from a 64-bit seed, which is sent.
    RandomK {
        /// The share of the entries that is kept, above 0 and up to 1.
        share: f64,
        /// Whether entries are multiplied by `n / k`. Error feedback needs them as they are.
        scaled: bool,
    },
    /// Stochastic quantisation of each tensor: `b` bits for each entry and the largest magnitude `M`. An
    /// entry becomes one of the two nearest of `M · l / s` for whole `l` from `−s` to `s = 2^(b−1) − 1`,
    /// at random, so that the mean is the entry. Alistarh et al. 2017, "QSGD", section 4, with the
    /// maximum in place of the 2-norm.
    Quantize {
        /// Bits for each entry, from 2 to 16.
        bits: usize,
    },
    /// One bit for each entry, its sign (0 counts as positive), and for each tensor the mean magnitude, by
    /// which the signs are multiplied. Seide et al. 2014; Bernstein et al. 2018.
    Sign,
    /// Each tensor with more axes than one, as a matrix of its first axis by the others, becomes a product
    /// of two matrices, by two power iterations. Vogels et al. 2019, "PowerSGD", Algorithm 1. PowerSGD starts
    /// from the previous round's factor; here the start is random. Tensors that the product would not shorten
    /// are sent unchanged.
    LowRank {
        /// Columns of the two matrices, at least 1.
        rank: usize,
    },
}

/// A tensor that is encoded.
#[derive(Clone, Copy, Debug)]
pub struct Leaf<'a> {
    /// Its shape.
    pub shape: &'a [usize],
    /// Its entries in row-major order, as many as the shape says.
    pub values: &'a [f32],
}

/// Bytes that are no encoding of tensors of these shapes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// More or fewer bytes.
    #[error("expected {expected} bytes of an encoded value, found {found}")]
    Length {
        /// As many as its shapes say.
        expected: usize,
        /// As many as came.
        found: usize,
    },
    /// Bytes that the codec does not write.
    #[error("expected {expected} in an encoded value, found {found}")]
    Content {
        /// What it may be.
        expected: String,
        /// What it is.
        found: String,
    },
}

impl Codec {
    /// The length in bytes of every encoding of tensors of some shapes.
    pub fn bytes<S: AsRef<[usize]>>(&self, shapes: &[S]) -> usize {
        let sizes = shapes.iter().map(|shape| size(shape.as_ref()));
        match *self {
            Self::TopK { share } => sparse::top_bytes(share, sizes.sum()),
            Self::RandomK { share, .. } => sparse::random_bytes(share, sizes.sum()),
            Self::Quantize { bits } => sizes.map(|n| quantize::bytes(bits, n)).sum(),
            Self::Sign => sizes.map(sign::bytes).sum(),
            Self::LowRank { rank } => {
                let shapes = shapes.iter().map(AsRef::as_ref);
                shapes.map(|shape| low_rank::bytes(rank, shape)).sum()
            }
        }
    }

    /// Encodes tensors. Codecs that draw at random draw from `key`.
    pub fn encode(&self, leaves: &[Leaf<'_>], key: StreamKey) -> Vec<u8> {
        let shapes: Vec<&[usize]> = leaves.iter().map(|leaf| leaf.shape).collect();
        let mut to = Vec::with_capacity(self.bytes(&shapes));
        match *self {
            Self::TopK { share } => sparse::encode_top(share, leaves, &mut to),
            Self::RandomK { share, scaled } => {
                sparse::encode_random(share, scaled, leaves, key, &mut to);
            }
            Self::Quantize { bits } => {
                let mut stream = key.stream();
                for leaf in leaves {
                    quantize::encode(bits, leaf.values, &mut stream, &mut to);
                }
            }
            Self::Sign => {
                for leaf in leaves {
                    sign::encode(leaf.values, &mut to);
                }
            }
            Self::LowRank { rank } => {
                for (i, leaf) in leaves.iter().enumerate() {
                    low_rank::encode(rank, *leaf, key.with(i), &mut to);
                }
            }
        }
        to
    }

    /// The entries of each tensor that an encoding stands for.
    ///
    /// # Errors
    ///
    /// [`DecodeError`]. No bytes whatever cause a panic.
    pub fn decode<S: AsRef<[usize]>>(
        &self,
        bytes: &[u8],
        shapes: &[S],
    ) -> Result<Vec<Vec<f32>>, DecodeError> {
        let expected = self.bytes(shapes);
        if bytes.len() != expected {
            let found = bytes.len();
            return Err(DecodeError::Length { expected, found });
        }
        let sizes: Vec<usize> = shapes.iter().map(|shape| size(shape.as_ref())).collect();
        let n = sizes.iter().sum();
        let mut rest = bytes;
        let mut take = |length: usize| {
            let (own, after) = rest.split_at(length.min(rest.len()));
            rest = after;
            own
        };
        Ok(match *self {
            Self::TopK { share } => split(&sparse::decode_top(share, n, bytes)?, &sizes),
            Self::RandomK { share, .. } => split(&sparse::decode_random(share, n, bytes), &sizes),
            Self::Quantize { bits } => {
                let decode = |&n| quantize::decode(bits, n, take(quantize::bytes(bits, n)));
                sizes.iter().map(decode).collect()
            }
            Self::Sign => {
                let decode = |&n| sign::decode(n, take(sign::bytes(n)));
                sizes.iter().map(decode).collect()
            }
            Self::LowRank { rank } => {
                let shapes = shapes.iter().map(AsRef::as_ref);
                let decode =
                    |shape| low_rank::decode(rank, shape, take(low_rank::bytes(rank, shape)));
                shapes.map(decode).collect()
            }
        })
    }
}

fn size(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// The entries of each tensor among those of all.
fn split(all: &[f32], sizes: &[usize]) -> Vec<Vec<f32>> {
    let mut rest = all;
    let leaves = sizes.iter().map(|&n| {
        let (own, after) = rest.split_at(n.min(rest.len()));
        rest = after;
        own.to_vec()
    });
    leaves.collect()
}

/// The `f32` values of bytes.
fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| f32::from_le_bytes(*word))
}

/// Appends `f32` values.
fn put(values: impl IntoIterator<Item = f32>, to: &mut Vec<u8>) {
    values.into_iter().for_each(|x| to.extend(x.to_le_bytes()));
}

#[cfg(test)]
mod tests;
