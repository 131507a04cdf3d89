//! Convolution options, and the sizes that follow from them.

/// Options of a two-dimensional convolution. Pairs are in the order height, width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conv2d {
    /// Input pixels between neighbouring outputs.
    pub stride: [usize; 2],
    /// Zero pixels added on both sides.
    pub padding: [usize; 2],
    /// Input pixels between neighbouring kernel elements.
    pub dilation: [usize; 2],
    /// The number of groups of channels. An output depends only on the channels of its group.
    pub groups: usize,
    /// Multiply every pixel with the weights themselves. Otherwise, 3x3 kernels of stride 1 with many channels
    /// may be computed from transformed weights and pixels, which is faster and rounds a little more.
    pub exact: bool,
}

impl Default for Conv2d {
    /// Stride 1, no padding, no dilation, one group, not exact.
    fn default() -> Self {
        Self {
            stride: [1, 1],
            padding: [0, 0],
            dilation: [1, 1],
            groups: 1,
            exact: false,
        }
    }
}

impl Conv2d {
    /// Whether the kernels of this crate can run the convolution of `f32` tensors of these shapes
    /// (`x: [batch, in, height, width]`, `w: [out, in / groups, kh, kw]`). They cannot run empty tensors and
    /// kernels larger than the padded image, which are left to burn.
    pub fn supports(&self, x_shape: &[usize], w_shape: &[usize]) -> bool {
        let (&[n, c, h, w], &[o, c_in, kh, kw]) = (x_shape, w_shape) else {
            return false;
        };
        let ([sy, sx], [dy, dx]) = (self.stride, self.dilation);
        let filled = [n, c, h, w, o, kh, kw, sy, sx, dy, dx, self.groups];
        !filled.contains(&0)
            && c == c_in * self.groups
            && o.is_multiple_of(self.groups)
            && h + 2 * self.padding[0] > dy * (kh - 1)
            && w + 2 * self.padding[1] > dx * (kw - 1)
    }

    /// The sizes of one supported convolution.
    pub(crate) fn sizes(&self, x: [usize; 4], w: [usize; 4]) -> Sizes {
        assert!(
            self.supports(&x, &w),
            "conv2d: expected a convolution that `supports` accepts, found {self:?} of input {x:?} \
             and weight {w:?}; use burn's own for it"
        );
        let padded = [x[2] + 2 * self.padding[0], x[3] + 2 * self.padding[1]];
        let output =
            |i: usize| (padded[i] - 1 - self.dilation[i] * (w[i + 2] - 1)) / self.stride[i] + 1;
        Sizes {
            batch: x[0],
            groups: self.groups,
            channels: w[1],
            image: [x[2], x[3]],
            padding: self.padding,
            padded,
            stride: self.stride,
            dilation: self.dilation,
            filters: w[0] / self.groups,
            kernel: [w[2], w[3]],
            output: [output(0), output(1)],
        }
    }
}

/// The sizes of one convolution. Pairs are in the order height, width.
///
/// A group of an image is contiguous in memory, and so are its filters and its outputs. The kernels
/// therefore treat a group as an image with fewer channels. In their comments, "an image" is one group of
/// an image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Images of all groups.
    pub batch: usize,
    /// Groups.
    pub groups: usize,
    /// Input channels of a group.
    pub channels: usize,
    /// Input image.
    pub image: [usize; 2],
    /// Zeros on each side.
    pub padding: [usize; 2],
    /// Input image with its padding.
    pub padded: [usize; 2],
    /// Stride.
    pub stride: [usize; 2],
    /// Dilation.
    pub dilation: [usize; 2],
    /// Output channels of a group.
    pub filters: usize,
    /// Kernel.
    pub kernel: [usize; 2],
    /// Output image.
    pub output: [usize; 2],
}

impl Sizes {
    /// Values of one input image (of one group).
    pub fn image_len(&self) -> usize {
        self.channels * self.image[0] * self.image[1]
    }

    /// Values of one output image (of one group).
    pub fn output_len(&self) -> usize {
        self.filters * self.pixels()
    }

    /// Images from `first` on of a group, from `values` of all groups of all images, `len` of them
    /// each.
    pub fn images<'a>(
        &self,
        values: &'a [f32],
        len: usize,
        group: usize,
        first: usize,
    ) -> impl Iterator<Item = &'a [f32]> + use<'a> {
        let start = (first * self.groups + group) * len;
        let rest = values.get(start..).unwrap_or_default();
        rest.chunks(self.groups * len)
            .map(move |image| &image[..len])
    }

    /// Pixels of one output channel.
    pub fn pixels(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// Multiplications and additions of each of the three passes.
    pub fn flops(&self) -> usize {
        2 * self.batch * self.groups * self.output_len() * self.taps()
    }

    /// Weights of one filter: the rows of the im2col matrix.
    pub fn taps(&self) -> usize {
        self.channels * self.kernel[0] * self.kernel[1]
    }

    /// Shape of the input.
    pub fn x_shape(&self) -> [usize; 4] {
        let channels = self.groups * self.channels;
        [self.batch, channels, self.image[0], self.image[1]]
    }

    /// Shape of the output.
    pub fn y_shape(&self) -> [usize; 4] {
        let filters = self.groups * self.filters;
        [self.batch, filters, self.output[0], self.output[1]]
    }

    /// Shape of the weight.
    pub fn w_shape(&self) -> [usize; 4] {
        let filters = self.groups * self.filters;
        [filters, self.channels, self.kernel[0], self.kernel[1]]
    }
}

/// Consecutive filters of a group.
#[derive(Clone, Copy)]
pub(crate) struct Filters {
    /// The group.
    pub group: usize,
    /// The first filter.
    pub first: usize,
    /// The number of filters.
    pub count: usize,
}
