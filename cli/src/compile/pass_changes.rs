//! `fedround graph --pass` and `--diff`: one pass of the compilation, looked at.

use std::sync::{Arc, Mutex, PoisonError};

use fedround_ir::fed::Module;
use fedround_ir::tensor::Graph;
use fedround_passes::{
    Ir, PassEvent, PassManager, PassObserver, PassTarget, Request, RequestError, Run,
};

use super::args::{GraphArgs, Stage};
use super::pass_diff::unified;
use super::pass_dump::observer;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::terminal::print;

/// The run of a pass that is shown for one program: the first that changed it, or else the first.
struct Shown {
    name: String,
    before: String,
    after: String,
    changed: bool,
}

/// The runs of one pass, and the names of all passes of its dialect that ran.
#[derive(Default)]
struct Record {
    runs: Vec<Shown>,
    ran: Vec<&'static str>,
}

/// Prints the program after a pass, or what the pass changes.
pub(crate) fn show(
    catalog: &Catalog,
    args: &GraphArgs,
    pass: &str,
    diff: bool,
) -> Result<(), CliError> {
    let dialect = dialect(pass, args.at)?;
    let record = Arc::new(Mutex::new(Record::default()));
    let (shared, wanted, dump) = (Arc::clone(&record), pass.to_owned(), observer()?);
    let observer = PassObserver::new(move |event| {
        if let Some(dump) = &dump {
            dump.show(event);
        }
        if let PassEvent::Ran(run) = event {
            let mut record = shared.lock().unwrap_or_else(PoisonError::into_inner);
            record.add(run, dialect, &wanted);
        }
    });
    let mut manager = PassManager::observed_by(Some(observer));
    catalog.compile(&args.subject, args.target()?, &mut manager)?;
    args.report_timings(&manager);
    let record = record.lock().unwrap_or_else(PoisonError::into_inner);
    if record.runs.is_empty() {
        return Err(CliError::NotRun {
            pass: pass.to_owned(),
            ran: record.ran.join(", "),
        });
    }
    let text = |run: &Shown| match diff {
        true => unified(pass, &run.before, &run.after),
        false => run.after.clone(),
    };
    print(&record.runs.iter().map(text).collect::<Vec<_>>().join("\n"))
}

impl Record {
    fn add(&mut self, run: Run, dialect: &str, pass: &str) {
        let here = match run.after {
            Ir::Fed(_) => Module::DIALECT,
            Ir::Tensor(..) => Graph::DIALECT,
        };
        if here != dialect {
            return;
        }
        if !self.ran.contains(&run.pass) {
            self.ran.push(run.pass);
        }
        if run.pass == pass {
            self.keep(run);
        }
    }

    fn keep(&mut self, run: Run) {
        let new = |run: &Run| Shown {
            name: run.after.name().to_owned(),
            before: run.before.text(),
            after: run.after.text(),
            changed: run.changed,
        };
        let name = run.after.name();
        match self.runs.iter_mut().find(|known| known.name == name) {
            None => self.runs.push(new(&run)),
            Some(old) if run.changed && !old.changed => *old = new(&run),
            Some(_) => {}
        }
    }
}

/// The dialect of a pass. Both have some; the stage decides.
fn dialect(pass: &str, at: Stage) -> Result<&'static str, RequestError> {
    let fed = Module::passes().iter().any(|known| known.name == pass);
    let tensor = Graph::passes().iter().any(|known| known.name == pass);
    let late = matches!(at, Stage::Tensor | Stage::Plan | Stage::Fused);
    match (fed, tensor) {
        (true, false) => Ok(Module::DIALECT),
        (false, true) => Ok(Graph::DIALECT),
        (true, true) if late => Ok(Graph::DIALECT),
        (true, true) => Ok(Module::DIALECT),
        (false, false) if late => Request::<Graph>::named(pass).map(|_| Graph::DIALECT),
        (false, false) => Request::<Module>::named(pass).map(|_| Module::DIALECT),
    }
}
