//! `fedround report`: a page about a run or a comparison, in one file.

mod algorithm;
mod args;
mod charts;
mod comparison;
mod measures;
mod page;
mod phases;
mod privacy;
mod run;
mod tiles;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;

pub(super) use args::ReportArgs;

use crate::catalog::Catalog;
use crate::compare::COMPARISON;
use crate::drawing::convert_all;
use crate::error::CliError;
use crate::files::several_runs::{SeveralRuns, Wanted};
use crate::files::{json, write_text};
use crate::run::CONFIG;
use crate::terminal::{print, tell};

/// The page's file in the folder.
const PAGE: &str = "report.html";

/// What `--json` prints.
#[derive(Serialize)]
struct Written {
    /// Nothing of a folder that has drawings alone.
    page: Option<String>,
    /// What `--format` has made.
    drawings: Vec<String>,
}

pub(super) fn report(catalog: &Catalog, args: &ReportArgs) -> Result<(), CliError> {
    let drawings = match args.format {
        Some(format) => convert_all(&args.dir, format)?,
        None => vec![],
    };
    let page = match write(catalog, &args.dir) {
        // The folder of an inspection, for one.
        Err(CliError::NothingToReport { .. } | CliError::SeveralRuns(_))
            if !drawings.is_empty() && !args.open =>
        {
            None
        }
        page => Some(page?),
    };
    let name = |path: &PathBuf| path.display().to_string();
    let written = Written {
        page: page.as_ref().map(name),
        drawings: drawings.iter().map(name).collect(),
    };
    match args.json {
        true => print(&json(&written)?)?,
        false => {
            let all = written.page.iter().chain(&written.drawings);
            print(&all.map(|path| format!("{path}\n")).collect::<String>())?;
        }
    }
    if let Some(page) = page.filter(|_| args.open)
        && !open(&page)
    {
        tell!("warning: no browser could be started");
    }
    Ok(())
}

/// Writes the page of a folder, and gives its path.
pub(super) fn write(catalog: &Catalog, dir: &Path) -> Result<PathBuf, CliError> {
    let page = if dir.join(COMPARISON).exists() {
        comparison::page(catalog, dir)?
    } else if dir.join(CONFIG).exists() {
        run::page(catalog, dir)?
    } else {
        return Err(match SeveralRuns::below(dir, Wanted::Page) {
            // A comparison that was killed has not written what its runs come to.
            Some(found) => CliError::SeveralRuns(Box::new(found)),
            None => CliError::NothingToReport {
                dir: dir.to_owned(),
            },
        });
    };
    let path = dir.join(PAGE);
    write_text(&path, &page.into_string())?;
    Ok(path)
}

/// Asks the desktop to show a file. Gives whether the program that shows it could be started.
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
