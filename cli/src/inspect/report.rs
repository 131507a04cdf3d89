//! The report of `fedround inspect`, as JSON and as text.

use std::path::Path;

use fedround::experiment::AttributeAuc;
use serde::Serialize;

use super::attack::{Attacked, Inversion, Membership};
use super::leakage::{Correlation, Images};
use super::mean_weights::{Weighing, weighings};
use super::observations::sizes;
use super::observations::{Shared, Spread};
use super::section::section;
use super::subject::Subject;
use super::traffic::{Phase, phases, traffic};
use crate::error::CliError;
use crate::files::write_csv;
use crate::terminal::percent;

const ROUNDS: &str = "rounds.csv";
const VARIANCE: &str = "variance.csv";
const WEIGHTS: &str = "weights.csv";

/// `report.json`.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub spec: String,
    pub phases: Vec<Phase>,
    /// How far uploads of parameters were apart, each in the last round in which two clients or more sent it.
    pub spreads: Vec<Spread>,
    /// The weights of clients in means that the server weighs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<Weighing>,
    pub shared: Vec<Entry>,
    pub correlations: Vec<Correlation>,
    /// What adversaries find of each protected attribute.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adversary: Vec<AttributeAuc>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inversion: Vec<Inversion>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub membership: Option<Membership>,
    /// Whether examples were changed at random, so that rows are of none of them as they are.
    #[serde(skip)]
    random: bool,
    #[serde(skip)]
    files: Vec<String>,
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
    /// Measures everything, and draws it. After Ctrl-C no adversary is trained.
    pub fn of(subject: &Subject<'_>, stopped: bool) -> Result<Self, CliError> {
        let record = subject.observations;
        write_csv(&subject.dir.join(ROUNDS), &record.rounds)?;
        let mut files = vec![ROUNDS.to_owned()];
        if !record.spreads.is_empty() {
            write_csv(&subject.dir.join(VARIANCE), &record.spreads)?;
            files.push(VARIANCE.to_owned());
        }
        if !record.weights.is_empty() {
            write_csv(&subject.dir.join(WEIGHTS), &record.weights)?;
            files.push(WEIGHTS.to_owned());
        }
        files.extend(subject.variance()?);
        let mut shared = vec![];
        for (i, one) in record.shared().enumerate() {
            let file = subject.picture(one, i + 1)?;
            files.extend(file.clone());
            shared.push(entry(subject, one, file)?);
        }
        Ok(Self {
            spec: subject.spec.to_owned(),
            phases: phases(subject),
            spreads: record.last_spreads(),
            weights: weighings(&record.weights),
            shared,
            correlations: subject.correlations()?,
            adversary: match stopped {
                true => vec![],
                false => subject.run.adversary()?,
            },
            inversion: vec![],
            membership: None,
            random: subject.run.settings().augment.is_random(),
            files,
        })
    }

    /// Takes in what attacks came to.
    pub fn attacked(&mut self, attacked: Attacked) {
        self.files.push(attacked.file);
        (self.inversion, self.membership) = (attacked.inversion, attacked.membership);
    }

    /// For people.
    pub fn text(&self, dir: &Path) -> String {
        let mut text = String::new();
        text += &traffic(&self.phases);
        text += &self.models();
        let rows = self.shared.iter().map(|s| {
            let images = s.images.as_ref();
            let number = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.2}"));
            [
                s.name.clone(),
                s.clients.to_string(),
                shape_of_rows(s.rows, &s.shape),
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
        text += &section(&heads, rows);
        if self.random && !self.shared.is_empty() {
            text += "images change at random: what is shared is not measured against them\n";
        }
        let rows = self.correlations.iter();
        let rows = rows.map(|c| [c.with.clone(), format!("{:.4}", c.r2)]);
        text += &section(&["distance correlation of inputs with", "R²"], rows);
        let rows = self.adversary.iter();
        let rows = rows.map(|e| {
            let [along, auc] = [e.along, e.auc].map(|auc| auc.map_or("-".to_owned(), percent));
            [e.attribute.clone(), along, auc]
        });
        text += &section(
            &["AUC of adversaries", "trained along", "fitted afterwards"],
            rows,
        );
        text += &self.attacks();
        text + &format!(
            "{} holds report.json, {}\n",
            dir.display(),
            self.files.join(", ")
        )
    }

    /// What becomes of models.
    fn models(&self) -> String {
        let rows = self.spreads.iter().map(|s| {
            let [v, d] = [s.variance, s.squared_distance].map(|x| format!("{x:.3e}"));
            [s.sent.clone(), s.clients.to_string(), v, d]
        });
        let heads = ["clients send", "clients", "variance a parameter", "in all"];
        let text = section(&heads, rows);
        let rows = self.weights.iter().map(|w| {
            let numbers = [w.clients, w.least, w.most].map(|x| format!("{x:.2}"));
            [vec![w.mean.clone()], numbers.to_vec()].concat()
        });
        text + &section(&["the server weighs", "clients", "least", "most"], rows)
    }

    /// What attacks came to.
    fn attacks(&self) -> String {
        let rows = self.inversion.iter();
        let rows = rows.map(|i| {
            [
                i.shared.clone(),
                format!("{:.2}", i.given),
                format!("{:.2}", i.rebuilt),
            ]
        });
        let mut text = section(&["inversion: PSNR, dB", "as shared", "rebuilt"], rows);
        if let Some(membership) = &self.membership {
            let rows = membership.told.iter().map(|t| {
                let each = [t.recall, t.precision].map(percent);
                [vec![t.by.clone()], each.to_vec()].concat()
            });
            text += &section(&["membership, by", "recall", "precision"], rows);
            let (auc, members) = (percent(membership.auc), membership.members);
            text += &format!("membership of {members} examples: AUC {auc}\n");
        }
        text
    }
}

/// `10 of 1×28×28`, or of rows without dimensions, such as labels, `8 numbers`.
fn shape_of_rows(rows: usize, shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
    match shape {
        [] => format!("{rows} numbers"),
        _ => format!("{rows} of {}", sizes.join("×")),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_dimensions_are_numbers() {
        assert_eq!(shape_of_rows(8, &[]), "8 numbers");
        assert_eq!(shape_of_rows(10, &[1, 28, 28]), "10 of 1×28×28");
    }
}
