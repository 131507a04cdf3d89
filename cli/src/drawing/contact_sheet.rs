//! Contact sheets of images.

use std::ffi::OsStr;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use fedround_store::write_atomically;
use image::{ImageFormat, Rgb, RgbImage, imageops};

use crate::error::CliError;

/// Images are enlarged by a whole number to about this many pixels a side.
const SIDE: u32 = 64;
/// Pixels between images.
const GAP: u32 = 4;

/// The pixels of an image in `[0, 1]`: planes of red, green and blue, or of grey.
pub(crate) type Pixels = Vec<f32>;

/// A sheet is PNG, and its file is named otherwise.
#[derive(Debug, thiserror::Error)]
#[error("{}: expected the name of a sheet of images to end in .png", .0.display())]
pub(crate) struct NotPng(PathBuf);

/// Reads the argument that names the file of a sheet. A file of another kind, such as the table that is looked at,
/// is not written over.
pub(crate) fn sheet_path(argument: &str) -> Result<PathBuf, NotPng> {
    let path = PathBuf::from(argument);
    let is_png = |extension: &OsStr| extension.eq_ignore_ascii_case("png");
    match path.extension().is_some_and(is_png) {
        true => Ok(path),
        false => Err(NotPng(path)),
    }
}

/// Writes rows of images, `[channels, height, width]` each, to a PNG file.
pub(crate) fn save(
    path: &Path,
    rows: &[Vec<Pixels>],
    [_, height, width]: [usize; 3],
) -> Result<(), CliError> {
    let (w, h) = (width as u32, height as u32);
    let zoom = (SIDE / h.max(w).max(1)).max(1);
    let [tile_w, tile_h] = [w, h].map(|side| side * zoom + GAP);
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let (sheet_w, sheet_h) = (columns as u32 * tile_w, rows.len() as u32 * tile_h);
    let mut sheet = RgbImage::from_pixel(sheet_w + GAP, sheet_h + GAP, Rgb([255; 3]));
    for (row, pictures) in rows.iter().enumerate() {
        for (column, pixels) in pictures.iter().enumerate() {
            let picture = picture(pixels, w, h);
            let filter = imageops::FilterType::Nearest;
            let picture = imageops::resize(&picture, w * zoom, h * zoom, filter);
            let (x, y) = (column as u32 * tile_w + GAP, row as u32 * tile_h + GAP);
            imageops::replace(&mut sheet, &picture, x.into(), y.into());
        }
    }
    let mut png = Cursor::new(vec![]);
    let encoded = sheet.write_to(&mut png, ImageFormat::Png);
    encoded.map_err(|error| CliError::Draw {
        path: path.to_owned(),
        message: error.to_string(),
    })?;
    Ok(write_atomically(path, &[png.get_ref()])?)
}

/// A row of images, each spread over all greys.
pub(crate) fn row<'a>(images: impl Iterator<Item = &'a [f32]>) -> Vec<Pixels> {
    images.map(spread).collect()
}

/// Numbers spread over `[0, 1]`.
#[must_use]
pub(crate) fn spread(pixels: &[f32]) -> Pixels {
    let low = pixels.iter().copied().fold(f32::INFINITY, f32::min);
    let high = pixels.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let range = if high > low { high - low } else { 1.0 };
    pixels.iter().map(|p| (p - low) / range).collect()
}

/// Red, green and blue, or the first plane in grey.
fn picture(pixels: &[f32], width: u32, height: u32) -> RgbImage {
    let plane = (width * height) as usize;
    let colours = if pixels.len() == 3 * plane { 3 } else { 1 };
    RgbImage::from_fn(width, height, |x, y| {
        let at = (y * width + x) as usize;
        let byte = |channel: usize| (pixels[channel % colours * plane + at] * 255.0).round() as u8;
        Rgb([byte(0), byte(1), byte(2)])
    })
}
