//! Reports of other programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::error::BenchError;
use super::report::{Report, Row};
use crate::cli::error::CliError;

/// A row for each peer that reports on the task, the fastest first.
pub(super) fn rows(paths: &[PathBuf], task: &'static str) -> Result<Vec<Row>, CliError> {
    if paths.is_empty() {
        return Ok(vec![]);
    }
    let mut peers: BTreeMap<String, Vec<Report>> = BTreeMap::new();
    let mut tasks = BTreeSet::new();
    for path in paths {
        for file in files(path)? {
            let report = read(&file)?;
            if report.task == task {
                peers.entry(name(&report)).or_default().push(report);
            } else {
                tasks.insert(report.task);
            }
        }
    }
    if peers.is_empty() {
        let paths: Vec<_> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let found: Vec<_> = tasks.into_iter().collect();
        return Err(CliError::Bench(BenchError::NoPeer {
            task,
            paths: paths.join(", "),
            found: if found.is_empty() {
                "none".to_owned()
            } else {
                found.join(", ")
            },
        }));
    }
    let row = |(name, runs)| Row { name, runs };
    let mut rows: Vec<Row> = peers.into_iter().map(row).collect();
    let speed = |row: &Row| row.median(|run| run.client_steps_per_s);
    rows.sort_by(|a, b| speed(b).total_cmp(&speed(a)));
    Ok(rows)
}

/// What runs on another device is another peer.
fn name(report: &Report) -> String {
    format!("{}, {}", report.peer, report.device)
}

fn read(path: &Path) -> Result<Report, CliError> {
    let text = std::fs::read_to_string(path).map_err(CliError::io("read", path))?;
    serde_json::from_str(&text).map_err(|source| {
        let path = path.to_owned();
        CliError::Bench(BenchError::Peer { path, source })
    })
}

/// A file itself, or the JSON files of a folder.
fn files(path: &Path) -> Result<Vec<PathBuf>, CliError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = vec![];
    for entry in std::fs::read_dir(path).map_err(CliError::io("read", path))? {
        let file = entry.map_err(CliError::io("read", path))?.path();
        if file
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}
