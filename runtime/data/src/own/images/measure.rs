//! The shape and the scale of images, found on a sample of them.

use std::path::PathBuf;

use crate::formats::images::size;
use crate::own::normalize::{of_channels, sample};
use crate::own::{Broken, ReadOptions};
use crate::{DataError, ImageFiles};

/// The largest number of images that are looked at.
const SAMPLE: usize = 100;
/// Images that agree in size keep it up to this many pixels a side.
const LARGEST: usize = 128;
/// Height and width of other images.
const SIDE: usize = 64;

/// The shape of images.
pub(super) struct Shape {
    /// Channels, height and width.
    pub shape: [usize; 3],
    /// What a user should know of it.
    pub notes: Vec<String>,
}

/// The shape that the images are brought to. Only headers are read.
pub(super) fn shape(paths: &[PathBuf], reading: &ReadOptions) -> Result<Shape, DataError> {
    if let Some(&[channels, height, width]) = reading.like.as_ref().map(|like| &like.shape[..]) {
        return Ok(Shape {
            shape: [channels, height, width],
            notes: vec![],
        });
    }
    let mut sizes = vec![];
    for at in sample(paths.len(), SAMPLE) {
        match size(&paths[at]) {
            Ok(size) => sizes.push(size),
            Err(_) if reading.broken == Broken::Skip => {}
            Err(error) => return Err(error),
        }
    }
    let channels = match sizes.iter().all(|size| size.grey) {
        true if !sizes.is_empty() => 1,
        _ => 3,
    };
    let same = sizes.windows(2).all(|two| two[0].side == two[1].side);
    let mut notes = vec![];
    if channels == 1 && paths.len() > SAMPLE {
        let (looked_at, all) = (sizes.len(), paths.len());
        notes.push(format!(
            "the {looked_at} images looked at are grey, so all {all} are read as grey"
        ));
    }
    let shape = match (reading.resize, sizes.first()) {
        (Some(side), _) => [channels, side, side],
        (None, Some(first)) if same && first.side.iter().all(|&n| n <= LARGEST) => {
            [channels, first.side[0], first.side[1]]
        }
        (None, first) => {
            let found = match first {
                Some(first) if same => {
                    format!("images have {} x {} pixels", first.side[0], first.side[1])
                }
                _ => "images differ in size".to_owned(),
            };
            notes.push(format!(
                "{found} and are brought to {SIDE} x {SIDE}; the option `resize` chooses another size"
            ));
            [channels, SIDE, SIDE]
        }
    };
    Ok(Shape { shape, notes })
}

/// The mean and the standard deviation of each channel over a sample of the files in `rows`.
pub(super) fn moments(
    files: &ImageFiles,
    rows: &[usize],
) -> Result<(Vec<f32>, Vec<f32>), DataError> {
    let chosen = sample(rows.len(), SAMPLE).into_iter();
    let paths = chosen.map(|at| files.paths()[rows[at]].clone()).collect();
    let [channels, height, width] = files.shape();
    let bytes = files.resembling(paths)?.decode_all()?;
    Ok(of_channels(&bytes, channels, height * width))
}
