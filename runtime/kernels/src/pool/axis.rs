//! The windows of a pooling along one axis, and loops over pixels that are one stride apart.

use std::ops::Range;

/// The windows of a pooling along one axis.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// The number of pixels.
    pub input: usize,
    /// The number of windows.
    pub output: usize,
    /// The distance between neighbouring windows, in pixels.
    pub stride: usize,
    /// The pixels under each element of the window.
    pub elements: Vec<Element>,
}

/// The pixels under one element of the window, one for each window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    /// The windows in which the element lies inside the image, not in the padding.
    pub windows: Range<usize>,
    /// The pixel under the element in the first of these windows.
    pub first: usize,
}

impl Axis {
    /// The windows along an axis of `input` pixels. `None` if there is no window.
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
            let shift = k * dilation;
            let start = padding.saturating_sub(shift).div_ceil(stride).min(output);
            let end = (input + padding).saturating_sub(shift).div_ceil(stride);
            let windows = start..end.min(output).max(start);
            let first = if windows.is_empty() {
                0
            } else {
                windows.start * stride + shift - padding
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

    /// Whether the only window is the whole axis.
    pub fn is_whole(&self) -> bool {
        let mut elements = self.elements.iter().enumerate();
        self.output == 1
            && self.elements.len() == self.input
            && elements.all(|(k, element)| element.first == k && element.windows == (0..1))
    }

    /// The pixels of a window, without its padding.
    pub fn pixels(&self, window: usize) -> impl Iterator<Item = usize> {
        self.elements.iter().filter_map(move |element| {
            let windows = &element.windows;
            let pixel = || element.first + (window - windows.start) * self.stride;
            windows.contains(&window).then(pixel)
        })
    }
}

/// Calls `f((out[i], x[i * stride]))` for each `i`. The usual strides are compiled as constants, so that their loads
/// become vector loads.
#[inline(always)]
pub(super) fn strided<T>(
    x: &[f32],
    stride: usize,
    out: impl ExactSizeIterator<Item = T>,
    f: impl FnMut((T, f32)),
) {
    match stride {
        1 => out.zip(x.iter().copied()).for_each(f),
        2 => chunks::<2, T>(x, out, f),
        3 => chunks::<3, T>(x, out, f),
        _ => out.zip(x.iter().step_by(stride).copied()).for_each(f),
    }
}

/// [`strided`] for a constant stride.
#[inline(always)]
fn chunks<const STRIDE: usize, T>(
    x: &[f32],
    out: impl ExactSizeIterator<Item = T>,
    f: impl FnMut((T, f32)),
) {
    let (whole, rest) = x.as_chunks::<STRIDE>();
    if whole.len() >= out.len() {
        out.zip(whole.iter().map(|pixels| pixels[0])).for_each(f);
    } else {
        // The last pixel is in an incomplete chunk.
        let pixels = whole.iter().map(|pixels| pixels[0]);
        out.zip(pixels.chain(rest.first().copied())).for_each(f);
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
