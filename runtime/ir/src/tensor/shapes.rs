//! Shape arithmetic of ops.

use super::{Conv2d, Pool2d};

/// The common shape of two operands of equal rank whose dimensions are equal or 1.
pub(super) fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    (a.len() == b.len()).then_some(())?;
    a.iter()
        .zip(b)
        .map(|(&x, &y)| match (x, y) {
            (1, n) | (n, 1) => Some(n),
            (n, m) => (n == m).then_some(n),
        })
        .collect()
}

/// Whether one range for each dimension lies within a shape.
pub(super) fn fits(ranges: &[(usize, usize)], shape: &[usize]) -> bool {
    ranges.len() == shape.len() && ranges.iter().zip(shape).all(|((a, b), n)| a <= b && b <= n)
}

/// Number of elements, `None` if it overflows.
pub(super) fn elements(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d))
}

/// The product of `[.., m, k]` and `[.., k, n]`.
pub(super) fn matmul(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let (batch_a, &[m, k]) = a.split_at_checked(a.len().checked_sub(2)?)? else {
        return None;
    };
    let (batch_b, &[k_b, n]) = b.split_at_checked(b.len().checked_sub(2)?)? else {
        return None;
    };
    let mut shape = broadcast(batch_a, batch_b)?;
    (k == k_b).then(|| {
        shape.extend([m, n]);
        shape
    })
}

/// The result of a convolution of `x` with `w`.
pub(super) fn conv2d(o: &Conv2d, x: &[usize], w: &[usize]) -> Option<Vec<usize>> {
    let (&[n, c, h, wd], &[out, ci, kh, kw]) = (x, w) else {
        return None;
    };
    (o.groups > 0 && c == ci.checked_mul(o.groups)? && out % o.groups == 0).then_some(())?;
    let side =
        |i: usize, size, kernel| windows(size, kernel, o.stride[i], o.padding[i], o.dilation[i]);
    Some(vec![n, out, side(0, h, kh)?, side(1, wd, kw)?])
}

/// The result of a pool of `x`.
pub(super) fn pool2d(o: &Pool2d, x: &[usize]) -> Option<Vec<usize>> {
    let &[n, c, h, w] = x else { return None };
    let side =
        |i: usize, size| windows(size, o.kernel[i], o.stride[i], o.padding[i], o.dilation[i]);
    Some(vec![n, c, side(0, h)?, side(1, w)?])
}

fn windows(
    size: usize,
    kernel: usize,
    stride: usize,
    pad: usize,
    dilation: usize,
) -> Option<usize> {
    let extent = dilation
        .checked_mul(kernel.checked_sub(1)?)?
        .checked_add(1)?;
    let padded = size.checked_add(pad.checked_mul(2)?)?;
    Some(padded.checked_sub(extent)?.checked_div(stride)? + 1)
}
