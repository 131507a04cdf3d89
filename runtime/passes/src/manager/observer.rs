//! Events that a pass manager sends to an observer for each pass.

use std::fmt;
use std::sync::Arc;

use super::Ir;

/// A pass that has run.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The pass.
    pub pass: &'static str,
    /// The program before it.
    pub before: Ir<'a>,
    /// The program after it, which is not verified yet.
    pub after: Ir<'a>,
    /// Whether the pass says that it changed anything.
    pub changed: bool,
}

/// What an observer is shown.
#[derive(Clone, Copy, Debug)]
pub enum PassEvent<'a> {
    /// A pass is about to run on a program.
    Starts(&'static str, Ir<'a>),
    /// A pass has run.
    Ran(Run<'a>),
}

/// A function that is shown every pass before and after it runs. Programs also compile on the worker
/// threads of a simulation, which is why it can be shared between threads.
#[derive(Clone)]
pub struct PassObserver(Arc<dyn Fn(PassEvent<'_>) + Send + Sync>);

impl PassObserver {
    /// Wraps a function.
    pub fn new(observe: impl Fn(PassEvent<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(observe))
    }

    /// Calls the function.
    pub fn show(&self, event: PassEvent<'_>) {
        (self.0)(event);
    }
}

impl fmt::Debug for PassObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PassObserver")
    }
}
