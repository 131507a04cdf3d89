//! Pictures of what clients share, and of the rounds.

use std::path::PathBuf;

use fedround_metrics::Rows;
use fedround_metrics::features::principal_components;

use super::Subject;
use super::measure::spaced;
use super::models::{inputs, sizes};
use super::record::Shared;
use crate::cli::error::CliError;
use crate::cli::plot::{Chart, Series, draw};
use crate::cli::run::slug;
use crate::cli::sheet::{self, Pixels, spread};

/// Clients in a picture.
const CLIENTS: usize = 10;
/// Images of a client in a sheet.
const IMAGES: usize = 10;
/// Representations in a picture, of all clients together.
const POINTS: usize = 500;

impl Subject<'_> {
    /// The variance of local models over rounds; nothing where no models were sent.
    pub fn variance(&self) -> Result<Option<String>, CliError> {
        let rounds = self.record.rounds.iter();
        let points = rounds.filter_map(|r| Some((r.round as f64, r.model_variance?)));
        let points: Vec<_> = points.collect();
        if points.is_empty() {
            return Ok(None);
        }
        let name = self.settings.spec.clone();
        let file = "variance.svg".to_owned();
        let chart = Chart::Rounds("variance of local models");
        draw(&self.dir.join(&file), chart, &[Series { name, points }])?;
        Ok(Some(file))
    }

    /// The picture of some rows: a contact sheet of images, the principal components of
    /// representations. Nothing of labels, and of rows that are neither.
    pub fn picture(&self, shared: &Shared, number: usize) -> Result<Option<String>, CliError> {
        let Some(first) = shared.clients.values().next() else {
            return Ok(None);
        };
        let examples = &self.simulation.federation().examples;
        let is_image = sizes(first).1 == examples.features() && self.are_images();
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
        let federation = self.simulation.federation();
        let width = federation.examples.features();
        let mut rows: Vec<Vec<Pixels>> = vec![];
        for (&k, tensor) in shared.clients.iter().take(CLIENTS) {
            let (n, _) = sizes(tensor);
            let chosen = spaced(n, IMAGES);
            let mine = &federation.parts[k];
            if shared.in_order && n == mine.len() {
                let own: Vec<usize> = chosen.iter().map(|&i| mine[i]).collect();
                rows.push(row(inputs(&federation.examples, &own)?.chunks(width)));
            }
            let images = chosen.iter();
            rows.push(row(
                images.map(|&i| &tensor.values[i * width..(i + 1) * width])
            ));
        }
        let shape = federation.examples.input_shape()?;
        sheet::save(&path, &rows, shape).map_err(|error| CliError::Draw {
            path,
            message: error.to_string(),
        })
    }
}

fn row<'a>(images: impl Iterator<Item = &'a [f32]>) -> Vec<Pixels> {
    let spread = |image: &[f32]| {
        let mut image = image.to_vec();
        spread(&mut image);
        image
    };
    images.map(spread).collect()
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
        Series {
            name: format!("client {k}"),
            points: own.map(|(p, _)| (p[0], p[1])).collect(),
        }
    });
    draw(&path, Chart::Points, &series.collect::<Vec<_>>())
}
