//! A fixed set of one-thread workers.
//!
//! Each worker is a rayon pool of one thread: burn's kernels ask the pool they run in for threads
//! and find one, so that a small step is not split. Clients are the unit of parallelism instead. Where
//! there are fewer clients than workers, those without one help with the others' large kernels
//! ([`team`]).

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use fedround_kernels::team;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// One-thread pools.
pub struct Workers(Vec<Arc<ThreadPool>>);

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
                .map(Arc::new)
        };
        Ok(Self(
            (0..threads.max(1)).map(pool).collect::<Result<_, _>>()?,
        ))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Runs `work(i)` for each `i` in `0..n` and gives the results in order. Workers take the next
    /// index when they are free; results do not depend on who took what.
    pub fn run<T: Send>(&self, n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let mut results = Vec::with_capacity(n);
        self.stream(n, n, work, |_, result| results.push(result));
        results
    }

    /// As [`run`](Self::run), but gives each result to `take`, in order, on the calling thread.
    /// Workers start at most `ahead` indices before the one that `take` waits for, so that no more
    /// results than that exist at a time.
    pub fn stream<T: Send>(
        &self,
        n: usize,
        ahead: usize,
        work: impl Fn(usize) -> T + Sync,
        mut take: impl FnMut(usize, T),
    ) {
        let queue = Queue {
            state: Mutex::new(State {
                next: 0,
                taken: 0,
                done: BTreeMap::new(),
            }),
            changed: Condvar::new(),
        };
        let (busy, idle) = self.0.split_at(self.0.len().min(n));
        let started = AtomicUsize::new(0);
        let drain = || {
            let own = started.fetch_add(1, Ordering::Relaxed);
            let helpers: Vec<_> = idle.iter().skip(own).step_by(busy.len()).cloned().collect();
            while let Some(i) = queue.claim(n, ahead.max(1)) {
                // A panic is passed on to the caller, who would wait for this result forever.
                let result = catch_unwind(AssertUnwindSafe(|| {
                    team::with_helpers(&helpers, || work(i))
                }));
                queue.lock().done.insert(i, result);
                queue.changed.notify_all();
            }
        };
        team::spread(busy, &drain, &mut || {
            for i in 0..n {
                match queue.wait_for(i) {
                    Ok(result) => take(i, result),
                    Err(panic) => {
                        queue.lock().next = n;
                        queue.changed.notify_all();
                        resume_unwind(panic);
                    }
                }
                queue.lock().taken = i + 1;
                queue.changed.notify_all();
            }
        });
    }
}

struct State<T> {
    /// The next index to work on.
    next: usize,
    /// How many results were taken.
    taken: usize,
    done: BTreeMap<usize, std::thread::Result<T>>,
}

struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

impl<T> Queue<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn wait<'a>(&self, guard: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        self.changed.wait(guard).unwrap_or_else(|e| e.into_inner())
    }

    fn claim(&self, n: usize, ahead: usize) -> Option<usize> {
        let mut state = self.lock();
        while state.next < n && state.next >= state.taken.saturating_add(ahead) {
            state = self.wait(state);
        }
        let claimed = (state.next < n).then_some(state.next);
        state.next = n.min(state.next + 1);
        claimed
    }

    fn wait_for(&self, i: usize) -> std::thread::Result<T> {
        let mut state = self.lock();
        loop {
            if let Some(result) = state.done.remove(&i) {
                return result;
            }
            state = self.wait(state);
        }
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
    fn few_results_wait_to_be_taken() {
        let workers = Workers::new(3).unwrap();
        let alive = std::sync::atomic::AtomicUsize::new(0);
        let most = std::sync::atomic::AtomicUsize::new(0);
        let order = std::sync::atomic::Ordering::SeqCst;
        let mut taken = vec![];
        let work = |i| {
            most.fetch_max(alive.fetch_add(1, order) + 1, order);
            i
        };
        workers.stream(50, 4, work, |_, i| {
            alive.fetch_sub(1, order);
            taken.push(i);
        });
        assert_eq!(taken, (0..50).collect::<Vec<_>>());
        assert!(most.load(order) <= 5, "{} at once", most.load(order));
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let workers = Workers::new(2).unwrap();
        let work = |i| assert!(i != 3, "third");
        let panic = catch_unwind(AssertUnwindSafe(|| workers.run(9, work)));
        assert!(panic.is_err());
    }

    #[test]
    fn a_worker_sees_one_thread() {
        let workers = Workers::new(2).unwrap();
        let seen = workers.run(4, |_| rayon::current_num_threads());
        assert_eq!(seen, [1, 1, 1, 1]);
    }
}
