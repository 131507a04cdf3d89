//! The subcommand `fedround opt`: runs chosen passes on the text of a program.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use fedround_ir::fed::{Module, print_exact};
use fedround_ir::tensor::Graph;
use fedround_ir::text::{Document, TENSOR_VERSION, parse_sections};
use fedround_passes::{Pass, PassManager, PassTarget, Request, timing_table};
use serde_json::Value;

use super::args::OptArgs;
use super::pass_dump::pass_manager;
use crate::error::CliError;
use crate::files::json;
use crate::terminal::table::columns;
use crate::terminal::{print, tell};

pub(crate) fn opt(args: &OptArgs) -> Result<(), CliError> {
    let (Some(file), false) = (&args.file, args.list) else {
        return match args.json {
            true => print(&json(&[dialect::<Module>(), dialect::<Graph>()])?),
            false => print(&(list::<Module>() + &list::<Graph>())),
        };
    };
    let text = read(file)?;
    let sections = parse_sections(&text).map_err(|source| CliError::Text {
        path: file.clone(),
        source: Box::new(source),
    })?;
    let mut manager = pass_manager()?;
    let mut texts = Vec::new();
    for section in sections {
        let text = optimised(&mut manager, &args.passes, section.document)?;
        texts.push(section.title + text.trim_end());
    }
    if args.timings {
        tell!("{}", timing_table(&manager.timings()).trim_end());
    }
    print(&(texts.join("\n\n") + "\n"))
}

/// A document's text after some passes.
fn optimised(
    manager: &mut PassManager,
    passes: &str,
    document: Document,
) -> Result<String, CliError> {
    Ok(match document {
        Document::Fed(mut module) => {
            let name = module.name().to_owned();
            run(manager, passes, &name, &mut module)?;
            print_exact(&module)
        }
        Document::Tensor(graphs) => {
            let mut texts = Vec::new();
            for (name, mut graph) in graphs {
                run(manager, passes, &name, &mut graph)?;
                texts.push(graph.exact_text(&name));
            }
            format!("// fedround tensor v{TENSOR_VERSION}\n{}", texts.join("\n"))
        }
    })
}

fn run<P: PassTarget>(
    manager: &mut PassManager,
    passes: &str,
    name: &str,
    program: &mut P,
) -> Result<(), CliError> {
    for request in Request::list(passes)? {
        manager.run(&request, name, program)?;
    }
    Ok(())
}

/// A file's text, or stdin's for `-`.
fn read(file: &Path) -> Result<String, CliError> {
    if file != Path::new("-") {
        return fs::read_to_string(file).map_err(CliError::io("read", file));
    }
    let mut text = String::new();
    let stdin = io::stdin().read_to_string(&mut text);
    stdin.map_err(CliError::io("read", file))?;
    Ok(text)
}

/// The passes of a dialect for other programs.
fn dialect<P: PassTarget>() -> Value {
    let passes = P::passes().iter().map(|pass| {
        serde_json::json!({
            "name": pass.name,
            "takes_number": pass.number.is_some(),
            "doc": pass.about,
        })
    });
    serde_json::json!({ "dialect": P::DIALECT, "passes": passes.collect::<Vec<_>>() })
}

/// The passes of a dialect.
fn list<P: PassTarget>() -> String {
    let name = |pass: &Pass<P>| match pass.number {
        Some(_) => format!("{}=N", pass.name),
        None => pass.name.to_owned(),
    };
    let rows = P::passes().iter();
    let rows = rows.map(|pass| [name(pass), pass.about.to_owned()]);
    format!("{}\n{}", P::DIALECT, columns(rows))
}
