//! The subcommand `fedround graph`: prints or draws a program at one stage of its compilation.

use std::io::{self, IsTerminal};

use fedround_draw::{Sheet, dot, json, svg};
use fedround_exec::Program;
use fedround_ir::fed::{Module, print as fed_text, print_exact};
use fedround_passes::report::cost_table;
use fedround_passes::tensor::cost;

use super::args::{Format, GraphArgs, Stage};
use super::pass_changes;
use super::pass_dump::pass_manager;
use super::tensor_sheets::sheets;
use crate::catalog::Catalog;
use crate::drawing::{DrawingError, encode};
use crate::error::CliError;
use crate::terminal::{print, print_bytes, tell};

pub(crate) fn graph(catalog: &Catalog, args: &GraphArgs) -> Result<(), CliError> {
    if let Some(pass) = args.pass.as_ref().or(args.diff.as_ref()) {
        return pass_changes::show(catalog, args, pass, args.diff.is_some());
    }
    if let Some(picture) = args.picture() {
        picture.check()?;
        if io::stdout().is_terminal() {
            return Err(DrawingError::Terminal(picture).into());
        }
    }
    let mut manager = pass_manager()?;
    let target = args.target()?;
    let program = catalog
        .compile(&args.subject, target, &mut manager)?
        .program;
    args.report_timings(&manager);
    let drawn: Option<fn(&Program) -> &Module> = match (args.at, args.format()) {
        (Stage::Fed, Format::Svg) => Some(Program::staged),
        (Stage::Linked, Format::Svg) => Some(Program::linked),
        _ => None,
    };
    let phases = chosen(args.phase, program.phases())?;
    if let Some(module) = drawn.filter(|_| !args.costs) {
        return show(args, &drawing(&phases, module));
    }
    let mut texts = vec![];
    let first = match args.format() {
        Format::Text => 0,
        // Other formats have one document, about one phase.
        _ => phases.len().saturating_sub(1),
    };
    if first > 0 {
        let all = numbered(&phases).join("; ");
        tell!("note: this is the last phase alone; --phase N chooses another: {all}");
    }
    for (phase, program) in phases.into_iter().skip(first) {
        let header = match args.format() {
            Format::Text => phase.map_or_else(String::new, |phase| format!("// {phase}\n")),
            _ => String::new(),
        };
        texts.push(header + one(args, program)?.trim_end());
    }
    show(args, &(texts.join("\n\n") + "\n"))
}

/// Prints a text, or what a drawing is converted to.
fn show(args: &GraphArgs, text: &str) -> Result<(), CliError> {
    match args.picture() {
        Some(picture) => print_bytes(&encode(text, picture)?),
        None => print(text),
    }
}

/// A phase of a program, as [`Program::phases`] lists them.
type PhaseOf<'p> = (Option<String>, &'p Program);

/// The phase of a number, or all.
fn chosen(number: Option<usize>, mut phases: Vec<PhaseOf>) -> Result<Vec<PhaseOf>, CliError> {
    match number {
        None => Ok(phases),
        Some(number) if (1..=phases.len()).contains(&number) => {
            Ok(vec![phases.swap_remove(number - 1)])
        }
        Some(found) => Err(CliError::NoPhase {
            found,
            phases: numbered(&phases),
        }),
    }
}

/// The numbers of phases, and what they are.
fn numbered(phases: &[PhaseOf]) -> Vec<String> {
    let phases = phases.iter().enumerate();
    let one = |(i, (title, _)): (usize, &PhaseOf)| {
        let title = title.as_deref().unwrap_or("all rounds");
        format!("{}, {title}", i + 1)
    };
    phases.map(one).collect()
}

/// Phases on one page.
fn drawing(phases: &[PhaseOf], module: fn(&Program) -> &Module) -> String {
    let phases = phases.iter().map(|(title, program)| svg::Phase {
        title: title.as_deref(),
        module: module(program),
        parameters: Some(*program),
    });
    svg::phases(&phases.collect::<Vec<_>>())
}

/// The graph of one phase.
fn one(args: &GraphArgs, program: &Program) -> Result<String, CliError> {
    let batch = program.batch_size();
    Ok(if args.costs && args.json {
        graphs(&sheets(program, batch, false)?, Format::Json)?
    } else if args.costs {
        costs(program)?
    } else {
        match (args.at, args.format()) {
            (Stage::Fed, Format::Text) if args.exact => print_exact(program.staged()),
            (Stage::Linked, Format::Text) if args.exact => print_exact(program.linked()),
            (Stage::Tensor, Format::Text) if args.exact => program.exact_tensor_text(batch)?,
            (Stage::Tensor, Format::Text) => program.tensor_text(batch)?,
            (Stage::Plan, Format::Text) => program.plan_text(batch)?,
            (Stage::Parties, Format::Text) => program.parties()?.to_string(),
            (Stage::Parties, _) => return Err(CliError::PartiesFormat),
            (Stage::Fused, Format::Text) => program.fused_text(batch)?,
            (Stage::Fused, _) => return Err(CliError::FusedFormat),
            (Stage::Fed, format) => module(program.staged(), program, format)?,
            (Stage::Linked, format) => module(program.linked(), program, format)?,
            (Stage::Tensor, format) => graphs(&sheets(program, batch, false)?, format)?,
            (Stage::Plan, format) => graphs(&sheets(program, batch, true)?, format)?,
        }
    })
}

fn module(module: &Module, program: &Program, format: Format) -> Result<String, CliError> {
    Ok(match format {
        Format::Text => fed_text(module),
        Format::Dot => dot::module(module),
        Format::Svg | Format::Png | Format::Pdf => svg::module(module, Some(program)),
        Format::Json => serde_json::to_string_pretty(&json::module(module))?,
    })
}

fn graphs(sheets: &[Sheet], format: Format) -> Result<String, CliError> {
    Ok(match format {
        Format::Dot => dot::sheets(sheets),
        Format::Svg | Format::Png | Format::Pdf => svg::sheets(sheets),
        Format::Text | Format::Json => serde_json::to_string_pretty(&json::sheets(sheets))?,
    })
}

/// The cost of each op of each segment.
fn costs(program: &Program) -> Result<String, CliError> {
    let graphs = program.graphs(program.batch_size())?;
    let tables = graphs
        .iter()
        .enumerate()
        .map(|(i, graph)| cost_table(&program.segment_name(i), graph, &cost(graph)));
    Ok(tables.collect::<Vec<_>>().join("\n"))
}
