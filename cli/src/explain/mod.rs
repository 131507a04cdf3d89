//! The subcommand `fedround explain`: an algorithm as a box, with its communication, computation and
//! privacy.

mod compute;
mod json;
mod phase_marks;
mod replays;
mod traffic;

use std::collections::BTreeSet;

use fedround::experiment::ExperimentError;
use fedround::privacy::{StatementInputs, statement};
use fedround_dsl::{Hyper, LayerField, all_fields};
use fedround_exec::{Program, Target};
use fedround_passes::fed::mechanisms;
use fedround_passes::report::explain as algorithm_box;

pub(crate) use phase_marks::marks;
#[cfg(feature = "flower")]
pub(crate) use traffic::what_crosses;

use crate::catalog::Catalog;
use crate::compile::args::ExplainArgs;
use crate::compile::pass_dump::pass_manager;
use crate::error::{CliError, at_least_one};
use crate::files::json as as_json;
use crate::settings::auxiliaries::named;
use crate::settings::dead_hypers::{NOT_USED, NOT_USED_MEANS, full_name, unused};
use crate::settings::hypers::assignments;
use crate::terminal::print;
use crate::terminal::table::{columns, wrapped};
use compute::{compute, loops};
use json::explained;
use replays::replays;
use traffic::{held_at_once, traffic, turns};

pub(crate) fn explain(catalog: &Catalog, args: &ExplainArgs) -> Result<(), CliError> {
    let found = args.delta;
    if !(found > 0.0 && found < 1.0) {
        return Err(ExperimentError::Delta { found }.into());
    }
    at_least_one("examples", args.examples as usize)?;
    let mut passes = pass_manager()?;
    let compiled = catalog.compile(&args.subject, Target::default(), &mut passes)?;
    let given = assignments(&args.subject.set)?;
    let given = (&*args.subject.spec, &*given);
    let unused = unused(&catalog.registry, given, &compiled.objective())?;
    if args.json {
        return print(&as_json(&explained(args, &compiled, &unused)?)?);
    }
    let algorithm = &compiled.algorithm;
    let model = named(&args.subject.model, &compiled.auxiliaries);
    let mut texts = vec![];
    for (phase, program) in compiled.program.phases() {
        let mut text = phase.map_or_else(String::new, |phase| format!("== {phase}\n\n"));
        text += &algorithm_box(program.linked());
        if texts.is_empty() {
            text += "\nHyper-parameters\n";
            text += &hypers(&**algorithm, &unused);
        }
        text += &traffic(args, &model, program);
        text += &held_at_once(args, program);
        text += &privacy(args, program);
        text += "\nCompute\n";
        text += &compute(program, args.examples)?;
        text += &loops(&program.looped()?, &turns(program));
        text += &replays(program);
        texts.push(text);
    }
    print(&wrapped(&texts.join("\n")))
}

/// The section on noise; nothing where there is none.
fn privacy(args: &ExplainArgs, program: &Program) -> String {
    let clients = args.subject.clients;
    let inputs = StatementInputs {
        clients,
        cohort: program.cohort_size(clients),
        examples: args.examples,
        delta: args.delta,
    };
    let mut text = statement(program.linked(), inputs);
    if text.is_empty() {
        return text;
    }
    text += "  Wire shows what crosses without noise.\n";
    let mut known = mechanisms(program.linked()).known.into_iter();
    if known.any(|mechanism| mechanism.steps.is_some()) {
        text += "  δ = 1e-2 is that of ADCOL's table.\n";
    }
    text
}

/// Names, values and docs, the outermost layer's first, with a mark on those that are not used.
fn hypers(algorithm: &dyn Hyper, unused: &BTreeSet<String>) -> String {
    let fields = all_fields(algorithm);
    let cell = |f: &LayerField| format!("{} = {}", full_name(f), f.value);
    let doc = |f: &LayerField| match unused.contains(&full_name(f)) {
        true => format!("{NOT_USED} {}", f.field.doc),
        false => f.field.doc.to_owned(),
    };
    let table = columns(fields.iter().map(|f| [cell(f), doc(f)]));
    match unused.is_empty() {
        true => table,
        false => format!("{table}  ({NOT_USED_MEANS})\n"),
    }
}
