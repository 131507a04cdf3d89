//! Sums and maxima in a fixed number of lanes. The order of operations, and so the rounding, is the same on every
//! processor, whatever the width of its vectors.

/// `Σ a` in `N` lanes, where `N` is a power of two.
#[inline(always)]
pub(crate) fn sum<const N: usize>(a: &[f32]) -> f32 {
    let (a, rest) = a.as_chunks::<N>();
    let mut lanes = [0.0f32; N];
    for a in a {
        for (lane, a) in lanes.iter_mut().zip(a) {
            *lane += a;
        }
    }
    reduce(lanes, |a, b| a + b) + rest.iter().sum::<f32>()
}

/// `Σ a · b` in `N` lanes, where `N` is a power of two.
#[inline(always)]
pub(crate) fn dot<const N: usize>(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<N>(), b.as_chunks::<N>());
    let mut lanes = [0.0f32; N];
    for (a, b) in a.iter().zip(b) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    reduce(lanes, |a, b| a + b) + rest
}

/// The largest value, or -∞ if there is none. NaNs are ignored.
#[inline(always)]
pub(crate) fn max(a: &[f32]) -> f32 {
    let (a, rest) = a.as_chunks::<16>();
    let greater = |a: f32, b: f32| if b > a { b } else { a };
    let mut lanes = [f32::NEG_INFINITY; 16];
    for a in a {
        for (lane, a) in lanes.iter_mut().zip(a) {
            *lane = greater(*lane, *a);
        }
    }
    rest.iter()
        .fold(reduce(lanes, greater), |a, b| greater(a, *b))
}

/// Combines the lanes by `f` into one value, by halves: the upper half with the lower half, until one is left.
#[inline(always)]
pub(crate) fn reduce<const N: usize>(mut lanes: [f32; N], f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut half = N / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] = f(lanes[i], lanes[i + half]);
        }
        half /= 2;
    }
    lanes[0]
}
