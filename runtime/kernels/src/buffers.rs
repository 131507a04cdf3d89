//! Buffers of tensors that nobody needs any longer, kept for new tensors of the same length.
//!
//! The tensors of a step are as large in the next step. An allocator would return them to the system in
//! between, which then clears their pages again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use burn_backend::DType;
use burn_flex::FlexTensor;

/// Values of the shortest buffer that is kept.
const SHORTEST: usize = 1 << 14;
/// The number of runs after which a buffer that was not used is freed.
const RUNS: u64 = 64;

/// The buffers of one thread.
#[derive(Default)]
struct Kept {
    run: u64,
    by_length: HashMap<usize, OfLength>,
}

/// The buffers of one length.
#[derive(Default)]
struct OfLength {
    /// Each with the run in which it was kept.
    buffers: Vec<(u64, Vec<f32>)>,
    /// The tensors that were made here and have not come back. So many buffers are kept at most, because tensors
    /// that others make would come here in every run.
    made: usize,
}

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

/// Begins a run of a program. What this thread has kept for 64 runs, and no tensor needed, is freed.
pub fn begin_run() {
    KEPT.with_borrow_mut(|kept| {
        kept.run += 1;
        if kept.run.is_multiple_of(RUNS) {
            let oldest = kept.run - RUNS;
            kept.by_length.retain(|_, of_length| {
                of_length.buffers.retain(|(run, _)| *run >= oldest);
                !of_length.buffers.is_empty()
            });
        }
    });
}

/// Keeps the buffer of a tensor of `f32` for other tensors, unless somebody else holds it too.
pub fn keep(tensor: FlexTensor) {
    if tensor.dtype() != DType::F32 || tensor.bytes().len() < SHORTEST * size_of::<f32>() {
        return;
    }
    let data = tensor.data_arc();
    drop(tensor);
    let buffer = Arc::try_unwrap(data).ok();
    if let Some(buffer) = buffer.and_then(|bytes| bytes.try_into_vec::<f32>().ok()) {
        KEPT.with_borrow_mut(|kept| {
            if let Some(of_length) = kept.by_length.get_mut(&buffer.len())
                && of_length.made > 0
            {
                of_length.made -= 1;
                of_length.buffers.push((kept.run, buffer));
            }
        });
    }
}

/// A buffer of `len` values of any kind, all of which the caller overwrites.
pub(crate) fn any(len: usize) -> Vec<f32> {
    kept(len).unwrap_or_else(|| vec![0.0; len])
}

/// A buffer of `len` zeros.
pub(crate) fn zeros(len: usize) -> Vec<f32> {
    match kept(len) {
        Some(mut buffer) => {
            buffer.fill(0.0);
            buffer
        }
        None => vec![0.0; len],
    }
}

fn kept(len: usize) -> Option<Vec<f32>> {
    if len < SHORTEST {
        return None;
    }
    KEPT.with_borrow_mut(|kept| {
        let of_length = kept.by_length.entry(len).or_default();
        of_length.made += 1;
        Some(of_length.buffers.pop()?.1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flex::floats;

    #[test]
    fn a_buffer_is_kept_for_the_next_tensor_of_its_length_and_not_for_ever() {
        let (len, others) = (SHORTEST + 3, SHORTEST + 4);
        let place = |buffer: &[f32]| buffer.as_ptr();
        let tensor = floats(vec![1.0; len], &[len]);
        let at = place(tensor.storage());
        let shared = tensor.clone();
        keep(tensor);
        assert!(kept(len).is_none(), "somebody still reads it");
        keep(shared);
        assert!(kept(others).is_none());
        let buffer = zeros(len);
        assert_eq!((place(&buffer), buffer.iter().sum::<f32>()), (at, 0.0));
        assert_eq!(kept(len), None, "it is used");

        keep(floats(buffer, &[len]));
        (0..RUNS / 2).for_each(|_| begin_run());
        let buffer = any(len);
        assert_eq!(place(&buffer), at);
        keep(floats(buffer, &[len]));
        (0..2 * RUNS).for_each(|_| begin_run());
        assert_eq!(kept(len), None, "it was not used for many runs");
    }

    #[test]
    fn short_buffers_and_other_types_are_freed() {
        keep(floats(vec![1.0; 10], &[10]));
        assert_eq!(kept(10), None);
        keep(crate::flex::ints(vec![1; SHORTEST], &[SHORTEST]));
        assert_eq!(kept(SHORTEST), None);
    }
}
