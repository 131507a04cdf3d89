//! Lists the tables that can be reproduced, and the runs of one table.

use std::path::Path;

use serde::Serialize;

use super::tables::{Absent, Paper};
use crate::compare::Cell;
use crate::settings::Settings;
use crate::terminal::command_line::quoted;
use crate::terminal::table::{columns, wrapped};

/// All papers with their tables.
pub(super) fn papers(papers: &[Paper]) -> String {
    let texts: Vec<String> = papers.iter().map(tables).collect();
    let help = "`fedround reproduce PAPER TABLE` runs one; --dry-run prints its runs";
    format!("{}\n{help}\n", texts.join("\n"))
}

/// A paper's tables.
pub(super) fn tables(paper: &Paper) -> String {
    let Listed {
        name,
        title,
        tables,
        ..
    } = of(paper);
    let rows = tables.into_iter();
    let rows =
        rows.map(|table| [table.name, table.title, &table.methods.join(", ")].map(str::to_owned));
    wrapped(&format!("{name}  {title}\n")) + &columns(rows)
}

/// A paper's tables, and what else the paper shows.
pub(super) fn whole(paper: &Paper) -> String {
    let absent = paper.absent.iter();
    let absent: String = absent
        .map(|Absent { name, why }| format!("  {name}: {why}\n"))
        .collect();
    format!("{}\nnot run here:\n{absent}", tables(paper))
}

/// A paper of `fedround reproduce --json`.
#[derive(Serialize)]
pub(super) struct Listed<'a> {
    pub name: &'a str,
    pub title: &'a str,
    pub tables: Vec<ListedTable<'a>>,
    /// What else the paper shows, and why it is not run.
    pub absent: &'a [Absent],
}

/// A table of a paper.
#[derive(Serialize)]
pub(super) struct ListedTable<'a> {
    pub name: &'a str,
    pub title: &'a str,
    pub methods: Vec<&'a str>,
}

/// A paper with the methods of its tables.
pub(super) fn of(paper: &Paper) -> Listed<'_> {
    let tables = paper.table.iter().map(|table| {
        let methods = match table.common.method.as_slice() {
            [] => &paper.common.method,
            own => own,
        };
        ListedTable {
            name: &table.name,
            title: &table.title,
            methods: methods.iter().map(|method| method.name.as_str()).collect(),
        }
    });
    Listed {
        name: paper.name,
        title: &paper.title,
        tables: tables.collect(),
        absent: &paper.absent,
    }
}

/// Runs as commands.
pub(super) fn commands(cells: &[Cell], dir: &Path) -> Vec<String> {
    cells
        .iter()
        .map(|cell| command(&cell.settings, &dir.join(&cell.folder)))
        .collect()
}

fn command(settings: &Settings, out: &Path) -> String {
    let mut words = vec![
        "fedround".to_owned(),
        "run".to_owned(),
        quoted(&settings.spec),
    ];
    let mut flag = |name: &str, value: &str| words.extend([format!("--{name}"), quoted(value)]);
    flag("data", &settings.data.to_string());
    if let Some(dir) = &settings.data_dir {
        flag("data-dir", &dir.to_string_lossy());
    }
    if let Some(normalize) = &settings.reading.normalize {
        flag("normalize", normalize);
    }
    flag("clients", &settings.run.clients.to_string());
    flag("partition", &settings.run.partition.to_string());
    if let Some(seed) = settings.run.partition_seed {
        flag("partition-seed", &seed.to_string());
    }
    flag("model", &settings.model);
    for (name, variant) in &settings.run.auxiliaries {
        flag("aux", &format!("{name}={variant}"));
    }
    flag("rounds", &settings.rounds.to_string());
    flag("eval-every", &settings.run.eval_every.to_string());
    let augment = settings.run.augment.to_string();
    if augment != "none" {
        flag("augment", &augment);
    }
    if let Some(newcomer) = settings.run.late_client {
        flag("newcomer", &newcomer.to_string());
    }
    if let Some(goal) = settings.run.goal {
        flag("goal", &goal.to_string());
    }
    if let Some(fraction) = settings.run.validation {
        flag("validation", &fraction.to_string());
    }
    for hyper in &settings.hypers {
        flag("set", &format!("{}={}", hyper.name, hyper.value));
    }
    flag("seed", &settings.run.seed.to_string());
    flag("out", &out.to_string_lossy());
    if settings.run.reproducible_noise {
        words.push("--reproducible-noise".to_owned());
    }
    if settings.run.ensemble {
        words.push("--ensemble".to_owned());
    }
    if settings.run.adversary {
        words.push("--adversary".to_owned());
    }
    words.join(" ")
}
