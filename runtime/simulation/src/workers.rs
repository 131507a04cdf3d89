//! The worker threads: a fixed number for each device.
//!
//! The unit of parallelism is the client, or the group of clients. Each worker is a rayon pool of one thread: in a
//! larger pool, burn's kernels would split even a small step among the threads, if a user's build turns on burn's
//! feature `rayon`. If there are fewer clients than workers, the idle workers help with the large kernels of the
//! others ([`team`]). A GPU has one worker.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use fedround_kernels::team;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use fedround_exec::device;

/// The workers of a device: pools of one thread each.
type Pools = Vec<Arc<ThreadPool>>;

/// The workers of each device.
pub struct Workers(Vec<Pools>);

impl Workers {
    /// Starts `threads` workers of the first device, at least one.
    ///
    /// # Errors
    ///
    /// The system cannot start more threads.
    pub fn new(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let mut this = Self(vec![]);
        this.add(threads)?;
        Ok(this)
    }

    /// Adds a device with `threads` workers, at least one.
    ///
    /// # Errors
    ///
    /// The system cannot start more threads.
    pub fn add(&mut self, threads: usize) -> Result<(), ThreadPoolBuildError> {
        let device = self.0.len();
        let pool = |i| {
            ThreadPoolBuilder::new()
                .num_threads(1)
                .thread_name(move |_| format!("worker-{device}-{i}"))
                .build()
                .map(Arc::new)
        };
        let pools = (0..threads.max(1)).map(pool).collect::<Result<_, _>>()?;
        self.0.push(pools);
        Ok(())
    }

    /// Runs `work(i)` for each `i` in `0..n` on the first device's workers, and returns the results in order. A worker
    /// takes the next index when it is free; results do not depend on which worker takes which index.
    pub fn run<T: Send>(&self, n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let mut results = Vec::with_capacity(n);
        self.stream(&vec![0; n], n, work, |_, result| results.push(result));
        results
    }

    /// Runs `work(i)` on the workers of device `devices[i]` for each `i`, and gives the results to `take`, in order,
    /// on the calling thread. At most `ahead` results for each worker exist at a time: a device does not start more
    /// work before `take` has taken its earlier results.
    pub fn stream<T: Send>(
        &self,
        devices: &[usize],
        ahead: usize,
        work: impl Fn(usize) -> T + Sync,
        mut take: impl FnMut(usize, T),
    ) {
        let indices_of = |device| {
            (0..devices.len())
                .filter(|&i| devices[i] == device)
                .collect()
        };
        let lanes = self.0.iter().enumerate().map(|(device, pools)| Lane {
            indices: indices_of(device),
            ahead: ahead.saturating_mul(pools.len()).max(1),
            claimed: 0,
            taken: 0,
        });
        let queue = Queue::new(lanes.collect());
        let started: Vec<AtomicUsize> = self.0.iter().map(|_| AtomicUsize::new(0)).collect();
        let busy = |device: usize| queue.lock().lanes[device].indices.len();
        let busy: Vec<usize> = (0..self.0.len()).map(busy).collect();
        let drain = |device: usize| {
            let (busy, idle) = split(&self.0[device], busy[device]);
            let seat = started[device].fetch_add(1, Ordering::Relaxed);
            let helpers: Pools = idle
                .iter()
                .skip(seat)
                .step_by(busy.len())
                .cloned()
                .collect();
            while let Some(i) = queue.claim(device) {
                // A panic is passed on to the caller, which would otherwise wait for this result forever.
                let result = catch_unwind(AssertUnwindSafe(|| {
                    team::with_helpers(&helpers, || device::with_gpu_access(|| work(i)))
                }));
                queue.lock().done.insert(i, result);
                queue.changed.notify_all();
            }
        };
        let pools: Vec<&[Arc<ThreadPool>]> = self
            .0
            .iter()
            .zip(&busy)
            .map(|(pools, &n)| split(pools, n).0)
            .collect();
        let mut take_all = || {
            let _stop = StopOnDrop(&queue);
            for (i, &device) in devices.iter().enumerate() {
                match queue.wait_for(i) {
                    Ok(result) => device::with_gpu_access(|| take(i, result)),
                    Err(panic) => resume_unwind(panic),
                }
                queue.lock().lanes[device].taken += 1;
                queue.changed.notify_all();
            }
        };
        device::without_gpu_access(|| spread(&pools, &drain, &mut take_all));
    }
}

/// The workers that have any of `n` pieces of work to do, and the idle ones.
fn split(pools: &[Arc<ThreadPool>], n: usize) -> (&[Arc<ThreadPool>], &[Arc<ThreadPool>]) {
    pools.split_at(pools.len().min(n))
}

/// Runs `job` on all workers, with the index of their device, and `then` on this thread.
fn spread(pools: &[&[Arc<ThreadPool>]], job: &(dyn Fn(usize) + Sync), then: &mut dyn FnMut()) {
    match pools {
        [] => then(),
        [rest @ .., last] => {
            let own = || job(rest.len());
            team::spread(last, &own, &mut || spread(rest, job, then));
        }
    }
}

/// The work of one device.
struct Lane {
    /// The indices of the device's pieces of work, in ascending order.
    indices: Vec<usize>,
    /// The largest number of results that may exist at a time.
    ahead: usize,
    /// How many of the indices workers have claimed.
    claimed: usize,
    /// How many of the results were taken.
    taken: usize,
}

/// The work of all devices, behind the queue's lock.
struct State<T> {
    lanes: Vec<Lane>,
    /// Results that are not taken yet, by index. A panic counts as a result.
    done: BTreeMap<usize, std::thread::Result<T>>,
}

/// Distributes indices to workers, and collects their results.
struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

impl<T> Queue<T> {
    fn new(lanes: Vec<Lane>) -> Self {
        let done = BTreeMap::new();
        Self {
            state: Mutex::new(State { lanes, done }),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn wait<'a>(&self, guard: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        self.changed.wait(guard).unwrap_or_else(|e| e.into_inner())
    }

    /// Claims the next index of a device, and waits if too many results exist. `None` if no index is left.
    fn claim(&self, device: usize) -> Option<usize> {
        let mut state = self.lock();
        loop {
            let lane = &mut state.lanes[device];
            let next = lane.indices.get(lane.claimed).copied()?;
            if lane.claimed < lane.taken.saturating_add(lane.ahead) {
                lane.claimed += 1;
                return Some(next);
            }
            state = self.wait(state);
        }
    }

    /// Lets workers claim no more indices.
    fn stop(&self) {
        self.lock()
            .lanes
            .iter_mut()
            .for_each(|lane| lane.indices.clear());
        self.changed.notify_all();
    }

    /// Waits for the result of an index.
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

/// Stops the queue when all results are taken, or when taking one panics. Otherwise workers would wait forever.
struct StopOnDrop<'a, T>(&'a Queue<T>);

impl<T> Drop for StopOnDrop<'_, T> {
    fn drop(&mut self) {
        self.0.stop();
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
        workers.stream(&[0; 50], 2, work, |_, i| {
            alive.fetch_sub(1, order);
            taken.push(i);
        });
        assert_eq!(taken, (0..50).collect::<Vec<_>>());
        // Those that wait, and the one that is taken.
        assert!(most.load(order) <= 7, "{} at once", most.load(order));
    }

    #[test]
    fn an_index_meets_the_workers_of_its_device() {
        let mut workers = Workers::new(2).unwrap();
        workers.add(1).unwrap();
        // Its first one last, after more of the other's than may wait.
        let mut at = vec![0; 40];
        at.extend([1, 0, 1, 1]);
        let name = |i: usize| (i, std::thread::current().name().map(str::to_owned));
        let mut taken = vec![];
        workers.stream(&at, 1, name, |i, found| taken.push((i, found)));
        assert_eq!(taken.len(), at.len());
        for (i, (found, name)) in taken {
            let name = name.unwrap();
            let expected = format!("worker-{}-", at[i]);
            assert!(found == i && name.starts_with(&expected), "{i} on {name}");
        }
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let workers = Workers::new(2).unwrap();
        let work = |i| assert!(i != 3, "third");
        let panic = catch_unwind(AssertUnwindSafe(|| workers.run(9, work)));
        assert!(panic.is_err());
        // While more results wait than may.
        let take = |i, ()| assert!(i != 3, "third");
        let all = || workers.stream(&[0; 50], 1, |_| (), take);
        assert!(catch_unwind(AssertUnwindSafe(all)).is_err());
    }

    #[test]
    fn a_worker_sees_one_thread() {
        let workers = Workers::new(2).unwrap();
        let seen = workers.run(4, |_| rayon::current_num_threads());
        assert_eq!(seen, [1, 1, 1, 1]);
    }
}
