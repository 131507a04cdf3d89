//! A few entries of all tensors together: the largest, or random ones.

use std::cmp::Reverse;

use fedround_random::{StreamKey, first_permuted};

use crate::{DecodeError, Leaf, bits, floats, put};

/// How many of `n` entries are kept.
fn kept(share: f64, n: usize) -> usize {
    // Rounded up, but not for a rounding error: 0.07 · 100 is more than 7 in floating point.
    let k = (share * n as f64 - 1e-9).ceil() as usize;
    k.clamp(n.min(1), n)
}

/// The entries of all tensors, one after another.
fn entries(leaves: &[Leaf<'_>]) -> Vec<f32> {
    let entries = leaves.iter().flat_map(|leaf| leaf.values);
    entries.copied().collect()
}

/// How positions are written.
#[derive(PartialEq)]
enum Positions {
    /// Not at all: every entry is kept.
    All,
    /// One bit for each entry.
    Bitmap,
    /// A 32-bit number for each that is kept, ascending.
    Numbers,
}

fn positions(k: usize, n: usize) -> (Positions, usize) {
    match (4 * k, bits::bytes(1, n)) {
        _ if k == n => (Positions::All, 0),
        (numbers, bitmap) if bitmap < numbers => (Positions::Bitmap, bitmap),
        (numbers, _) => (Positions::Numbers, numbers),
    }
}

/// `4k` bytes of values after the positions.
pub(crate) fn top_bytes(share: f64, n: usize) -> usize {
    let k = kept(share, n);
    positions(k, n).1 + 4 * k
}

pub(crate) fn encode_top(share: f64, leaves: &[Leaf<'_>], to: &mut Vec<u8>) {
    let all = entries(leaves);
    let k = kept(share, all.len());
    let mut order: Vec<usize> = (0..all.len()).collect();
    // Magnitudes compare as the bits do, NaN above all; of equals the earlier is kept.
    let key = |&i: &usize| (Reverse(all[i].abs().to_bits()), i);
    if k < all.len() {
        order.select_nth_unstable_by_key(k, key);
        order.truncate(k);
        order.sort_unstable();
    }
    match positions(k, all.len()).0 {
        Positions::All => {}
        Positions::Numbers => to.extend(order.iter().flat_map(|&i| (i as u32).to_le_bytes())),
        Positions::Bitmap => {
            let mut chosen = vec![0; all.len()];
            order.iter().for_each(|&i| chosen[i] = 1);
            bits::pack(1, chosen.into_iter(), to);
        }
    }
    put(order.iter().map(|&i| all[i]), to);
}

/// The `n` entries of all tensors.
pub(crate) fn decode_top(share: f64, n: usize, bytes: &[u8]) -> Result<Vec<f32>, DecodeError> {
    let k = kept(share, n);
    let (form, length) = positions(k, n);
    let (written, values) = bytes.split_at(length.min(bytes.len()));
    let order: Vec<usize> = match form {
        Positions::All => (0..n).collect(),
        Positions::Numbers => {
            let (words, _) = written.as_chunks::<4>();
            let numbers = words.iter().map(|word| u32::from_le_bytes(*word));
            numbers.map(|i| i as usize).collect()
        }
        Positions::Bitmap => {
            let chosen = bits::unpack(1, written).take(n).enumerate();
            chosen
                .filter(|(_, bit)| *bit == 1)
                .map(|(i, _)| i)
                .collect()
        }
    };
    let ascending = order.windows(2).all(|pair| pair[0] < pair[1]);
    if order.len() != k || !ascending || order.last().is_some_and(|&last| last >= n) {
        return Err(DecodeError::Content {
            expected: format!("{k} ascending positions below {n}"),
            found: format!("{} others", order.len()),
        });
    }
    Ok(scatter(n, &order, values))
}

/// A 64-bit seed and `4k` bytes of values.
pub(crate) fn random_bytes(share: f64, n: usize) -> usize {
    8 + 4 * kept(share, n)
}

pub(crate) fn encode_random(
    share: f64,
    scaled: bool,
    leaves: &[Leaf<'_>],
    key: StreamKey,
    to: &mut Vec<u8>,
) {
    let all = entries(leaves);
    let k = kept(share, all.len());
    let seed = key.stream().word();
    to.extend(seed.to_le_bytes());
    let factor = match scaled {
        true => all.len() as f32 / k.max(1) as f32,
        false => 1.0,
    };
    put(
        chosen(seed, k, all.len()).iter().map(|&i| factor * all[i]),
        to,
    );
}

/// The `n` entries of all tensors.
pub(crate) fn decode_random(share: f64, n: usize, bytes: &[u8]) -> Vec<f32> {
    let (seed, values) = bytes.split_at(8.min(bytes.len()));
    let seed = seed.try_into().map_or(0, u64::from_le_bytes);
    scatter(n, &chosen(seed, kept(share, n), n), values)
}

fn chosen(seed: u64, k: usize, n: usize) -> Vec<usize> {
    first_permuted(n, k, StreamKey::root(seed))
}

/// Zeros but for some entries.
fn scatter(n: usize, order: &[usize], values: &[u8]) -> Vec<f32> {
    let mut all = vec![0.0; n];
    for (&i, value) in order.iter().zip(floats(values)) {
        all[i] = value;
    }
    all
}
