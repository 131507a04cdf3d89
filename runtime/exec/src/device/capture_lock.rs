//! Keeps other threads from using GPUs while one thread records.
//!
//! While a CUDA stream records, no thread of the process may do anything that could wait for a
//! device, such as asking for the state of an event or allocating pinned memory: the call fails,
//! or the recording does. So every thread says when it is [`busy`] with a GPU. A thread that
//! records does so [`alone`]: it waits until no other thread is busy and the devices have finished
//! their work.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

use burn_backend::Backend;
use burn_dispatch::{Dispatch, DispatchDevice};

use super::is_cpu;

static BUSY: RwLock<()> = RwLock::new(());

/// GPUs on which this process trains.
static GPUS: Mutex<Vec<DispatchDevice>> = Mutex::new(vec![]);

enum Held {
    Busy {
        _guard: RwLockReadGuard<'static, ()>,
    },
    Alone,
}

thread_local! {
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// Notes a device on which clients train.
pub fn trains_on(device: &DispatchDevice) {
    let mut gpus = GPUS.lock().unwrap_or_else(PoisonError::into_inner);
    if !is_cpu(device) && !gpus.contains(device) {
        gpus.push(device.clone());
    }
}

fn enter() {
    let _guard = BUSY.read().unwrap_or_else(PoisonError::into_inner);
    HELD.set(Some(Held::Busy { _guard }));
}

fn leave() {
    HELD.set(None);
}

/// Runs at the end of a scope, on unwinding too.
struct After(fn());

impl Drop for After {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Does what may give a GPU work, once nobody records.
pub fn busy<T>(work: impl FnOnce() -> T) -> T {
    let _after = HELD.with_borrow(Option::is_none).then(|| {
        enter();
        After(leave)
    });
    work()
}

/// Waits for other threads, which may want to record.
pub fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    let busy = HELD.with_borrow(|held| matches!(held, Some(Held::Busy { .. })));
    let _after = busy.then(|| {
        leave();
        After(enter)
    });
    wait()
}

/// Does what no other thread may disturb by giving a GPU work.
pub(crate) fn alone<T>(work: impl FnOnce() -> T) -> T {
    waiting(|| {
        let _all = BUSY.write().unwrap_or_else(PoisonError::into_inner);
        HELD.set(Some(Held::Alone));
        let _after = After(leave);
        let gpus = GPUS.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for gpu in &gpus {
            // What others gave a device it does in order; what goes wrong there is theirs to say.
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
    fn nobody_is_busy_beside_one_that_is_alone() {
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
                        busy(|| {
                            busy(|| enter(1));
                            // Others are left in before, and again after.
                            alone(|| busy(|| enter(100)));
                            waiting(thread::yield_now);
                            enter(1);
                        });
                    }
                });
            }
        });
        let most = most.into_inner();
        assert!(most == 100, "{most}: one alone, with nobody beside it");
        assert!(HELD.with_borrow(Option::is_none));
    }

    #[test]
    fn a_panic_leaves_all_as_it_was() {
        let failed = catch_unwind(|| busy(|| alone(|| panic!("on purpose"))));
        assert!(failed.is_err());
        assert!(HELD.with_borrow(Option::is_none));
        assert_eq!(alone(|| 7), 7);
    }
}
