//! One axis of a pooling, and rows of pixels a stride apart.

use std::ops::Range;

/// Windows along one axis.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// Pixels.
    pub input: usize,
    /// Windows.
    pub output: usize,
    pub stride: usize,
    /// What every element of the window sees.
    pub elements: Vec<Element>,
}

/// What one element of the window sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    /// The windows in which it is a pixel of the image.
    pub windows: Range<usize>,
    /// The pixel that it is in the first of them.
    pub first: usize,
}

impl Axis {
    /// The windows, if there is any.
    pub fn new(
        input: usize,
        kernel: usize,
        stride: usize,
        padding: usize,
        dilation: usize,
    ) -> Option<Self> {
        if [input, kernel, stride, dilation].contains(&0) {
            return None;
        }
        let reach = dilation * (kernel - 1) + 1;
        let output = (input + 2 * padding).checked_sub(reach)? / stride + 1;
        let element = |k: usize| {
            let at = k * dilation;
            let start = padding.saturating_sub(at).div_ceil(stride).min(output);
            let end = (input + padding).saturating_sub(at).div_ceil(stride);
            let windows = start..end.min(output).max(start);
            let first = if windows.is_empty() {
                0
            } else {
                windows.start * stride + at - padding
            };
            Element { windows, first }
        };
        Some(Self {
            input,
            output,
            stride,
            elements: (0..kernel).map(element).collect(),
        })
    }

    /// The pixels that a window sees.
    pub fn pixels(&self, window: usize) -> impl Iterator<Item = usize> {
        self.elements.iter().filter_map(move |element| {
            let windows = &element.windows;
            let pixel = || element.first + (window - windows.start) * self.stride;
            windows.contains(&window).then(pixel)
        })
    }
}

/// Calls `f(i, x[i * stride])` for the `len` pixels a stride apart; the strides of most poolings are
/// constants, so that these become vector loads.
#[inline(always)]
pub(super) fn strided(x: &[f32], stride: usize, len: usize, f: impl FnMut(usize, f32)) {
    match stride {
        1 => chunks::<1>(x, len, f),
        2 => chunks::<2>(x, len, f),
        3 => chunks::<3>(x, len, f),
        _ => x.iter().step_by(stride).take(len).enumerate().for_each({
            let mut f = f;
            move |(i, x)| f(i, *x)
        }),
    }
}

#[inline(always)]
fn chunks<const STRIDE: usize>(x: &[f32], len: usize, mut f: impl FnMut(usize, f32)) {
    let (whole, _) = x.as_chunks::<STRIDE>();
    let whole = &whole[..len.min(whole.len())];
    for (i, pixels) in whole.iter().enumerate() {
        f(i, pixels[0]);
    }
    // The last pixel may have no neighbours after it.
    for i in whole.len()..len {
        f(i, x[i * STRIDE]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_see_what_the_definition_says() {
        for case in 0..4 * 3 * 4 * 3 * 12 {
            let (kernel, stride) = (1 + case % 4, 1 + case / 4 % 3);
            let (padding, dilation) = (case / 12 % 4, 1 + case / 48 % 3);
            let input = 1 + case / 144;
            let Some(axis) = Axis::new(input, kernel, stride, padding, dilation) else {
                assert!(input + 2 * padding < dilation * (kernel - 1) + 1);
                continue;
            };
            for window in 0..axis.output {
                let expected: Vec<usize> = (0..kernel)
                    .filter_map(|k| (window * stride + k * dilation).checked_sub(padding))
                    .filter(|pixel| *pixel < input)
                    .collect();
                assert_eq!(axis.pixels(window).collect::<Vec<_>>(), expected);
            }
        }
        assert!(Axis::new(0, 1, 1, 0, 1).is_none());
    }
}
