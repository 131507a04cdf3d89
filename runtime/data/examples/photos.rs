//! Draws a folder of small JPEG files in ten classes, for measurements with many files:
//! `cargo run --release -p fedround-data --example photos -- DIR 100000 [SIDE]`.
//!
//! An image is a shaded square or disc on a shaded ground; its class is the place of it.

use std::error::Error;
use std::fs;
use std::path::Path;

use image::codecs::jpeg::JpegEncoder;
use image::{Rgb, RgbImage};

/// The quality that most programs write.
const QUALITY: u8 = 85;
/// A folder each.
const CLASSES: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(dir), Some(count)) = (args.next(), args.next()) else {
        return Err("expected DIR and a number of images".into());
    };
    let count: usize = count.parse()?;
    let side: u32 = args.next().map_or(Ok(32), |side| side.parse())?;
    let dir = Path::new(&dir);
    for class in 0..CLASSES {
        fs::create_dir_all(dir.join(format!("class-{class}")))?;
    }
    for i in 0..count {
        let (class, mut bytes) = (i % CLASSES, vec![]);
        let encoder = JpegEncoder::new_with_quality(&mut bytes, QUALITY);
        drawn(i, class, side).write_with_encoder(encoder)?;
        fs::write(dir.join(format!("class-{class}/{i:06}.jpg")), bytes)?;
    }
    println!("{count} images of {side}x{side} in {}", dir.display());
    Ok(())
}

/// The `i`-th image.
fn drawn(i: usize, class: usize, side: u32) -> RgbImage {
    let shade = |salt: usize| ((i * 2_654_435_761 + salt * 40_503) >> 7) as u8;
    let (ground, figure) = ([0, 1, 2].map(shade), [3, 4, 5].map(shade));
    let (column, row) = (class as u32 % 5, class as u32 / 5);
    let (x0, y0) = (side * (1 + 2 * column) / 10, side * (1 + 2 * row) / 4);
    let radius = side / 6;
    RgbImage::from_fn(side, side, |x, y| {
        let (dx, dy) = (x.abs_diff(x0), y.abs_diff(y0));
        let inside = match i % 2 {
            0 => dx <= radius && dy <= radius,
            _ => dx * dx + dy * dy <= radius * radius,
        };
        let colour = if inside { figure } else { ground };
        // Shading, so that a file is not a few bytes.
        Rgb(colour.map(|c| c.wrapping_add(((x * 3 + y * 5) % 64) as u8)))
    })
}
