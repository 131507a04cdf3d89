//! `fedround report`: a page about a run or a comparison, in one file.

mod algorithm;
mod args;
mod charts;
mod comparison;
mod page;
mod run;
mod tiles;

use std::path::Path;
use std::process::{Command, Stdio};

pub(super) use args::ReportArgs;

use crate::catalog::Catalog;
use crate::error::CliError;
use crate::files::write_text;
use crate::output::{print, tell};
use crate::run::CONFIG;

/// The page's file in the folder.
const PAGE: &str = "report.html";
/// The numbers of a comparison.
const COMPARISON: &str = "comparison.json";

/// Runs the subcommand.
pub(super) fn report(catalog: &Catalog, args: &ReportArgs) -> Result<(), CliError> {
    let dir = &args.dir;
    let page = if dir.join(COMPARISON).exists() {
        comparison::page(catalog, dir)?
    } else if dir.join(CONFIG).exists() {
        run::page(catalog, dir)?
    } else {
        return Err(CliError::NothingToReport { dir: dir.clone() });
    };
    let path = dir.join(PAGE);
    write_text(&path, &page.into_string())?;
    print(&format!("{}\n", path.display()))?;
    if args.open && !open(&path) {
        tell!("warning: no browser could be started");
    }
    Ok(())
}

/// Asks the desktop to show a file; whether somebody listens.
fn open(path: &Path) -> bool {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let mut command = Command::new(program);
    let command = command.arg(path).stdin(Stdio::null());
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .is_ok()
}
