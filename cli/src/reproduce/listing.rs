//! What there is, and what a table would run.

use std::path::Path;

use super::tables::Paper;
use crate::compare::Cell;
use crate::hypers::Given;
use crate::settings::Settings;
use crate::table::columns;

/// All papers with their tables.
pub(super) fn papers(papers: &[Paper]) -> String {
    let texts: Vec<String> = papers.iter().map(tables).collect();
    let help = "`fedround reproduce PAPER TABLE` runs one; --dry-run prints its runs";
    format!("{}\n{help}\n", texts.join("\n"))
}

/// A paper's tables.
pub(super) fn tables(paper: &Paper) -> String {
    let rows = paper.table.iter().map(|table| {
        let methods = match table.common.method.as_slice() {
            [] => &paper.common.method,
            own => own,
        };
        let methods: Vec<&str> = methods.iter().map(|method| method.name.as_str()).collect();
        [table.name.clone(), table.title.clone(), methods.join(", ")]
    });
    format!("{}  {}\n{}", paper.name, paper.title, columns(rows))
}

/// Runs as commands, a line each.
pub(super) fn commands(cells: &[Cell], dir: &Path) -> String {
    let command = |cell: &Cell| command(&cell.settings, &dir.join(&cell.folder)) + "\n";
    cells.iter().map(command).collect()
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
    flag("clients", &settings.run.clients.to_string());
    flag("partition", &settings.run.partition.to_string());
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
    for hyper in &settings.hypers {
        let value = match &hyper.value {
            Given::Text(text) => text.clone(),
            Given::Value(value) => value.to_string(),
        };
        flag("set", &format!("{}={value}", hyper.name));
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

/// A word of a shell's command line.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:,=+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_them() {
        assert_eq!(quoted("labels:3:3.5,4"), "labels:3:3.5,4");
        assert_eq!(quoted("fedfed(fedprox)"), "'fedfed(fedprox)'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
