//! `fedround graph --pass` and `--diff`: one pass of the compilation, looked at.

use fedround_ir::fed::Module;
use fedround_ir::tensor::Graph;
use fedround_passes::{Ir, PassManager, Program, Request, RequestError, Run};

use crate::args::{GraphArgs, Stage};
use crate::catalog::Catalog;
use crate::diff::unified;
use crate::error::CliError;
use crate::output::print;

/// The run of a pass that is shown for one program: the first that changed it, or else the first.
struct Seen {
    name: String,
    before: String,
    after: String,
    changed: bool,
}

/// Prints the program after a pass, or what the pass changes.
pub(crate) fn show(
    catalog: &Catalog,
    args: &GraphArgs,
    pass: &str,
    diff: bool,
) -> Result<(), CliError> {
    let dialect = dialect(pass, args.at)?;
    let mut seen: Vec<Seen> = vec![];
    let mut ran: Vec<&'static str> = vec![];
    let mut manager = PassManager::from_env()?.observed(|run| {
        let here = match run.after {
            Ir::Fed(_) => Module::DIALECT,
            Ir::Tensor(..) => Graph::DIALECT,
        };
        if here != dialect {
            return;
        }
        if !ran.contains(&run.pass) {
            ran.push(run.pass);
        }
        if run.pass == pass {
            keep(&mut seen, run);
        }
    });
    catalog.compile(&args.subject, args.target()?, &mut manager)?;
    args.report_timings(&manager);
    drop(manager);
    if seen.is_empty() {
        return Err(CliError::NotRun {
            pass: pass.to_owned(),
            ran: ran.join(", "),
        });
    }
    let text = |seen: &Seen| match diff {
        true => unified(pass, &seen.before, &seen.after),
        false => seen.after.clone(),
    };
    print(&seen.iter().map(text).collect::<Vec<_>>().join("\n"))
}

fn keep(seen: &mut Vec<Seen>, run: Run) {
    let new = |run: &Run| Seen {
        name: run.after.name().to_owned(),
        before: run.before.text(),
        after: run.after.text(),
        changed: run.changed,
    };
    match seen.iter_mut().find(|s| s.name == run.after.name()) {
        None => seen.push(new(&run)),
        Some(old) if run.changed && !old.changed => *old = new(&run),
        Some(_) => {}
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
