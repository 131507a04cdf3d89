//! A thread that tells the SuperLink again and again that its process lives.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::error::FlowerError;
use crate::http::CallError;

/// After a beat that failed, the next one comes this soon.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Beats until it is dropped. Dropping does not wait for a beat that is on its way.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    stop: bool,
    /// The SuperLink does not know the caller any more, or refuses it.
    lost: Option<String>,
}

impl Shared {
    /// A thread that panicked leaves a state that is as good as before.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Heartbeat {
    /// Beats every `interval`, from one interval after now. `beat` says whether the SuperLink
    /// still knows the caller.
    pub(crate) fn start(
        name: &str,
        interval: Duration,
        beat: impl Fn() -> Result<bool, CallError> + Send + 'static,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || run(&of_thread, interval, &beat))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Fails if the SuperLink does not accept this caller any more.
    pub(crate) fn check(&self) -> Result<(), FlowerError> {
        match self.lost() {
            Some(problem) => Err(FlowerError::Lost { problem }),
            None => Ok(()),
        }
    }

    /// Why the SuperLink does not accept this caller any more, if it does not.
    fn lost(&self) -> Option<String> {
        self.shared.state().lost.clone()
    }

    /// Ends it, and waits for a beat that is on its way.
    pub(crate) fn stop(&mut self) {
        self.shared.state().stop = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread ended the beats, too.
            let _ = thread.join();
        }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.shared.state().stop = true;
        self.shared.changed.notify_all();
    }
}

fn run(shared: &Shared, interval: Duration, beat: &dyn Fn() -> Result<bool, CallError>) {
    let mut wait = interval;
    loop {
        let state = shared.state();
        let waited = shared
            .changed
            .wait_timeout_while(state, wait, |state| !state.stop);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.stop {
            return;
        }
        drop(state);
        let lost = match beat() {
            Ok(true) => None,
            Ok(false) => Some("it does not know this process any more".to_owned()),
            Err(error @ CallError::Refused { status: ..500, .. }) => Some(error.to_string()),
            Err(_) => {
                // Away for now, or failing on its own: the next call of the owner says so, if it
                // lasts.
                wait = AFTER_FAILURE.min(interval);
                continue;
            }
        };
        wait = interval;
        if lost.is_some() {
            shared.state().lost = lost;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{Reason, Refusal};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Gives the number of beats, too. `answer` is given the number of beats before.
    fn beating(
        answer: impl Fn(usize) -> Result<bool, CallError> + Send + 'static,
    ) -> (Heartbeat, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let beat = move || answer(counted.fetch_add(1, Ordering::Relaxed));
        let heartbeat = Heartbeat::start("test", Duration::from_millis(2), beat);
        (heartbeat.unwrap(), count)
    }

    fn refused(status: u16) -> CallError {
        let refusal = Refusal {
            reason: Reason::Other,
            code: None,
            detail: "Internal server error".to_owned(),
        };
        CallError::Refused {
            method: "fleet/send-node-heartbeat".to_owned(),
            status,
            refusal,
        }
    }

    fn wait_until(done: impl Fn() -> bool) {
        let mut backoff = crate::http::Backoff::new(
            Duration::from_millis(1),
            Duration::from_millis(10),
            Duration::from_secs(20),
        );
        while !done() {
            assert!(backoff.wait(), "it did not happen in 20 s");
        }
    }

    #[test]
    fn it_beats_until_it_is_stopped() {
        let (mut heartbeat, count) = beating(|_| Ok(true));
        wait_until(|| count.load(Ordering::Relaxed) >= 3);
        assert_eq!(heartbeat.lost(), None);
        heartbeat.stop();
        let end = count.load(Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(count.load(Ordering::Relaxed), end);
    }

    #[test]
    fn it_ends_when_the_superlink_forgets_its_caller() {
        let (heartbeat, count) = beating(|_| Ok(false));
        wait_until(|| heartbeat.lost().is_some());
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn it_goes_on_after_failures_of_the_superlink_s_own() {
        let (heartbeat, count) = beating(|beats| match beats {
            ..3 => Err(refused(500)),
            _ => Ok(true),
        });
        wait_until(|| count.load(Ordering::Relaxed) >= 5);
        assert_eq!(heartbeat.lost(), None);
    }

    #[test]
    fn it_ends_when_its_caller_is_refused() {
        let (heartbeat, count) = beating(|_| Err(refused(401)));
        wait_until(|| heartbeat.lost().is_some());
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }
}
