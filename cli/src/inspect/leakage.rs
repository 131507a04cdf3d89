//! Measures how much of a client's examples can be read from what the client shares.

use fedround_data::Scale;
use fedround_data::augment::Transform;
use fedround_metrics::Rows;
use fedround_metrics::correlation::distance_correlation_squared;
use fedround_metrics::features::frechet_distance;
use fedround_metrics::images::psnr;
use fedround_random::{Purpose, StreamKey};
use serde::Serialize;

use super::observations::Shared;
use super::observations::sizes;
use super::subject::Subject;
use crate::error::CliError;

/// Examples that a distance correlation is of, which takes time of their square.
const PAIRS: usize = 400;
/// A side of the images that a Fréchet distance is of.
const SIDE: usize = 8;

/// Images that were shared beside those that they are of.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Images {
    /// The peak signal-to-noise ratio, the mean over examples, in decibels.
    pub psnr: f64,
    /// The Fréchet distance of images that are reduced to 8x8 means a plane.
    pub frechet: Option<f64>,
}

/// The squared distance correlation of inputs with something else.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Correlation {
    /// With what.
    pub with: String,
    /// `R²(x, ·)`.
    pub r2: f64,
}

/// Rows of several clients and the inputs that they are of.
struct Paired {
    x: Vec<f32>,
    shared: Vec<f32>,
    labels: Vec<u16>,
    width: usize,
}

impl Subject<'_> {
    /// The pairs of examples and what was shared of them, evenly over clients, at most `most`;
    /// `None` of rows that are not in the order of the examples, or of examples as they were changed
    /// at random.
    fn paired(&self, shared: &Shared, most: usize) -> Result<Option<Paired>, CliError> {
        if self.run.settings().augment.is_random() {
            return Ok(None);
        }
        let dataset = self.run.simulation().dataset();
        let each = most.div_ceil(shared.clients.len().max(1));
        let (mut x, mut rows, mut labels, mut width) = (vec![], vec![], vec![], 0);
        for (&k, tensor) in &shared.clients {
            let (n, of) = sizes(tensor);
            let mine = &dataset.client_indices[k];
            if !shared.in_order || n != mine.len() || shared.labels {
                return Ok(None);
            }
            let chosen = spaced(n, each);
            let own: Vec<usize> = chosen.iter().map(|&i| mine[i]).collect();
            x.extend(self.run.inputs(&dataset.examples, &own)?);
            labels.extend(own.iter().map(|&i| dataset.examples.labels()[i]));
            let values = chosen.iter().map(|&i| &tensor.values[i * of..(i + 1) * of]);
            rows.extend(values.flatten());
            width = of;
        }
        Ok(Some(Paired {
            x,
            shared: rows,
            labels,
            width,
        }))
    }

    /// PSNR and Fréchet distance of images that were shared; `None` of anything else.
    pub fn images(&self, shared: &Shared) -> Result<Option<Images>, CliError> {
        let Some(pairs) = self.paired(shared, usize::MAX / 2)? else {
            return Ok(None);
        };
        if pairs.width != self.run.width()? || !self.are_images() {
            return Ok(None);
        }
        let shape = self.run.shape()?;
        let (a, b) = (reduced(&pairs.x, shape), reduced(&pairs.shared, shape));
        // Not of fewer images than their covariance has rows.
        let n = pairs.labels.len();
        let width = a.len() / n.max(1);
        let enough = n > width;
        let frechet =
            enough.then(|| frechet_distance(Rows::new(&a, width)?, Rows::new(&b, width)?));
        Ok(Some(Images {
            psnr: self.psnr(&pairs.x, &pairs.shared)?,
            frechet: frechet.transpose()?,
        }))
    }

    /// The mean over images of the PSNR of `y`, in decibels.
    pub fn psnr(&self, x: &[f32], y: &[f32]) -> Result<f64, CliError> {
        let (range, width) = (self.range(x), self.run.width()?);
        let each = x.chunks(width).zip(y.chunks(width));
        let each = each.map(|(x, y)| psnr(x, y, range));
        let each: Vec<f64> = each.collect::<Result<_, _>>()?;
        Ok(each.iter().sum::<f64>() / each.len().max(1) as f64)
    }

    /// Distance correlations of inputs with their classes' names, with noise, and with what was
    /// shared of them.
    pub fn correlations(&self) -> Result<Vec<Correlation>, CliError> {
        let dataset = self.run.simulation().dataset();
        let all: Vec<usize> = dataset.client_indices.iter().flatten().copied().collect();
        let some: Vec<usize> = spaced(all.len(), PAIRS).iter().map(|&i| all[i]).collect();
        let x = self.run.inputs(&dataset.examples, &some)?;
        let labels = some.iter().map(|&i| dataset.examples.labels()[i]);
        let names = one_hot(labels, self.run.data().classes);
        let seed = self.run.settings().seed;
        let mut noise = StreamKey::new(seed, Purpose::CorrelationNoise).stream();
        let noise: Vec<f32> = some.iter().map(|_| noise.normal() as f32).collect();
        let width = self.run.width()?;
        let with = |x: &[f32], y: &[f32], of: usize, name: &str| {
            let r2 = distance_correlation_squared(Rows::new(x, width)?, Rows::new(y, of)?)?;
            Ok::<_, CliError>(Correlation {
                with: name.to_owned(),
                r2,
            })
        };
        let mut found = vec![
            with(
                &x,
                &names,
                self.run.data().classes,
                "names of their classes",
            )?,
            with(&x, &noise, 1, "Gaussian noise")?,
        ];
        for shared in self.observations.shared().filter(|s| s.sent) {
            if let Some(pairs) = self.paired(shared, PAIRS)? {
                found.push(with(&pairs.x, &pairs.shared, pairs.width, &shared.name)?);
                let own = one_hot(pairs.labels.iter().copied(), self.run.data().classes);
                let of = format!("{}, and the names", shared.name);
                let (a, b) = (
                    pairs.shared.chunks(pairs.width),
                    own.chunks(self.run.data().classes),
                );
                let both: Vec<f32> = a.zip(b).flat_map(|(a, b)| [a, b].concat()).collect();
                found.push(with(
                    &pairs.x,
                    &both,
                    pairs.width + self.run.data().classes,
                    &of,
                )?);
            }
        }
        Ok(found)
    }

    /// Whether inputs are pixels.
    pub fn are_images(&self) -> bool {
        self.run
            .simulation()
            .dataset()
            .examples
            .image_shape()
            .is_ok()
    }

    /// What pixels span.
    fn range(&self, x: &[f32]) -> f64 {
        let examples = &self.run.simulation().dataset().examples;
        let mut steps = self.run.settings().augment.steps.iter();
        let normalised = steps.any(|step| matches!(step, Transform::Normalise { .. }));
        if !normalised && examples.x().scale() == Some(&Scale::Unit) {
            return 1.0;
        }
        let low = x.iter().copied().fold(f32::INFINITY, f32::min);
        let high = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        f64::from(high - low).max(f64::MIN_POSITIVE)
    }
}

/// At most `most` numbers below `n`, evenly spaced.
pub(super) fn spaced(n: usize, most: usize) -> Vec<usize> {
    let m = n.min(most);
    (0..m).map(|i| i * n / m).collect()
}

fn one_hot(labels: impl Iterator<Item = u16>, classes: usize) -> Vec<f32> {
    let row = |label: u16| (0..classes).map(move |c| f32::from(c == usize::from(label)));
    labels.flat_map(row).collect()
}

/// The means of tiles of images, at most 8x8 a plane.
fn reduced(images: &[f32], [c, h, w]: [usize; 3]) -> Vec<f32> {
    let (rows, columns) = (SIDE.min(h), SIDE.min(w));
    let mut all = Vec::with_capacity(images.len() / (h * w) * rows * columns);
    for plane in images.chunks(h * w) {
        for r in 0..rows {
            for s in 0..columns {
                let (tall, wide) = (
                    r * h / rows..(r + 1) * h / rows,
                    s * w / columns..(s + 1) * w / columns,
                );
                let tile = tall
                    .clone()
                    .flat_map(|y| wide.clone().map(move |x| plane[y * w + x]));
                all.push(tile.sum::<f32>() / (tall.len() * wide.len()) as f32);
            }
        }
    }
    debug_assert_eq!(all.len() % (c * rows * columns), 0);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_means() {
        let image: Vec<f32> = (0..256).map(|i| (i / 32) as f32).collect();
        let found = reduced(&image, [1, 16, 16]);
        assert_eq!(found.len(), 64);
        assert_eq!((found[0], found[63]), (0.0, 7.0));
        assert_eq!(
            reduced(&[1.0, 2.0, 3.0, 4.0], [1, 2, 2]),
            [1.0, 2.0, 3.0, 4.0]
        );
    }

    #[test]
    fn spaced_numbers_begin_at_the_first() {
        assert_eq!(spaced(10, 3), [0, 3, 6]);
        assert_eq!(spaced(2, 5), [0, 1]);
        assert!(spaced(0, 5).is_empty());
    }
}
