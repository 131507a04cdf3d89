//! Files that are installed beside the command: completions for shells, and manual pages.

use std::fs;

use clap::CommandFactory;

use super::{Args, CompletionsArgs, ManArgs};
use crate::error::CliError;
use crate::files::{json, write_text};
use crate::terminal::print;

/// Prints the completions of a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), CliError> {
    let mut text = vec![];
    clap_complete::generate(args.shell, &mut Args::command(), "fedround", &mut text);
    print(&String::from_utf8_lossy(&text))
}

/// Writes a manual page for the command and for each subcommand.
pub(crate) fn man(args: &ManArgs) -> Result<(), CliError> {
    let dir = &args.dir;
    fs::create_dir_all(dir).map_err(CliError::io("create the folder", dir))?;
    let mut command = Args::command();
    command.build();
    let own = command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help");
    let pages = own.map(|sub| (format!("fedround-{}", sub.get_name()), sub.clone()));
    let pages: Vec<(String, clap::Command)> = pages.collect();
    let mut files = vec![];
    for (name, page) in [("fedround".to_owned(), command)].into_iter().chain(pages) {
        let path = dir.join(format!("{name}.1"));
        let mut text = vec![];
        let rendered = clap_mangen::Man::new(page).title(name).render(&mut text);
        rendered.map_err(CliError::io("write", &path))?;
        write_text(&path, &String::from_utf8_lossy(&text))?;
        files.push(path.display().to_string());
    }
    match args.json {
        true => print(&json(&serde_json::json!({ "files": files }))?),
        false => Ok(()),
    }
}
