//! What `inspect` found, as JSON and as text.

use std::path::Path;

use comfy_table::Table;
use comfy_table::presets::UTF8_BORDERS_ONLY;
use serde::Serialize;

use super::attack::{Inversion, Membership};
use super::measure::{Correlation, Images};
use super::models::sizes;
use super::record::Shared;
use super::{ROUNDS, Subject};
use crate::cli::error::CliError;
use crate::cli::output::{bytes, percent};

/// `report.json`.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub spec: String,
    pub phases: Vec<Phase>,
    /// Before the first averaging of the last round in which models were sent.
    pub model_variance: Option<f64>,
    pub squared_distance: Option<f64>,
    pub shared: Vec<Entry>,
    pub correlations: Vec<Correlation>,
    /// The ROC AUC of each protected attribute, by an adversary that was fitted afterwards.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adversary_auc: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inversion: Vec<Inversion>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub membership: Vec<Membership>,
    #[serde(skip)]
    files: Vec<String>,
}

/// What crossed in a phase of the algorithm.
#[derive(Debug, Serialize)]
pub(super) struct Phase {
    pub name: String,
    pub rounds: usize,
    pub bytes_up: u64,
    pub bytes_down: u64,
    /// Of both directions of the last phase.
    pub of_last: f64,
}

/// Rows that the server had of clients.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    pub name: String,
    pub round: usize,
    pub sent: bool,
    pub clients: usize,
    pub rows: usize,
    /// Sizes of a row.
    pub shape: Vec<usize>,
    pub images: Option<Images>,
    pub file: Option<String>,
}

impl Report {
    /// Measures everything, and draws it.
    pub fn of(subject: &Subject<'_>, attack: bool) -> Result<Self, CliError> {
        let rounds = &subject.record.rounds;
        let path = subject.dir.join(ROUNDS);
        let mut table = csv::Writer::from_path(&path).map_err(|e| draw_error(&path, &e))?;
        for round in rounds {
            table.serialize(round).map_err(|e| draw_error(&path, &e))?;
        }
        table.flush().map_err(CliError::io("write", &path))?;
        let last = rounds.iter().rev().find(|r| r.model_variance.is_some());
        let mut files = vec![ROUNDS.to_owned()];
        files.extend(subject.variance()?);
        let mut shared = vec![];
        for (i, one) in subject.record.shared().enumerate() {
            let file = subject.picture(one, i + 1)?;
            files.extend(file.clone());
            shared.push(entry(subject, one, file)?);
        }
        let mut this = Self {
            spec: subject.settings.spec.clone(),
            phases: phases(subject),
            model_variance: last.and_then(|r| r.model_variance),
            squared_distance: last.and_then(|r| r.squared_distance),
            shared,
            correlations: subject.correlations()?,
            adversary_auc: subject.adversary()?,
            inversion: vec![],
            membership: vec![],
            files,
        };
        if attack {
            let attacked = subject.attack()?;
            this.files.extend(attacked.file);
            (this.inversion, this.membership) = (attacked.inversion, attacked.membership);
        }
        Ok(this)
    }

    /// For people.
    pub fn text(&self, dir: &Path) -> String {
        let mut text = String::new();
        let rows = self.phases.iter().map(|p| {
            let (up, down) = (bytes(p.bytes_up), bytes(p.bytes_down));
            [
                p.name.clone(),
                p.rounds.to_string(),
                up,
                down,
                percent(p.of_last),
            ]
        });
        let heads = ["traffic", "rounds", "up", "down", "of the last phase's"];
        text += &table(&heads, rows);
        if let (Some(v), Some(d)) = (self.model_variance, self.squared_distance) {
            text += &format!(
                "variance of local models before averaging: {v:.3e} a parameter, {d:.3e} in all\n"
            );
        }
        let rows = self.shared.iter().map(|s| {
            let images = s.images.as_ref();
            let number = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.2}"));
            [
                s.name.clone(),
                s.clients.to_string(),
                format!("{} of {:?}", s.rows, s.shape),
                number(images.map(|i| i.psnr)),
                number(images.and_then(|i| i.frechet)),
            ]
        });
        let heads = [
            "rows on the server",
            "clients",
            "rows",
            "PSNR, dB",
            "Fréchet",
        ];
        text += &table(&heads, rows);
        let rows = self.correlations.iter();
        let rows = rows.map(|c| [c.with.clone(), format!("{:.4}", c.r2)]);
        text += &table(&["distance correlation of inputs with", "R²"], rows);
        for (i, auc) in self.adversary_auc.iter().enumerate() {
            text += &format!(
                "adversary fitted afterwards, attribute {i}: AUC {}\n",
                percent(*auc)
            );
        }
        let rows = self.inversion.iter();
        let rows = rows.map(|i| {
            [
                i.shared.clone(),
                format!("{:.2}", i.given),
                format!("{:.2}", i.rebuilt),
            ]
        });
        text += &table(&["inversion: PSNR, dB", "as shared", "rebuilt"], rows);
        let rows = self.membership.iter().map(|m| {
            let each = [m.recall, m.precision, m.auc].map(percent);
            [vec![m.shared.clone()], each.to_vec()].concat()
        });
        text += &table(&["membership", "recall", "precision", "AUC"], rows);
        text + &format!(
            "{} holds report.json, {}\n",
            dir.display(),
            self.files.join(", ")
        )
    }
}

fn draw_error(path: &Path, error: &csv::Error) -> CliError {
    CliError::Draw {
        path: path.to_owned(),
        message: error.to_string(),
    }
}

/// Nothing without rows.
fn table<R: IntoIterator<Item = String>>(heads: &[&str], rows: impl Iterator<Item = R>) -> String {
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY).set_header(heads);
    let mut any = false;
    for row in rows {
        table.add_row(row);
        any = true;
    }
    if any {
        format!("{table}\n")
    } else {
        String::new()
    }
}

fn phases(subject: &Subject<'_>) -> Vec<Phase> {
    let named = subject.simulation.program().phases();
    let mut all: Vec<Phase> = vec![];
    for (i, (name, _)) in named.into_iter().enumerate() {
        let rounds = subject.record.rounds.iter().filter(|r| r.phase == i + 1);
        let (n, up, down) = rounds.fold((0, 0, 0), |(n, up, down), r| {
            (n + 1, up + r.bytes_up, down + r.bytes_down)
        });
        all.push(Phase {
            name: name.unwrap_or_else(|| "all rounds".to_owned()),
            rounds: n,
            bytes_up: up,
            bytes_down: down,
            of_last: f64::NAN,
        });
    }
    let total = |p: &Phase| (p.bytes_up + p.bytes_down) as f64;
    let last = all.last().map_or(f64::NAN, total);
    for phase in &mut all {
        phase.of_last = total(phase) / last;
    }
    all
}

fn entry(subject: &Subject<'_>, shared: &Shared, file: Option<String>) -> Result<Entry, CliError> {
    let first = shared.clients.values().next();
    let shape = first.map(|t| t.shape.iter().skip(1).copied().collect());
    Ok(Entry {
        name: shared.name.clone(),
        round: shared.round,
        sent: shared.sent,
        clients: shared.clients.len(),
        rows: shared.clients.values().map(|t| sizes(t).0).sum(),
        shape: shape.unwrap_or_default(),
        images: subject.images(shared)?,
        file,
    })
}
