//! Idle workers that help with large kernels.
//!
//! A kernel runs on the thread that calls it. If helpers were lent to that thread, a large kernel is cut into
//! items (images, filters), and the thread and its helpers take one item after another. An item is computed
//! in the same way by every thread, so results do not depend on the helpers.
//!
//! Each helper is a thread pool of its own, rather than a thread in the caller's pool. With burn's feature
//! `rayon`, which a user's build may turn on, some of burn's operations sum in an order that depends on the
//! number of threads in their pool, and they still see a pool of one thread.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use rayon::ThreadPool;

/// The FLOPs of the smallest kernel that is shared. It takes about 60 µs on one thread, which is several
/// times the cost of waking another thread.
const WORTH_SHARING: usize = 16_000_000;

thread_local! {
    static HELPERS: RefCell<Vec<Arc<ThreadPool>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work`. Large kernels that it calls on this thread are shared with the `helpers`, which are idle
/// pools of one thread each.
pub fn with_helpers<R>(helpers: &[Arc<ThreadPool>], work: impl FnOnce() -> R) -> R {
    /// Restores the previous helpers, also after a panic.
    struct Lent(Vec<Arc<ThreadPool>>);
    impl Drop for Lent {
        fn drop(&mut self) {
            HELPERS.replace(std::mem::take(&mut self.0));
        }
    }
    let _lent = Lent(HELPERS.replace(helpers.to_vec()));
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
    if flops < WORTH_SHARING {
        return 1;
    }
    1 + HELPERS.with_borrow(Vec::len)
}

/// Runs `work` on every item of a kernel of `flops` FLOPs, on this thread and its helpers.
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
