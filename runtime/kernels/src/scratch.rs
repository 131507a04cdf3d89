//! Scratch buffers, which each thread keeps from one kernel to the next.

use std::cell::RefCell;

/// The scratch buffers of one thread. They grow to the largest shape so far and never shrink. The comments name
/// the main use of each; other kernels use the same buffers for other values.
#[derive(Default)]
pub(crate) struct Scratch {
    /// One staged image.
    pub image: Vec<f32>,
    /// The rows of the im2col matrix, shifted or copied.
    pub rows: Vec<f32>,
    /// Output gradients, on the pitch of `rows`.
    pub grad: Vec<f32>,
    /// Packed weights.
    pub panels: Vec<f32>,
    /// The output rows of one block of filters, with their surplus columns.
    pub block: Vec<f32>,
    /// The registers of an element-wise program, each of which holds the values of one block.
    pub registers: Vec<Vec<f32>>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Runs `f` with this thread's scratch buffers.
pub(crate) fn with<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    SCRATCH.with(|cell| match cell.try_borrow_mut() {
        Ok(mut scratch) => f(&mut scratch),
        // This would only happen if a kernel called another kernel inside `with`. None does.
        Err(_) => f(&mut Scratch::default()),
    })
}

/// Lends one of this thread's buffers to `f`. Inside, [`with`] may be called for the other buffers, as the items of
/// a shared kernel do.
pub(crate) fn lend<R>(
    buffer: impl Fn(&mut Scratch) -> &mut Vec<f32>,
    f: impl FnOnce(&mut Vec<f32>) -> R,
) -> R {
    let mut lent = with(|scratch| std::mem::take(buffer(scratch)));
    let result = f(&mut lent);
    with(|scratch| *buffer(scratch) = lent);
    result
}

/// The first `len` values of `buffer`, which grows if it is shorter. The values are those of an earlier use.
pub(crate) fn room(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    &mut buffer[..len]
}
