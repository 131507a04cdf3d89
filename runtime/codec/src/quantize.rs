//! Stochastic quantisation: `4 + ⌈b·n/8⌉` bytes for a tensor of `n` entries.
//!
//! With the largest magnitude `M` and `s = 2^(b−1) − 1` levels, the error of an entry is at most `M/s`,
//! its variance at most `(M/s)²/4`.

use fedround_random::Stream;

use crate::{bits, floats, put};

/// Levels above zero. There are as many below, so that the codes are `0..=2s`.
fn levels(bits: usize) -> u32 {
    (1 << (bits - 1)) - 1
}

pub(crate) fn bytes(bits: usize, n: usize) -> usize {
    4 + bits::bytes(bits, n)
}

pub(crate) fn encode(bits: usize, values: &[f32], stream: &mut Stream, to: &mut Vec<u8>) {
    // `f32::max` would pass over NaN.
    let largest = values.iter().map(|x| x.abs());
    let largest = largest.max_by(f32::total_cmp).unwrap_or_default();
    put([largest], to);
    let s = levels(bits);
    let codes = values.iter().map(|&x| {
        let at = match largest == 0.0 {
            true => 0.0,
            false => f64::from(x) / f64::from(largest) * f64::from(s),
        };
        let below = at.floor();
        let up = stream.unit() < at - below;
        // Beside what is not finite, `at` may be NaN, whose code is 0.
        (below + f64::from(s) + f64::from(u8::from(up))).clamp(0.0, f64::from(2 * s)) as u32
    });
    bits::pack(bits, codes, to);
}

pub(crate) fn decode(bits: usize, n: usize, bytes: &[u8]) -> Vec<f32> {
    let (largest, codes) = bytes.split_at(4.min(bytes.len()));
    let largest = floats(largest).next().unwrap_or_default();
    let s = levels(bits);
    let codes = bits::unpack(bits, codes).take(n);
    codes
        .map(|code| {
            let level = f64::from(code) - f64::from(s);
            (f64::from(largest) * level / f64::from(s)) as f32
        })
        .collect()
}
