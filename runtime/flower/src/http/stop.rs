//! Whether a process was asked to end.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often somebody who waits looks whether the process is to end.
const LOOK: Duration = Duration::from_millis(100);
/// How long a call is tried again after that.
const GRACE: Duration = Duration::from_secs(2);

/// Says whether this process was asked to end, for instance by Ctrl-C. Nobody waits long for a SuperLink
/// that is away then.
#[derive(Clone)]
pub struct StopSignal(Arc<dyn Fn() -> bool + Send + Sync>);

impl StopSignal {
    /// A signal that asks this function.
    pub fn new(requested: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(requested))
    }

    /// Whether the process is to end.
    pub fn requested(&self) -> bool {
        (self.0)()
    }

    /// Sleeps for `time`, or until the process is asked to end.
    pub(crate) fn sleep(&self, time: Duration) {
        let start = Instant::now();
        loop {
            let left = time.saturating_sub(start.elapsed());
            if left.is_zero() || self.requested() {
                return;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }
}

impl Default for StopSignal {
    /// Nobody asks.
    fn default() -> Self {
        Self::new(|| false)
    }
}

impl fmt::Debug for StopSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StopSignal({})", self.requested())
    }
}

/// The tries of one call.
#[derive(Debug)]
pub(crate) struct Patience<'a> {
    stop: &'a StopSignal,
    /// Since when the process is to end.
    asked: Option<Instant>,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(stop: &'a StopSignal) -> Self {
        Self { stop, asked: None }
    }

    /// Waits for the next try; `false` if there is to be none. A few more follow after a stop: what the
    /// process still has to say should arrive, if the SuperLink is only busy.
    pub(crate) fn wait(&mut self, time: Duration) -> bool {
        match self.asked {
            None => self.stop.sleep(time),
            Some(_) => std::thread::sleep(time.min(GRACE / 10)),
        }
        if self.stop.requested() {
            let asked = self.asked.get_or_insert_with(Instant::now);
            return asked.elapsed() < GRACE;
        }
        true
    }
}
