//! Passes by name, and the manager that runs, verifies, times and shows them.
//!
//! `FEDROUND_IR` prints programs to stderr as they are compiled: `before` or `after` every pass, or
//! both around the pass that it names.

mod pass;
mod request;
mod timing;

use std::time::{Duration, Instant};

use fedround_ir::fed::Module;
use fedround_ir::tensor::Graph;

pub use pass::{Ir, Pass, Program};
pub use request::Request;
pub use timing::{Timing, timing_table};

use crate::error::{DUMP_VARIABLE, PassError, RequestError};

/// One run of a pass.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The pass.
    pub pass: &'static str,
    /// The program before it.
    pub before: Ir<'a>,
    /// The program after it.
    pub after: Ir<'a>,
    /// Whether the pass says that it changed anything.
    pub changed: bool,
}

/// Sees each run of a pass.
type Observer<'o> = Box<dyn FnMut(Run) + 'o>;

/// What is printed to stderr on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Dump {
    #[default]
    Nothing,
    Before,
    After,
    Around(String),
}

/// Runs passes: verifies the program after each, keeps their times, dumps what `FEDROUND_IR` asks
/// for and shows each run to an observer.
#[derive(Default)]
pub struct PassManager<'o> {
    dump: Dump,
    timings: Vec<Timing>,
    observer: Option<Observer<'o>>,
}

impl std::fmt::Debug for PassManager<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PassManager")
            .field("dump", &self.dump)
            .field("timings", &self.timings)
            .finish_non_exhaustive()
    }
}

impl<'o> PassManager<'o> {
    /// A manager that prints nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A manager that prints what `FEDROUND_IR` says.
    ///
    /// # Errors
    ///
    /// The variable names no pass.
    pub fn from_env() -> Result<Self, PassError> {
        let value = std::env::var(DUMP_VARIABLE).unwrap_or_default();
        let mut manager = Self::new();
        manager.dump = dump(&value).map_err(PassError::Dump)?;
        Ok(manager)
    }

    /// Shows each run of a pass to `observer`, after it.
    #[must_use]
    pub fn observed(mut self, observer: impl FnMut(Run) + 'o) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Runs a pass on a program, of this name if it is a graph; gives whether anything changed.
    ///
    /// # Errors
    ///
    /// The pass fails, or leaves a program that breaks a rule of its dialect.
    pub fn run<P: Program>(
        &mut self,
        request: &Request<P>,
        name: &str,
        program: &mut P,
    ) -> Result<bool, PassError> {
        self.apply(request.pass.name, name, program, |program| {
            request.run(program)
        })
    }

    /// [`PassManager::run`] of a pass whose arguments the caller knows.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn apply<P: Program>(
        &mut self,
        pass: &'static str,
        name: &str,
        program: &mut P,
        work: impl FnOnce(&mut P) -> Result<bool, PassError>,
    ) -> Result<bool, PassError> {
        let before = self.observer.is_some().then(|| program.clone());
        let named = matches!(&self.dump, Dump::Around(only) if only == pass);
        if named || self.dump == Dump::Before {
            show("before", pass, program.ir(name));
        }
        let changed = self.time(P::DIALECT, pass, || work(program))?;
        if let Some(timing) = self.timings.last_mut().filter(|_| changed) {
            timing.changed += 1;
        }
        if named || self.dump == Dump::After {
            show("after", pass, program.ir(name));
        }
        program.check(format!("after {pass}"))?;
        if let (Some(observer), Some(before)) = (&mut self.observer, before) {
            observer(Run {
                pass,
                before: before.ir(name),
                after: program.ir(name),
                changed,
            });
        }
        Ok(changed)
    }

    /// Does some work under the clock; gives what it gives.
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

    fn add(&mut self, dialect: &'static str, step: &'static str, wall: Duration) {
        let same = |timing: &Timing| timing.dialect == dialect && timing.step == step;
        let index = self.timings.iter().position(same);
        let mut timing = match index {
            Some(index) => self.timings.remove(index),
            None => Timing::new(dialect, step, self.timings.len()),
        };
        timing.runs += 1;
        timing.wall += wall;
        self.timings.push(timing);
    }

    /// Time and number of runs of each pass, in the order of their first run.
    pub fn timings(&self) -> Vec<Timing> {
        let mut timings = self.timings.clone();
        timings.sort_by_key(|timing| timing.order);
        timings
    }
}

/// What a value of `FEDROUND_IR` asks for.
fn dump(value: &str) -> Result<Dump, RequestError> {
    let fed = Module::passes().iter().map(|pass| pass.name);
    let mut names: Vec<&'static str> = fed.collect();
    for pass in Graph::passes() {
        if !names.contains(&pass.name) {
            names.push(pass.name);
        }
    }
    match value {
        "" => Ok(Dump::Nothing),
        "before" => Ok(Dump::Before),
        "after" => Ok(Dump::After),
        pass if names.contains(&pass) => Ok(Dump::Around(pass.to_owned())),
        other => {
            names.splice(0..0, ["before", "after"]);
            Err(RequestError::unknown(other, "fed or tensor", names))
        }
    }
}

fn show(when: &str, pass: &str, ir: Ir) {
    // One call, so that threads do not mix their texts.
    eprint!("// {when} {pass}: {}\n{}\n", ir.name(), ir.text());
}

#[cfg(test)]
mod tests;
