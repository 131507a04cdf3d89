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
    /// Whether every pixel is multiplied with the weights directly. Otherwise, 3x3 and 5x5 kernels of stride 1 with
    /// many channels may be computed by Winograd's method, which is faster and rounds a little more.
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
    /// Whether the kernels of this crate can compute the convolution of `f32` tensors of these shapes
    /// (`x: [batch, in, height, width]`, `w: [out, in / groups, kh, kw]`). Empty tensors, and kernels or strides larger
    /// than the padded image, are left to burn: the kernels copy an image to a plane for each pair of offsets below the
    /// stride, of which a larger stride would leave nearly all empty.
    pub fn supports(&self, x_shape: &[usize], w_shape: &[usize]) -> bool {
        let (&[n, c, h, w], &[o, c_in, kh, kw]) = (x_shape, w_shape) else {
            return false;
        };
        let ([sy, sx], [dy, dx]) = (self.stride, self.dilation);
        let filled = [n, c, h, w, o, kh, kw, sy, sx, dy, dx, self.groups];
        let [height, width] = [h + 2 * self.padding[0], w + 2 * self.padding[1]];
        !filled.contains(&0)
            && c == c_in * self.groups
            && o.is_multiple_of(self.groups)
            && height > dy * (kh - 1)
            && width > dx * (kw - 1)
            && sy <= height
            && sx <= width
    }

    /// The sizes of a convolution of these shapes. Panics if it is not supported.
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
    /// The number of images, each of all groups.
    pub batch: usize,
    /// The number of groups.
    pub groups: usize,
    /// The number of input channels of a group.
    pub channels: usize,
    /// The size of the input image.
    pub image: [usize; 2],
    /// The number of zeros on each side.
    pub padding: [usize; 2],
    /// The size of the input image with its padding.
    pub padded: [usize; 2],
    pub stride: [usize; 2],
    pub dilation: [usize; 2],
    /// The number of output channels of a group.
    pub filters: usize,
    /// The size of the kernel.
    pub kernel: [usize; 2],
    /// The size of the output image.
    pub output: [usize; 2],
}

impl Sizes {
    /// The number of values of one input image (of one group).
    pub fn image_len(&self) -> usize {
        self.channels * self.image[0] * self.image[1]
    }

    /// The number of values of one output image (of one group).
    pub fn output_len(&self) -> usize {
        self.filters * self.pixels()
    }

    /// The images of one group, from image `first` on. `values` has all images of all groups,
    /// `[batch][groups][len]`.
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

    /// The number of pixels of one output channel.
    pub fn pixels(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// The number of multiplications and additions of a pass: the output, or one of the two gradients.
    pub fn flops(&self) -> usize {
        2 * self.batch * self.groups * self.output_len() * self.taps()
    }

    /// The number of weights of one filter, which is the number of rows of the im2col matrix.
    pub fn taps(&self) -> usize {
        self.channels * self.kernel[0] * self.kernel[1]
    }

    /// The shape of the input.
    pub fn x_shape(&self) -> [usize; 4] {
        let channels = self.groups * self.channels;
        [self.batch, channels, self.image[0], self.image[1]]
    }

    /// The shape of the output.
    pub fn y_shape(&self) -> [usize; 4] {
        let filters = self.groups * self.filters;
        [self.batch, filters, self.output[0], self.output[1]]
    }

    /// The shape of the weight.
    pub fn w_shape(&self) -> [usize; 4] {
        let filters = self.groups * self.filters;
        [filters, self.channels, self.kernel[0], self.kernel[1]]
    }
}

/// Consecutive filters of a group.
#[derive(Clone, Copy)]
pub(crate) struct FilterRange {
    /// The group.
    pub group: usize,
    /// The first filter.
    pub first: usize,
    /// The number of filters.
    pub count: usize,
}
