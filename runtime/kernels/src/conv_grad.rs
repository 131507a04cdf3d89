//! The gradient of a convolution with respect to its input, as the transposed im2col product.
//!
//! The terms are the filters, and the rows of `C` are the rows of the im2col matrix. In the shifted form, these are
//! shifted views of the staged image, so the product adds to it directly. In the columns form, the rows are computed
//! in scratch and then added to the staged image. Loop order, from outside: images, blocks of rows, then the loops of
//! [`RowBlock`].

use burn_flex::FlexTensor;

use crate::buffers;
use crate::flex::{floats, shape4};
use crate::im2col::{Form, Im2col};
use crate::scratch::{self, Scratch, room};
use crate::shape::{Conv2d, Sizes};
use crate::staged::{staged_len, unstage};
use crate::team;
use crate::tile::{RowBlock, blocks};
use crate::winograd;

/// Gradient of [`conv2d`](crate::conv2d) with respect to its input.
///
/// # Shapes
/// `w: [out, in / groups, kh, kw]`, `grad: [batch, out, oh, ow]`; the result has `x_shape`.
///
/// # Panics
/// If [`Conv2d::supports`] is false for these shapes, or `grad` does not have the output's shape.
pub fn conv2d_input_grad(
    w: &FlexTensor,
    grad: &FlexTensor,
    x_shape: [usize; 4],
    options: &Conv2d,
) -> FlexTensor {
    let sizes = options.sizes(x_shape, shape4(w, "conv2d weight"));
    check_grad(&sizes, grad);
    let (w, grad) = (w.to_contiguous(), grad.to_contiguous());
    let (w, grad) = (w.storage(), grad.storage());
    let x = if !options.exact && winograd::is_faster(&sizes) {
        winograd::input_grad(&sizes, w, grad)
    } else {
        input_grad(&sizes, &Im2col::for_rows(&sizes), w, grad)
    };
    floats(x, &sizes.x_shape())
}

/// Panics if `grad` does not have the output's shape.
pub(crate) fn check_grad(sizes: &Sizes, grad: &FlexTensor) {
    let found = shape4(grad, "conv2d output gradient");
    let expected = sizes.y_shape();
    assert!(
        found == expected,
        "conv2d output gradient: expected shape {expected:?}, found {found:?}"
    );
}

/// The input gradient over slices.
pub(crate) fn input_grad(sizes: &Sizes, lowering: &Im2col, w: &[f32], grad: &[f32]) -> Vec<f32> {
    let order = scatter_order(sizes);
    let starts: Vec<usize> = order.iter().map(|&k| lowering.offsets[k]).collect();
    let filters_len = sizes.filters * sizes.taps();
    let mut x = buffers::arbitrary(sizes.batch * sizes.groups * sizes.image_len());
    scratch::lend(
        |scratch| &mut scratch.panels,
        |panels| {
            let panels = room(panels, w.len());
            let groups = w.chunks_exact(filters_len);
            for (w, panels) in groups.zip(panels.chunks_exact_mut(filters_len)) {
                pack_taps(w, &order, sizes.filters, panels);
            }
            let grads = grad.chunks_exact(sizes.output_len());
            let images = grads.zip(x.chunks_exact_mut(sizes.image_len())).enumerate();
            team::each(sizes.flops(), images, |(i, (grad, x))| {
                let panels = &panels[i % sizes.groups * filters_len..][..filters_len];
                scratch::with(|scratch| {
                    image_grad(sizes, lowering, panels, &starts, grad, x, scratch);
                });
            });
        },
    );
    x
}

/// The input gradient of one image. `panels` are the packed weights, and `starts` the offsets of the rows of the
/// im2col matrix in the order of the panels.
fn image_grad(
    sizes: &Sizes,
    lowering: &Im2col,
    panels: &[f32],
    starts: &[usize],
    grad: &[f32],
    x: &mut [f32],
    scratch: &mut Scratch,
) {
    let grad_offsets: Vec<usize> = (0..sizes.filters).map(|o| o * lowering.len).collect();
    let image = room(&mut scratch.image, staged_len(sizes));
    let b = if lowering.reads_grad_in_place(sizes) {
        grad
    } else {
        let b = room(&mut scratch.grad, sizes.filters * lowering.len);
        lowering.stage_grad(sizes, grad, b);
        b
    };
    let in_place = lowering.reads_image_in_place(sizes);
    let add = lowering.form == Form::Shifted && !in_place;
    if !in_place {
        image.fill(0.0);
    }
    let c: &mut [f32] = match lowering.form {
        _ if in_place => x,
        Form::Shifted => image,
        Form::Columns => room(&mut scratch.rows, lowering.rows_len(sizes)),
    };
    for (start, count) in blocks(starts.len()) {
        RowBlock {
            rows: count,
            panel: &panels[start * sizes.filters..(start + count) * sizes.filters],
            b,
            b_offsets: &grad_offsets,
            len: lowering.len,
            c,
            c_offsets: &starts[start..start + count],
            add,
        }
        .run();
    }
    if in_place {
        return;
    }
    if lowering.form == Form::Columns {
        lowering.add_rows(sizes, &scratch.rows, image);
    }
    unstage(sizes, image, x);
}

/// The rows `(c, ky, kx)` in an order in which the channel varies fastest. The rows of a block then lie in different
/// channels and do not overlap. Additions to overlapping rows would have to wait for each other's stores.
fn scatter_order(sizes: &Sizes) -> Vec<usize> {
    let taps = sizes.kernel[0] * sizes.kernel[1];
    (0..taps)
        .flat_map(|tap| (0..sizes.channels).map(move |c| c * taps + tap))
        .collect()
}

/// Packs the transpose of the weights `[filters][taps]`, with its rows in `order`, into one panel `[filters][rows]` for
/// each block of rows.
fn pack_taps(w: &[f32], order: &[usize], filters: usize, panels: &mut [f32]) {
    for (start, count) in blocks(order.len()) {
        let rows = &order[start..start + count];
        let panel = &mut panels[start * filters..(start + count) * filters];
        for (into, filter) in panel
            .chunks_exact_mut(count)
            .zip(w.chunks_exact(order.len()))
        {
            for (into, &k) in into.iter_mut().zip(rows) {
                *into = filter[k];
            }
        }
    }
}
