//! Idle workers that help with large kernels.
//!
//! A kernel runs on the thread that calls it. Where helpers were lent to that thread, a large kernel
//! is cut into items (images, filters) that the thread and its helpers take in turns. Every item is
//! computed in the same way whoever takes it, so results do not depend on helpers.
//!
//! Helpers are pools of their own instead of more threads in the caller's: burn's ops, some of
//! which sum in an order that depends on the threads of their pool, see one thread as before.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use rayon::ThreadPool;

/// FLOPs of the smallest kernel that is shared: about 60 µs on one thread, several times what it
/// takes to wake another.
const WORTH_SHARING: usize = 16_000_000;

thread_local! {
    static HELPERS: RefCell<Vec<Arc<ThreadPool>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work`, whose kernels on this thread share what is large with idle one-thread pools.
pub fn with_helpers<R>(helpers: &[Arc<ThreadPool>], work: impl FnOnce() -> R) -> R {
    /// Gives back what was lent before, after a panic too.
    struct Lent(Vec<Arc<ThreadPool>>);
    impl Drop for Lent {
        fn drop(&mut self) {
            HELPERS.replace(std::mem::take(&mut self.0));
        }
    }
    let _lent = Lent(HELPERS.replace(helpers.to_vec()));
    work()
}

/// Runs `job` on every pool and `then` on this thread, and waits for all.
pub fn spread(pools: &[Arc<ThreadPool>], job: &(dyn Fn() + Sync), then: &mut dyn FnMut()) {
    match pools {
        [] => then(),
        [pool, rest @ ..] => pool.in_place_scope(|scope| {
            scope.spawn(|_| job());
            spread(rest, job, then);
        }),
    }
}

/// How many threads share a kernel of so many FLOPs.
pub(crate) fn size(flops: usize) -> usize {
    if flops < WORTH_SHARING {
        return 1;
    }
    1 + HELPERS.with_borrow(Vec::len)
}

/// Runs `work` on every item of a kernel of so many FLOPs, on this thread and its helpers.
pub(crate) fn each<I: Iterator<Item: Send> + Send>(
    flops: usize,
    mut items: I,
    work: impl Fn(I::Item) + Sync,
) {
    if size(flops) == 1 {
        return items.for_each(work);
    }
    let helpers = HELPERS.with_borrow(Vec::clone);
    let queue = Mutex::new(&mut items);
    let next = || queue.lock().unwrap_or_else(|e| e.into_inner()).next();
    let drain = || {
        while let Some(item) = next() {
            work(item);
        }
    };
    spread(&helpers, &drain, &mut { &drain });
}
