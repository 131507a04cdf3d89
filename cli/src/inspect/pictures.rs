//! Pictures of the values that clients share, and of the rounds.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fedround_metrics::Rows;
use fedround_metrics::features::principal_components;

use super::leakage::spaced;
use super::observations::Shared;
use super::observations::sizes;
use super::subject::Subject;
use crate::drawing::contact_sheet::{self, Pixels, row};
use crate::error::CliError;
use crate::plot::{Axis, Chart, Series, draw};
use crate::run::slug;

/// Clients in a picture.
const CLIENTS: usize = 10;
/// Images of a client in a sheet.
const IMAGES: usize = 10;
/// Representations in a picture, of all clients together.
const POINTS: usize = 500;

impl Subject<'_> {
    /// How far parameters that clients send are apart over rounds, a line for each upload; nothing
    /// where none were sent by two clients.
    pub fn variance(&self) -> Result<Option<String>, CliError> {
        let mut lines: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
        for one in &self.observations.spreads {
            let line = lines.entry(&one.sent).or_default();
            line.push((one.round as f64, one.variance));
        }
        if lines.is_empty() {
            return Ok(None);
        }
        let series = lines
            .into_iter()
            .map(|(name, points)| Series::line(name, points));
        let file = "variance.svg".to_owned();
        let chart = Chart::rounds(Axis::Number("variance over clients"));
        draw(&self.dir.join(&file), chart, &series.collect::<Vec<_>>())?;
        Ok(Some(file))
    }

    /// The picture of some rows: a contact sheet of images, the principal components of
    /// representations. Nothing of labels, and of rows that are neither.
    pub fn picture(&self, shared: &Shared, number: usize) -> Result<Option<String>, CliError> {
        let Some(first) = shared.clients.values().next() else {
            return Ok(None);
        };
        let is_image = sizes(first).1 == self.run.width()? && self.are_images();
        if shared.labels || (!is_image && sizes(first).1 < 2) {
            return Ok(None);
        }
        let name: String = slug(&shared.name).chars().take(40).collect();
        let kind = if is_image { "png" } else { "svg" };
        let file = format!("{number}-{name}.{kind}");
        let path = self.dir.join(&file);
        match is_image {
            true => self.sheet(shared, path)?,
            false => points(shared, path)?,
        }
        Ok(Some(file))
    }

    /// A row for each client; above it the images that they are of, where that is known.
    fn sheet(&self, shared: &Shared, path: PathBuf) -> Result<(), CliError> {
        let dataset = self.run.simulation().dataset();
        let width = self.run.width()?;
        let mut rows: Vec<Vec<Pixels>> = vec![];
        for (&k, tensor) in shared.clients.iter().take(CLIENTS) {
            let (n, _) = sizes(tensor);
            let chosen = spaced(n, IMAGES);
            let mine = &dataset.client_indices[k];
            if shared.in_order && n == mine.len() {
                let own: Vec<usize> = chosen.iter().map(|&i| mine[i]).collect();
                rows.push(row(self.run.inputs(&dataset.examples, &own)?.chunks(width)));
            }
            let images = chosen.iter();
            rows.push(row(
                images.map(|&i| &tensor.values[i * width..(i + 1) * width])
            ));
        }
        contact_sheet::save(&path, &rows, self.run.shape()?)
    }
}

/// The first two principal components, a colour for each client.
fn points(shared: &Shared, path: PathBuf) -> Result<(), CliError> {
    let clients = || shared.clients.iter().take(CLIENTS);
    let each = POINTS / clients().count().max(1);
    let (mut values, mut owners, mut width) = (vec![], vec![], 0);
    for (&k, tensor) in clients() {
        let (n, of) = sizes(tensor);
        for i in spaced(n, each) {
            values.extend_from_slice(&tensor.values[i * of..(i + 1) * of]);
            owners.push(k);
        }
        width = of;
    }
    let components = principal_components(Rows::new(&values, width)?)?;
    let series = clients().map(|(&k, _)| {
        let own = components
            .iter()
            .zip(&owners)
            .filter(|(_, owner)| **owner == k);
        let points = own.map(|(p, _)| (p[0], p[1])).collect();
        Series::line(format!("client {k}"), points)
    });
    draw(&path, Chart::points(), &series.collect::<Vec<_>>())
}
