//! The forward convolution.

use burn_flex::FlexTensor;

use crate::flex::{floats, shape4};
use crate::lower::Lowering;
use crate::scratch::{self, Scratch, room};
use crate::shape::{Conv2d, Sizes};
use crate::tile::{ROWS, RowBlock, blocks};

/// Two-dimensional convolution (cross-correlation, as everywhere in deep learning).
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
    let lowering = Lowering::for_rows(&sizes);
    let y = forward(&sizes, &lowering, x.storage(), w.storage(), bias);
    floats(y, &sizes.y_shape())
}

/// The forward pass over slices.
pub(crate) fn forward(
    sizes: &Sizes,
    lowering: &Lowering,
    x: &[f32],
    w: &[f32],
    bias: Option<&[f32]>,
) -> Vec<f32> {
    let (taps, len) = (sizes.taps(), lowering.len);
    let row_starts: [usize; ROWS] = std::array::from_fn(|i| i * len);
    let mut y = Vec::with_capacity(sizes.batch * sizes.groups * sizes.output_len());
    scratch::with(|scratch| {
        let Scratch {
            image,
            rows,
            panels,
            block,
            ..
        } = scratch;
        let filters_len = sizes.filters * taps;
        let panels = room(panels, sizes.groups * filters_len);
        let groups = w.chunks_exact(filters_len);
        for (w, panels) in groups.zip(panels.chunks_exact_mut(filters_len)) {
            pack_filters(w, taps, panels);
        }
        let b = room(rows, lowering.rows_len(sizes));
        for (i, x) in x.chunks_exact(sizes.image_len()).enumerate() {
            let group = i % sizes.groups;
            let panels = &panels[group * filters_len..];
            lowering.stage(sizes, x, image, b);
            for (start, count) in blocks(sizes.filters) {
                let c = room(block, count * len);
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
                for (i, row) in c.chunks_exact(len).enumerate() {
                    let bias = bias.map_or(0.0, |bias| bias[group * sizes.filters + start + i]);
                    emit(sizes, lowering.pitch, row, bias, &mut y);
                }
            }
        }
    });
    y
}

/// Appends the pixels of one output channel.
fn emit(sizes: &Sizes, pitch: usize, row: &[f32], bias: f32, y: &mut Vec<f32>) {
    let width = sizes.output[1];
    if pitch == width {
        y.extend(row[..sizes.pixels()].iter().map(|v| v + bias));
        return;
    }
    for line in row.chunks(pitch).take(sizes.output[0]) {
        y.extend(line[..width].iter().map(|v| v + bias));
    }
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
