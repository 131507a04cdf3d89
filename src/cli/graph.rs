//! `fedround graph`.

use fedround_ir::fed::print as fed_text;

use super::Cli;
use super::args::{GraphArgs, Stage};
use super::error::CliError;
use super::output::print;

/// Runs the subcommand.
pub(super) fn graph(cli: &Cli, args: &GraphArgs) -> Result<(), CliError> {
    let (_, program) = cli.compile(&args.subject)?;
    let batch = program.batch_size();
    let text = match args.at {
        Stage::Fed => fed_text(program.staged()),
        Stage::Linked => fed_text(program.linked()),
        Stage::Tensor => program.tensor_text(batch)?,
        Stage::Plan => program.plan_text(batch)?,
    };
    print(&(text.trim_end().to_owned() + "\n"))
}
