//! `fedround data preview`: a contact sheet.

use fedround_data::{Dataset, Examples, Scale};
use image::{Rgb, RgbImage, imageops};

use super::args::PreviewArgs;
use super::error::DataCommandError;

/// The classes that get a row.
const ROWS: usize = 20;
/// Images are enlarged by a whole number to about this many pixels a side.
const SIDE: u32 = 64;
/// Pixels between images.
const GAP: u32 = 4;

/// Runs the subcommand.
pub(super) fn preview(args: &PreviewArgs) -> Result<String, DataCommandError> {
    if args.columns == 0 {
        return Err(DataCommandError::Zero { name: "--columns" });
    }
    let data = args.dataset.load()?;
    let [_, height, width] = data.train.image_shape()?;
    let rows = first_of_each(&data, args.columns)?;
    let zoom = (SIDE / (height.max(width) as u32)).max(1);
    let [tile_w, tile_h] = [width, height].map(|side| side as u32 * zoom + GAP);
    let (sheet_w, sheet_h) = (args.columns as u32 * tile_w, rows.len() as u32 * tile_h);
    let mut sheet = RgbImage::from_pixel(sheet_w + GAP, sheet_h + GAP, Rgb([255; 3]));
    for (row, (_, pictures)) in rows.iter().enumerate() {
        for (column, pixels) in pictures.iter().enumerate() {
            let picture = picture(pixels, width as u32, height as u32);
            let (w, h) = (width as u32 * zoom, height as u32 * zoom);
            let picture = imageops::resize(&picture, w, h, imageops::FilterType::Nearest);
            let (x, y) = (column as u32 * tile_w + GAP, row as u32 * tile_h + GAP);
            imageops::replace(&mut sheet, &picture, x.into(), y.into());
        }
    }
    let format = image::ImageFormat::Png;
    sheet
        .save_with_format(&args.out, format)
        .map_err(|error| DataCommandError::Draw {
            path: args.out.clone(),
            message: error.to_string(),
        })?;
    let names = rows
        .iter()
        .enumerate()
        .map(|(row, (class, _))| format!("  row {}  {}\n", row + 1, data.class_names[*class]));
    let names: String = names.collect();
    Ok(format!("{} holds\n{names}", args.out.display()))
}

/// The pixels of an image in `[0, 1]`.
type Pixels = Vec<f32>;

/// The first classes that occur, with up to `n` training images of each; examples
/// that share an image, as captions do, follow each other.
fn first_of_each(data: &Dataset, n: usize) -> Result<Vec<(usize, Vec<Pixels>)>, DataCommandError> {
    let mut of = vec![Vec::new(); data.classes];
    for (example, &label) in data.train.labels().iter().enumerate() {
        if let Some(examples) = of.get_mut(usize::from(label)) {
            examples.push(example);
        }
    }
    let there = of
        .into_iter()
        .enumerate()
        .filter(|(_, all)| !all.is_empty());
    let row = |(class, examples): (usize, Vec<usize>)| {
        let mut pictures: Vec<Pixels> = Vec::new();
        for example in examples {
            let pixels = unit(&data.train, example)?;
            if pictures.last() != Some(&pixels) {
                pictures.push(pixels);
            }
            if pictures.len() == n {
                break;
            }
        }
        Ok((class, pictures))
    };
    there.take(ROWS).map(row).collect()
}

/// An example's image; numbers that do not come from bytes are spread over `[0, 1]`.
fn unit(examples: &Examples, index: usize) -> Result<Pixels, DataCommandError> {
    let x = examples.x();
    let mut pixels = vec![0.0; x.features()];
    if x.scale().is_some() {
        let x = x.clone().with_scale(Scale::Unit)?;
        x.gather_into(&[index], &mut pixels)?;
        return Ok(pixels);
    }
    x.gather_into(&[index], &mut pixels)?;
    let low = pixels.iter().copied().fold(f32::INFINITY, f32::min);
    let high = pixels.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let range = if high > low { high - low } else { 1.0 };
    pixels.iter_mut().for_each(|p| *p = (*p - low) / range);
    Ok(pixels)
}

/// An image of planes of numbers in `[0, 1]`: red, green and blue, or the first
/// plane in grey.
fn picture(pixels: &[f32], width: u32, height: u32) -> RgbImage {
    let plane = (width * height) as usize;
    let colours = if pixels.len() == 3 * plane { 3 } else { 1 };
    RgbImage::from_fn(width, height, |x, y| {
        let at = (y * width + x) as usize;
        let byte = |channel: usize| (pixels[channel % colours * plane + at] * 255.0).round() as u8;
        Rgb([byte(0), byte(1), byte(2)])
    })
}
