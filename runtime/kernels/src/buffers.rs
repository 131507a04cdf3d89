//! A pool of large buffers for each thread. The buffer of a tensor that is no longer needed is kept for the next
//! tensor of the same length.
//!
//! The tensors of a training step have the same sizes in the next step. An allocator would return their memory to
//! the system in between, and the system would clear the pages again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use burn_backend::DType;
use burn_flex::FlexTensor;

/// The least number of values of a buffer that is kept.
const MIN_LEN: usize = 1 << 14;
/// The number of runs after which an unused buffer is freed.
const MAX_IDLE_RUNS: u64 = 64;

/// The pool of one thread. Sizes are in values.
#[derive(Default)]
struct Pool {
    /// The number of the present run.
    run: u64,
    /// The buffers by their length.
    size_classes: HashMap<usize, SizeClass>,
    /// The number of buffers that have been returned to the pool so far. It orders them by age.
    clock: u64,
    /// The size of all buffers in the pool.
    free: usize,
    /// The size of the buffers that were taken in this run and have not been returned.
    used: usize,
    /// The largest `used`: in the last full period of 64 runs, and in the present one.
    peak_used: [usize; 2],
}

/// The buffers of one length.
#[derive(Default)]
struct SizeClass {
    /// The free buffers, from the oldest to the newest.
    buffers: Vec<Buffer>,
    /// The number of buffers that were taken from here and have not been returned. No more than these are
    /// accepted. Otherwise, tensors that burn itself allocates would fill the pool a little more in every run.
    outstanding: usize,
}

/// A free buffer.
struct Buffer {
    values: Vec<f32>,
    /// The run in which it was returned.
    run: u64,
    /// The [`Pool::clock`] at which it was returned.
    time: u64,
}

thread_local! {
    static POOL: RefCell<Pool> = RefCell::default();
}

/// Begins a run of a plan. Buffers that this thread has not used for 64 runs are freed.
pub fn begin_run() {
    POOL.with_borrow_mut(|pool| {
        pool.run += 1;
        pool.used = 0;
        if pool.run.is_multiple_of(MAX_IDLE_RUNS) {
            pool.peak_used = [pool.peak_used[1], 0];
            let oldest = pool.run - MAX_IDLE_RUNS;
            pool.size_classes.retain(|_, class| {
                class.buffers.retain(|buffer| buffer.run >= oldest);
                !class.buffers.is_empty()
            });
            let size = |(len, class): (&usize, &SizeClass)| len * class.buffers.len();
            pool.free = pool.size_classes.iter().map(size).sum();
        }
    });
}

/// Whether [`keep`] keeps the buffer of this tensor, if nobody else holds it.
pub fn is_worth_keeping(tensor: &FlexTensor) -> bool {
    tensor.dtype() == DType::F32 && tensor.layout().num_elements() >= MIN_LEN
}

/// Returns the buffer of a large tensor of `f32` to the pool, unless somebody else holds the buffer too.
pub fn keep(tensor: FlexTensor) {
    if !is_worth_keeping(&tensor) {
        return;
    }
    let data = tensor.data_arc();
    drop(tensor);
    let buffer = Arc::try_unwrap(data).ok();
    if let Some(values) = buffer.and_then(|bytes| bytes.try_into_vec::<f32>().ok()) {
        POOL.with_borrow_mut(|pool| pool.put(values));
    }
}

/// A buffer of `len` arbitrary values, all of which the caller overwrites.
pub(crate) fn arbitrary(len: usize) -> Vec<f32> {
    take(len).unwrap_or_else(|| vec![0.0; len])
}

/// A buffer of `len` zeros.
pub(crate) fn zeros(len: usize) -> Vec<f32> {
    match take(len) {
        Some(mut buffer) => {
            buffer.fill(0.0);
            buffer
        }
        None => vec![0.0; len],
    }
}

/// A free buffer of this length from the pool; `None` if there is none.
fn take(len: usize) -> Option<Vec<f32>> {
    if len < MIN_LEN {
        return None;
    }
    POOL.with_borrow_mut(|pool| pool.take(len))
}

impl Pool {
    /// Accepts a buffer if one of its length was taken and has not been returned.
    fn put(&mut self, values: Vec<f32>) {
        let len = values.len();
        let class = self.size_classes.get_mut(&len);
        let Some(class) = class.filter(|class| class.outstanding > 0) else {
            return;
        };
        class.outstanding -= 1;
        self.clock += 1;
        self.free += len;
        self.used = self.used.saturating_sub(len);
        class.buffers.push(Buffer {
            values,
            run: self.run,
            time: self.clock,
        });
    }

    /// Takes the newest buffer of a length, which is the most likely one to be in a cache.
    fn take(&mut self, len: usize) -> Option<Vec<f32>> {
        self.used += len;
        self.peak_used[1] = self.peak_used[1].max(self.used);
        let class = self.size_classes.entry(len).or_default();
        class.outstanding += 1;
        if let Some(buffer) = class.buffers.pop() {
            self.free -= len;
            return Some(buffer.values);
        }
        // The caller allocates a new buffer. Free buffers of other lengths are dropped for it, as long as all
        // buffers together are larger than the tensors ever were at one time.
        let peak = self.peak_used[0].max(self.peak_used[1]);
        while self.used + self.free > peak && self.free_oldest() {}
        None
    }

    /// Frees the oldest buffer. Gives whether there was one.
    fn free_oldest(&mut self) -> bool {
        let time = |class: &SizeClass| class.buffers.first().map(|buffer| buffer.time);
        let classes = self.size_classes.iter_mut();
        let oldest = classes.filter_map(|(len, class)| Some((time(class)?, *len, class)));
        let Some((_, len, class)) = oldest.min_by_key(|(time, ..)| *time) else {
            return false;
        };
        class.buffers.remove(0);
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
        let (len, other_len) = (MIN_LEN + 3, MIN_LEN + 4);
        let address = |buffer: &[f32]| buffer.as_ptr();
        let tensor = floats(vec![1.0; len], &[len]);
        let first_address = address(tensor.storage());
        let shared = tensor.clone();
        keep(tensor);
        assert!(take(len).is_none(), "somebody still reads it");
        keep(shared);
        assert!(take(other_len).is_none());
        let buffer = zeros(len);
        let sum = buffer.iter().sum::<f32>();
        assert_eq!((address(&buffer), sum), (first_address, 0.0));
        assert_eq!(take(len), None, "it is used");

        keep(floats(buffer, &[len]));
        (0..MAX_IDLE_RUNS / 2).for_each(|_| begin_run());
        let buffer = arbitrary(len);
        assert_eq!(address(&buffer), first_address);
        keep(floats(buffer, &[len]));
        (0..2 * MAX_IDLE_RUNS).for_each(|_| begin_run());
        assert_eq!(take(len), None, "it was not used for many runs");
    }

    #[test]
    fn buffers_of_other_lengths_make_room() {
        // Six lengths one after another, with two tensors of each at a time. Without a limit, the pool would keep
        // 12 buffers.
        let lengths: Vec<usize> = (1..7).map(|k| MIN_LEN + 16 * k).collect();
        for _ in 0..3 {
            begin_run();
            for len in &lengths {
                let pair = [arbitrary(*len), arbitrary(*len)];
                let pair = pair.map(|buffer| floats(buffer, &[*len]));
                pair.into_iter().for_each(keep);
            }
            let free = POOL.with_borrow(|pool| pool.free);
            assert!((2 * MIN_LEN..3 * MIN_LEN).contains(&free), "{free}");
        }
    }

    #[test]
    fn short_buffers_and_other_types_are_freed() {
        keep(floats(vec![1.0; 10], &[10]));
        assert_eq!(take(10), None);
        keep(crate::flex::ints(vec![1; MIN_LEN], &[MIN_LEN]));
        assert_eq!(take(MIN_LEN), None);
    }
}
