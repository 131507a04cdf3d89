//! Reports of other programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::BenchError;
use super::report::{Report, Row};
use crate::error::CliError;
use crate::files::files_in;

/// A row for each peer that reports on the task, the fastest first.
pub(super) fn rows(paths: &[PathBuf], task: &'static str) -> Result<Vec<Row>, CliError> {
    if paths.is_empty() {
        return Ok(vec![]);
    }
    let mut peers: BTreeMap<String, Vec<Report>> = BTreeMap::new();
    let mut tasks = BTreeSet::new();
    for path in paths {
        for report in read_all(path)? {
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

/// What runs on another device, or otherwise, is another peer.
fn name(report: &Report) -> String {
    let options = report.options.iter().map(|(name, value)| match value {
        Value::Bool(true) => format!(", {name}"),
        Value::String(text) => format!(", {name} {text}"),
        value => format!(", {name} {value}"),
    });
    let options: String = options.collect();
    format!("{}, {}{options}", report.peer, report.device)
}

fn read_all(path: &Path) -> Result<Vec<Report>, CliError> {
    let mut reports = vec![];
    for file in files(path)? {
        reports.extend(read(&file)?);
    }
    Ok(reports)
}

/// A report, or those of a table's rows.
fn read(path: &Path) -> Result<Vec<Report>, CliError> {
    let text = std::fs::read_to_string(path).map_err(CliError::io("read", path))?;
    let rows = || -> serde_json::Result<Vec<Report>> {
        if !text.trim_start().starts_with('[') {
            return Ok(vec![serde_json::from_str(&text)?]);
        }
        let rows: Vec<Row> = serde_json::from_str(&text)?;
        Ok(rows.into_iter().flat_map(|row| row.runs).collect())
    };
    rows().map_err(|source| {
        let path = path.to_owned();
        CliError::Bench(BenchError::Peer { path, source })
    })
}

/// A file itself, or the JSON files of a folder.
fn files(path: &Path) -> Result<Vec<PathBuf>, CliError> {
    match path.is_dir() {
        true => files_in(path, "json"),
        false => Ok(vec![path.to_owned()]),
    }
}
