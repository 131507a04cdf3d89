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
    /// How often a buffer was kept.
    clock: u64,
    /// Values of all buffers that are kept.
    free: usize,
    /// Values of the tensors that were made in this run and have not come back.
    used: usize,
    /// The most of these at a time: in the 64 runs before the last multiple of 64, and since then.
    most_used: [usize; 2],
}

/// The buffers of one length.
#[derive(Default)]
struct OfLength {
    /// From the oldest to the newest.
    buffers: Vec<Buffer>,
    /// The tensors that were made here and have not come back. So many buffers are kept at most, because tensors
    /// that others make would come here in every run.
    made: usize,
}

struct Buffer {
    values: Vec<f32>,
    run: u64,
    time: u64,
}

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

/// Begins a run of a plan. What this thread has kept for 64 runs, and no tensor needed, is freed.
pub fn begin_run() {
    KEPT.with_borrow_mut(|kept| {
        kept.run += 1;
        kept.used = 0;
        if kept.run.is_multiple_of(RUNS) {
            kept.most_used = [kept.most_used[1], 0];
            let oldest = kept.run - RUNS;
            kept.by_length.retain(|_, of_length| {
                of_length.buffers.retain(|buffer| buffer.run >= oldest);
                !of_length.buffers.is_empty()
            });
            let kept_values = |(len, of_length): (&usize, &OfLength)| len * of_length.buffers.len();
            kept.free = kept.by_length.iter().map(kept_values).sum();
        }
    });
}

/// Whether the buffer of a tensor is one that [`keep`] keeps, if nobody else holds it.
pub fn is_worth_keeping(tensor: &FlexTensor) -> bool {
    tensor.dtype() == DType::F32 && tensor.layout().num_elements() >= SHORTEST
}

/// Keeps the buffer of a large tensor of `f32` for other tensors, unless somebody else holds it too.
pub fn keep(tensor: FlexTensor) {
    if !is_worth_keeping(&tensor) {
        return;
    }
    let data = tensor.data_arc();
    drop(tensor);
    let buffer = Arc::try_unwrap(data).ok();
    if let Some(values) = buffer.and_then(|bytes| bytes.try_into_vec::<f32>().ok()) {
        KEPT.with_borrow_mut(|kept| kept.put(values));
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
    KEPT.with_borrow_mut(|kept| kept.take(len))
}

impl Kept {
    fn put(&mut self, values: Vec<f32>) {
        let len = values.len();
        let Some(of_length) = self.by_length.get_mut(&len).filter(|of| of.made > 0) else {
            return;
        };
        of_length.made -= 1;
        self.clock += 1;
        self.free += len;
        self.used = self.used.saturating_sub(len);
        of_length.buffers.push(Buffer {
            values,
            run: self.run,
            time: self.clock,
        });
    }

    /// The newest buffer of a length, which is the most likely to be in a cache.
    fn take(&mut self, len: usize) -> Option<Vec<f32>> {
        self.used += len;
        self.most_used[1] = self.most_used[1].max(self.used);
        let of_length = self.by_length.entry(len).or_default();
        of_length.made += 1;
        if let Some(buffer) = of_length.buffers.pop() {
            self.free -= len;
            return Some(buffer.values);
        }
        // There will be one more. Buffers of other lengths make room for it, if there is more memory than tensors
        // ever needed at a time.
        let most = self.most_used[0].max(self.most_used[1]);
        while self.used + self.free > most && self.free_oldest() {}
        None
    }

    fn free_oldest(&mut self) -> bool {
        let time = |of_length: &OfLength| of_length.buffers.first().map(|buffer| buffer.time);
        let lengths = self.by_length.iter_mut();
        let oldest = lengths.filter_map(|(len, of)| Some((time(of)?, *len, of)));
        let Some((_, len, of_length)) = oldest.min_by_key(|(time, ..)| *time) else {
            return false;
        };
        of_length.buffers.remove(0);
        self.free -= len;
        true
    }
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
    fn buffers_of_other_lengths_make_room() {
        // Two tensors of a length at a time, one after the other of six lengths: 12 buffers would be kept.
        let lengths: Vec<usize> = (1..7).map(|k| SHORTEST + 16 * k).collect();
        for _ in 0..3 {
            begin_run();
            for len in &lengths {
                let pair = [any(*len), any(*len)].map(|buffer| floats(buffer, &[*len]));
                pair.into_iter().for_each(keep);
            }
            let free = KEPT.with_borrow(|kept| kept.free);
            assert!((2 * SHORTEST..3 * SHORTEST).contains(&free), "{free}");
        }
    }

    #[test]
    fn short_buffers_and_other_types_are_freed() {
        keep(floats(vec![1.0; 10], &[10]));
        assert_eq!(kept(10), None);
        keep(crate::flex::ints(vec![1; SHORTEST], &[SHORTEST]));
        assert_eq!(kept(SHORTEST), None);
    }
}
