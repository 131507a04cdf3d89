//! Several calls at the same time: objects are many, and each costs the SuperLink some milliseconds.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls of one message at the same time.
const CALLS: usize = 4;

/// Does the work for each item, in any order and on several threads, until one fails.
pub(crate) fn for_each<T: Sync, E: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let run = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(item).inspect_err(|_| next.store(items.len(), Ordering::Relaxed))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let helpers = (1..items.len().min(CALLS)).filter_map(|_| {
            // Without helpers, this thread does all of it.
            std::thread::Builder::new().spawn_scoped(scope, run).ok()
        });
        let helpers: Vec<_> = helpers.collect();
        let mut result = run();
        for helper in helpers {
            match helper.join() {
                Ok(other) => result = result.and(other),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn each_item_is_met_once() {
        for count in [0, 1, 2, 100] {
            let items: Vec<usize> = (0..count).collect();
            let met = Mutex::new(vec![]);
            let result: Result<(), ()> = for_each(&items, |item| {
                met.lock().unwrap().push(*item);
                Ok(())
            });
            result.unwrap();
            let mut met = met.into_inner().unwrap();
            met.sort_unstable();
            assert_eq!(met, items);
        }
    }

    #[test]
    fn an_error_ends_it() {
        let items: Vec<usize> = (0..1_000_000).collect();
        let met = AtomicUsize::new(0);
        let failing = AtomicBool::new(false);
        let result = for_each(&items, |item| {
            met.fetch_add(1, Ordering::Relaxed);
            if *item == 3 {
                failing.store(true, Ordering::Relaxed);
                return Err("three");
            }
            // Whoever is ahead of the thread that fails waits for it, and lets it run on to the end.
            while *item > 3 && !failing.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            std::thread::yield_now();
            Ok(())
        });
        assert_eq!(result, Err("three"));
        assert!(met.into_inner() < items.len());
    }
}
