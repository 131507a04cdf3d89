//! `FEDROUND_IR`: programs on stderr as passes change them.

use std::env;

use fedround_ir::fed::Module;
use fedround_ir::tensor::Graph;
use fedround_names::nearest;
use fedround_passes::{PassEvent, PassManager, PassObserver, PassTarget};

use crate::error::CliError;

/// The environment variable.
const VARIABLE: &str = "FEDROUND_IR";

/// Which programs are printed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Dump {
    Before,
    After,
    /// Before and after one pass.
    Around(String),
}

/// An observer that prints what `FEDROUND_IR` asks for; none where it is not set.
pub(crate) fn observer() -> Result<Option<PassObserver>, CliError> {
    let asked = parse(&env::var(VARIABLE).unwrap_or_default())?;
    Ok(asked.map(|dump| PassObserver::new(move |event| show(&dump, event))))
}

/// A pass manager with that observer.
pub(crate) fn pass_manager() -> Result<PassManager, CliError> {
    Ok(PassManager::observed_by(observer()?))
}

fn parse(value: &str) -> Result<Option<Dump>, CliError> {
    let fed = Module::passes().iter().map(|pass| pass.name);
    let tensor = Graph::passes().iter().map(|pass| pass.name);
    match value {
        "" => Ok(None),
        "before" => Ok(Some(Dump::Before)),
        "after" => Ok(Some(Dump::After)),
        pass if fed.clone().chain(tensor.clone()).any(|known| known == pass) => {
            Ok(Some(Dump::Around(pass.to_owned())))
        }
        other => {
            let words = ["before", "after"].into_iter().chain(fed).chain(tensor);
            Err(CliError::PassDump {
                variable: VARIABLE,
                found: other.to_owned(),
                nearest: nearest(other, words),
            })
        }
    }
}

fn show(dump: &Dump, event: PassEvent<'_>) {
    let (ran, pass, ir) = match event {
        PassEvent::Starts(pass, ir) => (false, pass, ir),
        PassEvent::Ran(run) => (true, run.pass, run.after),
    };
    let asked = match dump {
        Dump::Before => !ran,
        Dump::After => ran,
        Dump::Around(only) => only == pass,
    };
    if asked {
        let when = if ran { "after" } else { "before" };
        // One call, so that threads do not mix their texts.
        eprint!("// {when} {pass}: {}\n{}\n", ir.name(), ir.text());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_asks_for_dumps() {
        assert_eq!(parse("").unwrap(), None);
        assert_eq!(parse("after").unwrap(), Some(Dump::After));
        assert_eq!(parse("fuse").unwrap(), Some(Dump::Around("fuse".into())));
        let error = parse("link-hook").unwrap_err().to_string();
        assert!(error.contains("did you mean `link-hooks`?"), "{error}");
    }
}
