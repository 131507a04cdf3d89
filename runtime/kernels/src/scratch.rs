//! Buffers that a worker thread keeps between calls.

use std::cell::RefCell;

/// The buffers of one thread. They grow to the largest shape seen and are not given back.
#[derive(Default)]
pub(crate) struct Scratch {
    /// One staged image.
    pub image: Vec<f32>,
    /// The rows of the im2col matrix, in either form.
    pub rows: Vec<f32>,
    /// Output gradients in the same form.
    pub grad: Vec<f32>,
    /// Packed weights.
    pub panels: Vec<f32>,
    /// Output rows of one block, before the surplus columns are dropped.
    pub block: Vec<f32>,
    /// Values of a block of an element-wise program.
    pub registers: Vec<Vec<f32>>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Runs `f` with this thread's buffers.
pub(crate) fn with<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    SCRATCH.with(|cell| match cell.try_borrow_mut() {
        Ok(mut scratch) => f(&mut scratch),
        // Only a kernel that another kernel calls would come here, and there is none.
        Err(_) => f(&mut Scratch::default()),
    })
}

/// Lends one of this thread's buffers to `f`, for kernels whose items use the other buffers.
pub(crate) fn lend<R>(
    buffer: impl Fn(&mut Scratch) -> &mut Vec<f32>,
    f: impl FnOnce(&mut Vec<f32>) -> R,
) -> R {
    let mut lent = with(|scratch| std::mem::take(buffer(scratch)));
    let result = f(&mut lent);
    with(|scratch| *buffer(scratch) = lent);
    result
}

/// The first `len` values of `buffer`, which is extended with zeros if it is shorter. The values are those of
/// an earlier call.
pub(crate) fn room(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    &mut buffer[..len]
}
