//! A table as numbers: the paper's and ours.

use std::path::Path;

use serde::Serialize;
use toml::{Table, Value};

use super::args::Scale;
use super::claims::{Found, family, found};
use super::columns::{Unit, unit};
use super::measures::{Runs, completed, spread};
use super::plan::Plan;
use crate::catalog::Catalog;
use crate::compare::{Cell, Record, Spread, runs_of};
use crate::error::CliError;
use crate::settings::Settings;

/// `table.json`.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub paper: &'static str,
    pub paper_title: String,
    pub table: String,
    pub title: String,
    pub scale: Scale,
    pub seeds: Vec<u64>,
    /// How many of the table's runs are complete, and how many runs it has.
    pub complete: [usize; 2],
    pub measures: Vec<String>,
    pub methods: Vec<String>,
    pub settings: Vec<String>,
    pub numbers: Vec<Number>,
    pub claims: Vec<Found>,
    /// How many headline claims and how many others the table has at this scale, run or not.
    pub family: [usize; 2],
    /// The seed of the partition, where it is not the run's own.
    pub partition_seed: Option<u64>,
    /// What is not as in the full protocol, and which runs that is of.
    pub changed: Vec<String>,
    /// What differs from the paper besides.
    pub notes: Vec<String>,
    pub out: String,
}

/// A cell of the table.
#[derive(Debug, Serialize)]
pub(super) struct Number {
    pub setting: usize,
    pub method: usize,
    pub measure: usize,
    /// As the paper prints it.
    pub paper: String,
    pub ours: Option<Spread>,
    /// Complete runs.
    pub runs: usize,
    #[serde(skip)]
    pub unit: Unit,
}

impl Report {
    pub fn new(
        catalog: &Catalog,
        plan: &Plan,
        cells: &[Cell],
        records: &[Option<Record>],
        out: &Path,
    ) -> Result<Self, CliError> {
        let (table, paper) = (&plan.table, &plan.paper);
        let entrants = 0..plan.entrants.len();
        let runs: Runs = entrants.map(|i| runs_of(i, cells, records)).collect();
        let mut notes = table.common.notes.clone();
        if plan.scale == Scale::Small {
            notes.extend(table.common.small_notes.iter().cloned());
        }
        notes.extend(plan.data_notes.iter().cloned());
        Ok(Self {
            paper: paper.name,
            paper_title: paper.title.clone(),
            table: table.name.clone(),
            title: table.title.clone(),
            scale: plan.scale,
            seeds: plan.seeds.clone(),
            complete: [
                runs.iter().map(|runs| completed(runs)).sum(),
                plan.entrants.len() * plan.seeds.len(),
            ],
            measures: table
                .common
                .measure
                .iter()
                .map(|m| m.name.clone())
                .collect(),
            methods: table.common.method.iter().map(|m| m.name.clone()).collect(),
            settings: table.setting.iter().map(|s| s.name.clone()).collect(),
            numbers: numbers(plan, &runs),
            claims: found(plan, &runs),
            family: family(plan),
            partition_seed: plan
                .entrants
                .first()
                .and_then(|e| e.settings.run.partition_seed),
            changed: changed(catalog, plan)?,
            notes,
            out: out.display().to_string(),
        })
    }

    /// The number at a place.
    pub fn at(&self, setting: usize, method: usize, measure: usize) -> Option<&Number> {
        let place = (setting, method, measure);
        let mut numbers = self.numbers.iter();
        numbers.find(|n| (n.setting, n.method, n.measure) == place)
    }
}

/// Every measure of every method in every setting, run or not.
fn numbers(plan: &Plan, runs: &Runs<'_>) -> Vec<Number> {
    let (table, mut numbers) = (&plan.table, vec![]);
    for (i, setting) in table.setting.iter().enumerate() {
        for (j, method) in table.common.method.iter().enumerate() {
            if plan.paper.difference_from.as_ref() == Some(&method.name) {
                continue;
            }
            let entrant = plan.entrant(i, j);
            for (k, measure) in table.common.measure.iter().enumerate() {
                let paper = setting.paper.get(&method.name).and_then(|row| row.get(k));
                numbers.push(Number {
                    setting: i,
                    method: j,
                    measure: k,
                    paper: paper.map_or("-", String::as_str).to_owned(),
                    ours: entrant.and_then(|e| spread(plan, runs, e, measure)),
                    runs: entrant.map_or(0, |e| completed(&runs[e])),
                    unit: unit(measure, plan.paper.difference_from.is_some()),
                });
            }
        }
    }
    numbers
}

/// Settings that results do not depend on, or that are no part of a protocol.
const FREE: [&str; 12] = [
    "data_dir",
    "threads",
    "device",
    "client_memory",
    "device_data",
    "cohort_batch",
    "convolutions",
    "graphs",
    "seed",
    "partition_seed",
    "reproducible_noise",
    "eval_every",
];

/// The settings that differ from those at full scale, each with the runs that it differs in.
fn changed(catalog: &Catalog, plan: &Plan) -> Result<Vec<String>, CliError> {
    let mut lines: Vec<(String, Vec<usize>)> = vec![];
    for (i, entrant) in plan.entrants.iter().enumerate() {
        let full = flat(catalog, &entrant.full)?;
        for (key, ours) in flat(catalog, &entrant.settings)? {
            let theirs = full.iter().find(|(name, _)| *name == key);
            let theirs = theirs.map_or("none", |(_, value)| value);
            if theirs == ours || FREE.contains(&&*key) {
                continue;
            }
            let line = format!("{key}: {theirs} → {ours}");
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, entrants)) => entrants.push(i),
                None => lines.push((line, vec![i])),
            }
        }
    }
    let of = |(line, entrants): (String, Vec<usize>)| match entrants.len() == plan.entrants.len() {
        true => line,
        false => format!("{line} ({})", whose(plan, &entrants)),
    };
    Ok(lines.into_iter().map(of).collect())
}

/// Methods, where they are the same in all settings, or else methods in settings.
fn whose(plan: &Plan, entrants: &[usize]) -> String {
    let methods = &plan.table.common.method;
    let mut some: Vec<usize> = entrants.iter().map(|&e| plan.entrants[e].method).collect();
    some.sort_unstable();
    some.dedup();
    let all = plan.entrants.iter().filter(|e| some.contains(&e.method));
    let names: Vec<String> = match all.count() == entrants.len() {
        true => some.iter().map(|&m| methods[m].name.clone()).collect(),
        false => entrants
            .iter()
            .map(|&e| plan.name(&plan.entrants[e]))
            .collect(),
    };
    names.join("; ")
}

/// A run's settings with all hyper-parameters, by name.
fn flat(catalog: &Catalog, settings: &Settings) -> Result<Vec<(String, String)>, CliError> {
    let algorithm = catalog.algorithm(&settings.spec, &settings.hypers)?;
    let table = Table::try_from(settings.config(&*algorithm));
    let mut pairs = vec![];
    for (key, value) in table.unwrap_or_default() {
        match value {
            Value::Table(inner) => pairs.extend(inner.iter().map(|(k, v)| (k.clone(), plain(v)))),
            value => pairs.push((key, plain(&value))),
        }
    }
    Ok(pairs)
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
