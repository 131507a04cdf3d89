//! Model inversion: rebuilds images from the values that clients share of them.

use fedround_data::{Column, Examples};
use serde::Serialize;

use super::rebuild::Rebuild;
use super::{Known, Pool};
use crate::drawing::contact_sheet::{Pixels, row};
use crate::error::CliError;
use crate::inspect::leakage::spaced;
use crate::inspect::subject::Subject;

/// Pairs that attackers learn from, images that they rebuild, and rounds of their training.
const PAIRS: usize = 512;
const VICTIMS: usize = 128;
const ROUNDS: usize = 2;
/// Images in a row of the sheet.
const IMAGES: usize = 10;
/// The attackers' network: the residual variant of FedFed's generator.
const NETWORK: Option<&str> = Some("resnet");

/// How well images were rebuilt.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Inversion {
    /// What was shared.
    pub shared: String,
    /// PSNR of images as they were shared, in decibels.
    pub given: f64,
    /// PSNR of what the attackers make of them.
    pub rebuilt: f64,
}

/// Some rows of the pool and the images that they are of, of attackers and then of others.
struct Pairs {
    given: Vec<f32>,
    x: Vec<f32>,
    /// How many are the attackers'.
    own: usize,
    all: usize,
}

impl Known {
    fn width(&self) -> usize {
        self.shape.iter().product()
    }

    /// At most `most` rows of every second client, from the first or the second on.
    fn half(&self, odd: usize, most: usize) -> Vec<usize> {
        let half = self.clients.iter().skip(odd).step_by(2);
        let rows: Vec<usize> = half.flat_map(|(_, rows)| rows.clone()).collect();
        let chosen = spaced(rows.len(), most);
        chosen.iter().map(|&i| rows[i]).collect()
    }

    fn pairs(&self, pool: &Pool) -> Pairs {
        let own = self.half(0, PAIRS);
        let rows = [own.as_slice(), &self.half(1, VICTIMS)].concat();
        let width = self.width();
        let take = |values: &[f32]| -> Vec<f32> {
            let rows = rows.iter().map(|&i| &values[i * width..(i + 1) * width]);
            rows.flatten().copied().collect()
        };
        Pairs {
            given: take(&pool.rows),
            x: take(&self.x),
            own: own.len(),
            all: rows.len(),
        }
    }
}

impl Subject<'_> {
    /// Rebuilds images of every second client, and adds rows of them to a sheet.
    pub(super) fn invert(
        &self,
        known: &Known,
        pool: &Pool,
        sheet: &mut Vec<Vec<Pixels>>,
    ) -> Result<Inversion, CliError> {
        let (width, pairs) = (known.width(), known.pairs(pool));
        let rebuilt = self.rebuild(known, &pairs)?;
        let others = pairs.own * width;
        let (given, x) = (&pairs.given[others..], &pairs.x[others..]);
        let some = |images: &[f32]| {
            let chosen = spaced(images.len() / width, IMAGES).into_iter();
            row(chosen.map(|i| &images[i * width..(i + 1) * width]))
        };
        if sheet.is_empty() {
            sheet.push(some(x));
        }
        sheet.extend([some(given), some(&rebuilt)]);
        Ok(Inversion {
            shared: pool.name.clone(),
            given: self.psnr(x, given)?,
            rebuilt: self.psnr(x, &rebuilt)?,
        })
    }

    /// Trains the attackers' network on their pairs; what it makes of the others' rows.
    fn rebuild(&self, known: &Known, pairs: &Pairs) -> Result<Vec<f32>, CliError> {
        let shape = known.shape.to_vec();
        let columns = vec![
            Column::floats("x", shape.clone(), pairs.given.clone())?,
            Column::floats("target", shape, pairs.x.clone())?,
        ];
        let examples = Examples::of_columns(columns, vec![0_u16; pairs.all])?;
        let parts = vec![(0..pairs.own).collect(), (pairs.own..pairs.all).collect()];
        let trains = Rebuild::default();
        let mut attacker = self
            .run
            .simulate(&trains, examples.clone(), parts.clone(), NETWORK)?;
        for _ in 0..ROUNDS {
            attacker.run_round()?;
        }
        let found = attacker.parameters()?;
        let mut outputs = self
            .run
            .outputs("generate", &found, examples, parts, NETWORK)?;
        Ok(outputs.pop().unwrap_or_default())
    }
}
