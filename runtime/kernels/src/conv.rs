//! The forward pass of a convolution, as an im2col product.
//!
//! Loop order, from outside: images (shared by the threads of a team), blocks of filters, then the loops of
//! [`RowBlock`]. The staged image stays in the second-level cache over all blocks of filters. The output of a block
//! goes to scratch first, because its rows have surplus columns, which are dropped when they are copied.

use burn_flex::FlexTensor;

use crate::buffers;
use crate::flex::{floats, shape4};
use crate::im2col::Im2col;
use crate::lines;
use crate::scratch::{self, Scratch, room};
use crate::shape::{Conv2d, Sizes};
use crate::simd::vectorize;
use crate::team;
use crate::tile::{ROWS, RowBlock, blocks};
use crate::winograd;

/// Two-dimensional convolution (a cross-correlation, as usual in deep learning).
///
/// # Shapes
/// `x: [batch, in, height, width]`, `w: [out, in / groups, kh, kw]`, `bias: [out]`; the result is
/// `[batch, out, oh, ow]`. All `f32`.
///
/// # Panics
/// If [`Conv2d::supports`] is false for these shapes, the bias has another length, or a tensor is
/// not `f32`.
pub fn conv2d(
    x: &FlexTensor,
    w: &FlexTensor,
    bias: Option<&FlexTensor>,
    options: &Conv2d,
) -> FlexTensor {
    let sizes = options.sizes(shape4(x, "conv2d input"), shape4(w, "conv2d weight"));
    let (x, w) = (x.to_contiguous(), w.to_contiguous());
    let bias = bias.map(FlexTensor::to_contiguous);
    let bias = bias.as_ref().map(|bias| bias.storage::<f32>());
    assert!(
        bias.is_none_or(|bias| bias.len() == sizes.groups * sizes.filters),
        "conv2d bias: expected {} values, found {:?}",
        sizes.groups * sizes.filters,
        bias.map(<[f32]>::len)
    );
    let (x, w) = (x.storage(), w.storage());
    let y = if !options.exact && winograd::is_faster(&sizes) {
        winograd::output(&sizes, x, w, bias)
    } else {
        forward(&sizes, &Im2col::for_rows(&sizes), x, w, bias)
    };
    floats(y, &sizes.y_shape())
}

/// The forward pass over slices. `lowering` is the form of the im2col matrix.
pub(crate) fn forward(
    sizes: &Sizes,
    lowering: &Im2col,
    x: &[f32],
    w: &[f32],
    bias: Option<&[f32]>,
) -> Vec<f32> {
    let filters_len = sizes.filters * sizes.taps();
    let mut y = buffers::arbitrary(sizes.batch * sizes.groups * sizes.output_len());
    scratch::lend(
        |scratch| &mut scratch.panels,
        |panels| {
            let panels = room(panels, w.len());
            let groups = w.chunks_exact(filters_len);
            for (w, panels) in groups.zip(panels.chunks_exact_mut(filters_len)) {
                pack_filters(w, sizes.taps(), panels);
            }
            let x = x.chunks_exact(sizes.image_len());
            let images = x.zip(y.chunks_exact_mut(sizes.output_len())).enumerate();
            team::each(sizes.flops(), images, |(i, (x, y))| {
                let group = i % sizes.groups;
                let panels = &panels[group * filters_len..][..filters_len];
                let bias = bias.map(|bias| &bias[group * sizes.filters..][..sizes.filters]);
                scratch::with(|scratch| {
                    forward_image(sizes, lowering, panels, bias, x, y, scratch);
                });
            });
        },
    );
    y
}

/// The forward pass of one image. `panels` are the packed filters.
fn forward_image(
    sizes: &Sizes,
    lowering: &Im2col,
    panels: &[f32],
    bias: Option<&[f32]>,
    x: &[f32],
    y: &mut [f32],
    scratch: &mut Scratch,
) {
    let (taps, len) = (sizes.taps(), lowering.len);
    let row_starts: [usize; ROWS] = std::array::from_fn(|i| i * len);
    let block = |start: usize, count: usize, b: &[f32], c: &mut [f32]| {
        RowBlock {
            rows: count,
            panel: &panels[start * taps..(start + count) * taps],
            b,
            b_offsets: &lowering.offsets,
            len,
            c,
            c_offsets: &row_starts[..count],
            add: false,
        }
        .run();
    };
    let pixels = sizes.pixels();
    if lowering.reads_image_in_place(sizes) {
        for (start, count) in blocks(sizes.filters) {
            let y = &mut y[start * pixels..(start + count) * pixels];
            block(start, count, x, y);
            for (i, y) in y.chunks_exact_mut(pixels).enumerate() {
                if let Some(bias) = bias {
                    y.iter_mut().for_each(|y| *y += bias[start + i]);
                }
            }
        }
        return;
    }
    let b = room(&mut scratch.rows, lowering.rows_len(sizes));
    lowering.stage(sizes, x, &mut scratch.image, b);
    for (start, count) in blocks(sizes.filters) {
        let c = room(&mut scratch.block, count * len);
        block(start, count, b, c);
        let channels = y[start * pixels..].chunks_exact_mut(pixels);
        for (i, (row, y)) in c.chunks_exact(len).zip(channels).enumerate() {
            let bias = bias.map_or(0.0, |bias| bias[start + i]);
            write_channel(sizes, lowering.pitch, row, bias, y);
        }
    }
}

/// Writes one output channel: copies the lines of a row without their surplus columns, and adds the bias.
fn write_channel(sizes: &Sizes, pitch: usize, row: &[f32], bias: f32, y: &mut [f32]) {
    let lines = row.chunks(pitch).zip(y.chunks_exact_mut(sizes.output[1]));
    vectorize(
        #[inline(always)]
        || {
            for (line, y) in lines {
                lines::map(line, y, |value| value + bias);
            }
        },
    );
}

/// Packs `[filters][taps]` into one panel `[taps][rows]` for each block of filters.
fn pack_filters(w: &[f32], taps: usize, panels: &mut [f32]) {
    for (start, count) in blocks(w.len() / taps) {
        let panel = &mut panels[start * taps..(start + count) * taps];
        for (i, row) in w[start * taps..].chunks_exact(taps).take(count).enumerate() {
            for (value, into) in row.iter().zip(panel[i..].iter_mut().step_by(count)) {
                *into = *value;
            }
        }
    }
}
