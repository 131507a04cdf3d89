//! A fixed set of one-thread workers.
//!
//! Each worker is a rayon pool of one thread: burn's kernels ask the pool they run in for threads
//! and find one, so that a small step is not split. Clients are the unit of parallelism instead.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// One-thread pools.
pub struct Workers(Vec<ThreadPool>);

impl Workers {
    /// `threads` workers, at least one.
    ///
    /// # Errors
    ///
    /// The system gives no more threads.
    pub fn new(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let pool = |i| {
            ThreadPoolBuilder::new()
                .num_threads(1)
                .thread_name(move |_| format!("worker-{i}"))
                .build()
        };
        Ok(Self(
            (0..threads.max(1)).map(pool).collect::<Result<_, _>>()?,
        ))
    }

    /// Runs `work(i)` for each `i` in `0..n` and gives the results in order. Workers take the next
    /// index when they are free; results do not depend on who took what.
    pub fn run<T: Send>(&self, n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(n));
        let drain = || {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= n {
                    break;
                }
                let result = work(i);
                done.lock()
                    .unwrap_or_else(|e| e.into_inner())
                    .push((i, result));
            }
        };
        spawn(&self.0[..self.0.len().min(n)], &drain);
        let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
        done.sort_by_key(|(i, _)| *i);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

/// Runs `job` on every pool and waits for all.
fn spawn(pools: &[ThreadPool], job: &(dyn Fn() + Sync)) {
    if let [pool, rest @ ..] = pools {
        pool.in_place_scope(|scope| {
            scope.spawn(|_| job());
            spawn(rest, job);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_for_any_number_of_workers() {
        let expected: Vec<usize> = (0..100).map(|i| i * i).collect();
        for threads in [1, 2, 5] {
            let workers = Workers::new(threads).unwrap();
            assert_eq!(workers.run(100, |i| i * i), expected);
        }
    }

    #[test]
    fn a_worker_sees_one_thread() {
        let workers = Workers::new(2).unwrap();
        let seen = workers.run(4, |_| rayon::current_num_threads());
        assert_eq!(seen, [1, 1, 1, 1]);
    }
}
