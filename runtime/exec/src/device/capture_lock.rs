//! Keeps other threads from using GPUs while one thread captures a graph.
//!
//! While a CUDA stream captures, no thread of the process may make a call that could wait for a device, such
//! as asking for the state of an event or allocating pinned memory: that call fails, or the capture does.
//!
//! Access to the GPUs is therefore guarded by a lock for the whole process, which readers share. Every thread
//! holds it shared while it may use a GPU ([`with_gpu_access`]). A thread that captures holds it exclusively
//! ([`with_exclusive_gpu_access`]): it waits until no other thread has access and the devices have finished
//! their work. A thread that waits for other threads gives up its access meanwhile ([`without_gpu_access`]),
//! because one of them may want to capture.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

use burn_backend::Backend;
use burn_dispatch::{Dispatch, DispatchDevice};

use super::is_cpu;

static GPU_ACCESS: RwLock<()> = RwLock::new(());

/// The GPUs on which this process trains.
static GPUS: Mutex<Vec<DispatchDevice>> = Mutex::new(vec![]);

/// The access that a thread holds.
enum Access {
    Shared {
        _guard: RwLockReadGuard<'static, ()>,
    },
    Exclusive,
}

thread_local! {
    /// The access of this thread; `None` if it has none.
    static ACCESS: RefCell<Option<Access>> = const { RefCell::new(None) };
}

/// Notes a GPU on which clients train. A capture waits for the work of these GPUs.
pub fn register_training_device(device: &DispatchDevice) {
    let mut gpus = GPUS.lock().unwrap_or_else(PoisonError::into_inner);
    if !is_cpu(device) && !gpus.contains(device) {
        gpus.push(device.clone());
    }
}

fn acquire() {
    let _guard = GPU_ACCESS.read().unwrap_or_else(PoisonError::into_inner);
    ACCESS.set(Some(Access::Shared { _guard }));
}

fn release() {
    ACCESS.set(None);
}

/// Calls a function at the end of a scope, also when a panic unwinds it.
struct OnDrop(fn());

impl Drop for OnDrop {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Runs `work`, which may use a GPU. Waits first while another thread captures.
pub fn with_gpu_access<T>(work: impl FnOnce() -> T) -> T {
    let _release = ACCESS.with_borrow(Option::is_none).then(|| {
        acquire();
        OnDrop(release)
    });
    work()
}

/// Runs `wait`, which waits for other threads and uses no GPU. The thread gives up its shared access meanwhile.
pub fn without_gpu_access<T>(wait: impl FnOnce() -> T) -> T {
    let shared = ACCESS.with_borrow(|access| matches!(access, Some(Access::Shared { .. })));
    let _acquire = shared.then(|| {
        release();
        OnDrop(acquire)
    });
    wait()
}

/// Runs `work` while no other thread uses a GPU and the GPUs have finished their work.
pub(crate) fn with_exclusive_gpu_access<T>(work: impl FnOnce() -> T) -> T {
    without_gpu_access(|| {
        let _exclusive = GPU_ACCESS.write().unwrap_or_else(PoisonError::into_inner);
        ACCESS.set(Some(Access::Exclusive));
        let _release = OnDrop(release);
        let gpus = GPUS.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for gpu in &gpus {
            // An error here belongs to work of another thread, which will see it at its own next read.
            _ = Dispatch::sync(gpu);
        }
        work()
    })
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn exclusive_access_excludes_all_other_threads() {
        // Exclusive access weighs 100 and shared access 1.
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let enter = |weight| {
            let inside = now.fetch_add(weight, Ordering::SeqCst) + weight;
            most.fetch_max(inside, Ordering::SeqCst);
            thread::yield_now();
            now.fetch_sub(weight, Ordering::SeqCst);
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        with_gpu_access(|| {
                            with_gpu_access(|| enter(1));
                            // The shared access is given up before, and acquired again after.
                            with_exclusive_gpu_access(|| with_gpu_access(|| enter(100)));
                            without_gpu_access(thread::yield_now);
                            enter(1);
                        });
                    }
                });
            }
        });
        let most = most.into_inner();
        assert!(most == 100, "{most}: exclusive access was shared");
        assert!(ACCESS.with_borrow(Option::is_none));
    }

    #[test]
    fn a_panic_releases_the_access() {
        let failed =
            catch_unwind(|| with_gpu_access(|| with_exclusive_gpu_access(|| panic!("on purpose"))));
        assert!(failed.is_err());
        assert!(ACCESS.with_borrow(Option::is_none));
        assert_eq!(with_exclusive_gpu_access(|| 7), 7);
    }
}
