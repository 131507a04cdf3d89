//! `fedround new`: a crate with an algorithm of one's own.
//!
//! It is the crate of `docs/first-algorithm.md`, under another name, or the same with a copy of a bundled
//! algorithm. Both build, run and pass their tests as they are.

mod crate_name;
mod error;
mod manifest;
mod template;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::CliError;
use crate::files::{json, write_text};
use crate::terminal::{print, tell};
use crate_name::CrateName;
use template::File;

pub(crate) use error::NewError;

/// What git ignores: builds, runs, and the graphs that a failed test found.
const IGNORED: &str = "/target\n/runs\n*.snap.new\n";

const EXAMPLES: &str = "\
Examples:
  fedround new my-algorithm --path fedround                   a plug-in over any algorithm
  fedround new my-algorithm --path fedround --base fedprox    a copy of FedProx, to be changed

Here fedround is a clone of the repository, and the new folder is beside it. Until the crates of
this version are published, a crate without --path cannot be built.

Then, in the folder: cargo test, cargo run --release -- run myalgorithm";

/// Makes a crate with an algorithm of your own: the algorithm, the command with it, a test, and a
/// snapshot of its graph. docs/first-algorithm.md walks through it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct NewArgs {
    /// Name of the crate and of its folder, such as my-algorithm
    pub name: String,
    /// Start from a copy of this bundled algorithm [default: a plug-in over fedavg]
    #[arg(long, value_name = "SPEC")]
    pub base: Option<String>,
    /// Folder of a checkout of fedround [default: the published crates of this version]
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,
    /// Print JSON, as docs/json.md describes it
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn new(args: &NewArgs) -> Result<(), CliError> {
    let name = CrateName::parse(&args.name)?;
    let checkout = args.path.as_deref().map(manifest::seen_from_crate);
    let mut files = vec![
        File::new("Cargo.toml", manifest::text(&name, checkout.transpose()?)),
        File::new(".gitignore", IGNORED.to_owned()),
    ];
    files.extend(match &args.base {
        None => template::plug_in(&name)?,
        Some(base) => template::copy(&name, base)?,
    });
    write(Path::new(&args.name), &files)?;
    let (folder, algorithm) = (&args.name, name.algorithm());
    let source = format!("src/{}.rs", name.module());
    if args.json {
        let files: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        return print(&json(&serde_json::json!({
            "folder": folder,
            "algorithm": algorithm,
            "source": source,
            "files": files,
        }))?);
    }
    tell!("{folder} has the algorithm in {source}. Next:");
    tell!("  cd {folder}\n  cargo test\n  cargo run --release -- run {algorithm}");
    tell!("README.md says what to do next, and how to accept a graph that changed.");
    Ok(())
}

/// Writes files into a folder that does not exist yet.
fn write(folder: &Path, files: &[File]) -> Result<(), CliError> {
    if fs::symlink_metadata(folder).is_ok() {
        return Err(NewError::Exists(folder.to_owned()).into());
    }
    for file in files {
        let path = folder.join(&file.path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(CliError::io("create the folder", parent))?;
        write_text(&path, &file.text)?;
    }
    Ok(())
}
