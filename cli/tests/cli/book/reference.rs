//! The reference pages of the book, which are made of the program: `UPDATE_DOCS=1` writes them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fedround_algorithms::registry;
use fedround_dsl::Entry;
use fedround_ir::fed::HyperValue;

use crate::support::Place;

/// Compares a page with what it should be, or writes it.
fn compare(name: &str, page: &str) {
    const MADE: &str =
        "<!-- made by `UPDATE_DOCS=1 cargo test --workspace --test cli book::reference` -->";
    let (title, rest) = page.split_once('\n').unwrap();
    let page = format!("{title}\n\n{MADE}\n{rest}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference");
    let path = path.join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, page).unwrap();
        return;
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/reference/{name} is out of date: {MADE}"
    );
}

/// A cell of a table, or a piece of a line.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn algorithm(entry: &Entry) -> String {
    // A paragraph is a line; a link of the source leads from another folder.
    let about: Vec<&str> = entry.doc.trim().lines().collect();
    let about = about.join("\n\n").replace("../../docs/", "../");
    let mut text = format!("## {}\n\n{about}\n\n", entry.name);
    if entry.takes_base {
        let default = entry.default_base.map_or_else(
            || "It needs a base.".to_owned(),
            |base| format!("Without a base it is `{}({base})`.", entry.name),
        );
        let name = entry.name;
        _ = writeln!(
            text,
            "A plug-in over a base, as in `{name}(BASE)`. {default}\n"
        );
    }
    if entry.fields.is_empty() {
        return text + "No hyper-parameters of its own.\n\n";
    }
    text += "| hyper-parameter | default | allowed | meaning |\n|---|---|---|---|\n";
    for field in entry.fields {
        let default = HyperValue::from(field.default);
        let (allowed, doc) = (escaped(&field.allowed()), escaped(field.doc));
        _ = writeln!(text, "| `{}` | {default} | {allowed} | {doc} |", field.name);
    }
    text + "\n"
}

#[test]
fn algorithms_are_those_of_the_registry() {
    let mut page = "# Algorithms and hyper-parameters\n\n\
         Every bundled algorithm with its hyper-parameters, their defaults and the values that they may \
         have. `--set NAME=VALUE` sets one. `fedround list ALGORITHM` prints the whole documentation of \
         an algorithm and of its layers. [Algorithms](../algorithms.md) has the papers.\n\n"
        .to_owned();
    for entry in registry().entries() {
        page += &algorithm(entry);
    }
    compare("algorithms.md", page.trim_end());
}

/// The subcommands that a help text lists.
pub fn subcommands(help: &str) -> Vec<String> {
    let (_, after) = help.split_once("\nCommands:\n").unwrap_or_default();
    let lines = after.lines().take_while(|line| line.starts_with("  "));
    let names = lines.filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn commands_are_those_of_the_help() {
    let place = Place::new();
    let mut page =
        "# Commands\n\nThe help of every command, as `fedround COMMAND --help` prints it.\n\n"
            .to_owned();
    let mut section = |command: &str| {
        let help = place.success(&format!("{command} --help"));
        let title = format!("fedround {command}");
        _ = writeln!(
            page,
            "## {}\n\n```text\n{}\n```\n",
            title.trim(),
            help.trim_end()
        );
        subcommands(&help)
    };
    for command in section("") {
        for below in section(&command) {
            section(&format!("{command} {below}"));
        }
    }
    compare("commands.md", page.trim_end());
}
