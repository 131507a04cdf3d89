//! Passes by name, and the manager that runs, verifies and times them.

mod observer;
mod pass;
mod request;
mod timing;

use std::time::{Duration, Instant};

pub use observer::{PassEvent, PassObserver, Run};
pub use pass::{Ir, Pass, PassTarget};
pub use request::Request;
pub use timing::{Timing, timing_table};

use crate::error::PassError;

/// Runs passes, verifies the program after each of them and adds up their times.
#[derive(Debug, Default)]
pub struct PassManager {
    timings: Vec<Timing>,
    observer: Option<PassObserver>,
}

impl PassManager {
    /// A manager without an observer.
    pub fn new() -> Self {
        Self::default()
    }

    /// A manager that shows each pass to an observer, if there is one.
    pub fn observed_by(observer: Option<PassObserver>) -> Self {
        Self {
            observer,
            ..Self::default()
        }
    }

    /// The observer.
    pub fn observer(&self) -> Option<&PassObserver> {
        self.observer.as_ref()
    }

    /// Runs a pass on a program. Returns whether anything changed. A graph has no name of its own; an
    /// observer sees it as `name`.
    ///
    /// # Errors
    ///
    /// The pass fails, or leaves a program that breaks a rule of its dialect.
    pub fn run<P: PassTarget>(
        &mut self,
        request: &Request<P>,
        name: &str,
        program: &mut P,
    ) -> Result<bool, PassError> {
        self.apply(request.pass.name, name, program, |program| {
            request.run(program)
        })
    }

    /// Runs passes by name, one after another. Returns whether any of them changed anything.
    pub(crate) fn run_all<P: PassTarget>(
        &mut self,
        passes: &[&str],
        name: &str,
        program: &mut P,
    ) -> Result<bool, PassError> {
        let mut changed = false;
        for pass in passes {
            changed |= self.run(&Request::named(pass)?, name, program)?;
        }
        Ok(changed)
    }

    /// Runs passes by name, again and again until none of them changes anything. Returns whether any did.
    pub(crate) fn run_in_turns<P: PassTarget>(
        &mut self,
        passes: &[&str],
        name: &str,
        program: &mut P,
    ) -> Result<bool, PassError> {
        let mut changed = false;
        while self.run_all(passes, name, program)? {
            changed = true;
        }
        Ok(changed)
    }

    /// As [`run`](Self::run), for a pass whose work is a closure of the caller.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn apply<P: PassTarget>(
        &mut self,
        pass: &'static str,
        name: &str,
        program: &mut P,
        work: impl FnOnce(&mut P) -> Result<bool, PassError>,
    ) -> Result<bool, PassError> {
        let before = self.observer.is_some().then(|| program.clone());
        if let Some(observer) = &self.observer {
            observer.show(PassEvent::Starts(pass, program.ir(name)));
        }
        let start = Instant::now();
        let changed = work(program);
        let timing = self.add(P::DIALECT, pass, start.elapsed());
        let changed = changed?;
        timing.changed += usize::from(changed);
        if let (Some(observer), Some(before)) = (&self.observer, before) {
            observer.show(PassEvent::Ran(Run {
                pass,
                before: before.ir(name),
                after: program.ir(name),
                changed,
            }));
        }
        program.check(format!("after {pass}"))?;
        Ok(changed)
    }

    /// Runs a step of compilation and adds its time to the timings. Returns what the step returns.
    pub fn time<T>(
        &mut self,
        dialect: &'static str,
        step: &'static str,
        work: impl FnOnce() -> T,
    ) -> T {
        let start = Instant::now();
        let result = work();
        self.add(dialect, step, start.elapsed());
        result
    }

    fn add(&mut self, dialect: &'static str, step: &'static str, wall: Duration) -> &mut Timing {
        let same = |timing: &Timing| timing.dialect == dialect && timing.step == step;
        let known = self.timings.iter().position(same);
        let index = known.unwrap_or_else(|| {
            self.timings.push(Timing::new(dialect, step));
            self.timings.len() - 1
        });
        let timing = &mut self.timings[index];
        timing.runs += 1;
        timing.wall += wall;
        timing
    }

    /// The time and the number of runs of each pass, in the order of their first run.
    pub fn timings(&self) -> Vec<Timing> {
        self.timings.clone()
    }
}

#[cfg(test)]
mod tests;
