//! Idle workers that help with large kernels.
//!
//! A kernel runs on the thread that calls it. If helpers are lent to that thread, a large kernel is divided into items
//! (images, filters), and the thread and its helpers take one item after another. Every thread computes an item in the
//! same way, so results do not depend on the helpers.
//!
//! Each helper is a thread pool of one thread, not a thread of the caller's pool. The reason is burn's feature `rayon`,
//! which a user's build may turn on: some of burn's operations then sum in an order that depends on the number of threads
//! in their pool. With separate pools, that number is always one.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use rayon::ThreadPool;

/// The least number of FLOPs of a kernel that is shared. Such a kernel takes about 60 µs on one thread, which is several
/// times the cost of waking another thread.
const MIN_SHARED_FLOPS: usize = 16_000_000;

thread_local! {
    static HELPERS: RefCell<Vec<Arc<ThreadPool>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work`. Large kernels that it calls on this thread are shared with the `helpers`, which are idle pools of one
/// thread each.
pub fn with_helpers<R>(helpers: &[Arc<ThreadPool>], work: impl FnOnce() -> R) -> R {
    /// Restores the previous helpers when it is dropped, also after a panic.
    struct Restore(Vec<Arc<ThreadPool>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            HELPERS.replace(std::mem::take(&mut self.0));
        }
    }
    let _restore = Restore(HELPERS.replace(helpers.to_vec()));
    work()
}

/// Runs `job` on every pool and `then` on this thread, and waits for all of them.
pub fn spread(pools: &[Arc<ThreadPool>], job: &(dyn Fn() + Sync), then: &mut dyn FnMut()) {
    match pools {
        [] => then(),
        [pool, rest @ ..] => pool.in_place_scope(|scope| {
            scope.spawn(|_| job());
            spread(rest, job, then);
        }),
    }
}

/// The number of threads that share a kernel of `flops` FLOPs.
pub(crate) fn size(flops: usize) -> usize {
    if flops < MIN_SHARED_FLOPS {
        return 1;
    }
    1 + HELPERS.with_borrow(Vec::len)
}

/// Runs `work` on every item of a kernel of `flops` FLOPs, on this thread and, if the kernel is large, on its helpers.
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
