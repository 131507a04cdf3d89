//! Signs with a scale: `4 + ⌈n/8⌉` bytes for a tensor of `n` entries.

use crate::{bits, floats, put};

pub(crate) fn bytes(n: usize) -> usize {
    4 + bits::bytes(1, n)
}

pub(crate) fn encode(values: &[f32], to: &mut Vec<u8>) {
    let sum: f64 = values.iter().map(|x| f64::from(x.abs())).sum();
    put([(sum / values.len().max(1) as f64) as f32], to);
    // A negative zero is positive, as zero is.
    bits::pack(1, values.iter().map(|&x| u32::from(x < 0.0)), to);
}

pub(crate) fn decode(n: usize, bytes: &[u8]) -> Vec<f32> {
    let (scale, signs) = bytes.split_at(4.min(bytes.len()));
    let scale = floats(scale).next().unwrap_or_default();
    let signs = bits::unpack(1, signs).take(n);
    signs
        .map(|negative| if negative == 1 { -scale } else { scale })
        .collect()
}
