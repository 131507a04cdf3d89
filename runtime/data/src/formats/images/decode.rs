//! Decoding and resizing of one image file.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{
    DynamicImage, ImageBuffer, ImageDecoder, ImageFormat, ImageReader, Limits, Luma, Rgb, RgbImage,
    Rgba,
};

use super::Fit;
use crate::DataError;

/// Limits that no picture of a dataset reaches. The header of a small file may claim more.
const MOST_PIXELS: u64 = 100_000_000;
const MOST_BYTES: u64 = 1 << 29;
/// A picture that is this many times as long as its shape is cropped before it is resized.
const LONGEST: u64 = 64;

/// Decodes a JPEG or PNG file to `out` as channel planes, `[channels, height, width]`. Pictures of another
/// size are resized by linear interpolation over the area that a pixel covers, as in Pillow's `BILINEAR`.
pub(super) fn into(
    path: &Path,
    shape: [usize; 3],
    fit: Fit,
    out: &mut [u8],
) -> Result<(), DataError> {
    let mut image = decode(path)?;
    let [channels, height, width] = shape;
    let (w, h) = (width as u32, height as u32);
    if fit == Fit::Crop {
        image = shortened(image, [w, h]);
    }
    // On the way, a picture has its own width and the height that it is brought to.
    if u64::from(image.width()) * u64::from(h) > MOST_PIXELS.max(u64::from(w) * u64::from(h)) {
        return Err(DataError::Image {
            path: path.to_path_buf(),
            bytes: fs::metadata(path).map_or(0, |m| m.len() as usize),
            message: format!(
                "its {} x {} pixels are too wide a picture to be brought to {w} x {h}",
                image.width(),
                image.height()
            ),
        });
    }
    let image = match fit {
        _ if (image.width(), image.height()) == (w, h) => image,
        Fit::Stretch => image.resize_exact(w, h, FilterType::Triangle),
        Fit::Crop => image.resize_to_fill(w, h, FilterType::Triangle),
    };
    if channels == 1 {
        out.copy_from_slice(image.to_luma8().as_raw());
        return Ok(());
    }
    let pixels = image.to_rgb8();
    let plane = height * width;
    for (at, pixel) in pixels.pixels().enumerate() {
        for (channel, &byte) in pixel.0.iter().enumerate() {
            out[channel * plane + at] = byte;
        }
    }
    Ok(())
}

/// The middle of a picture that is far longer than the shape that it is brought to. Of such a picture, scaling
/// its shorter side first would make a picture of any size, nearly all of which is cropped then.
fn shortened(image: DynamicImage, [w, h]: [u32; 2]) -> DynamicImage {
    let (width, height) = (image.width(), image.height());
    let [wide, tall] = [(width, h), (height, w)].map(|(a, b)| u64::from(a) * u64::from(b));
    // How much of a side has the proportions of the shape, and a few pixels more for the edges.
    let kept = |side: u32, long: u64, short: u64| {
        let kept = (u64::from(side) * short).div_ceil(long.max(1)) + 4;
        (kept.min(u64::from(side))) as u32
    };
    if wide > LONGEST * tall {
        let kept = kept(width, wide, tall);
        image.crop_imm((width - kept) / 2, 0, kept, height)
    } else if tall > LONGEST * wide {
        let kept = kept(height, tall, wide);
        image.crop_imm(0, (height - kept) / 2, width, kept)
    } else {
        image
    }
}

/// Resizes one channel of an image, in the same way.
pub(crate) fn resize(bytes: &[u8], from: [usize; 2], to: [usize; 2], out: &mut [u8]) {
    let [(height, width), (to_height, to_width)] = [from, to].map(|[h, w]| (h as u32, w as u32));
    match ImageBuffer::<Luma<u8>, _>::from_raw(width, height, bytes) {
        Some(image) if from != to => {
            let image = image::imageops::resize(&image, to_width, to_height, FilterType::Triangle);
            out.copy_from_slice(image.as_raw());
        }
        _ => out.copy_from_slice(bytes),
    }
}

/// What the header of an image says.
pub(crate) struct Size {
    /// Height and width of the upright image.
    pub side: [usize; 2],
    /// Whether the image has no colours.
    pub grey: bool,
}

/// Reads the header of a JPEG or PNG file.
pub(crate) fn size(path: &Path) -> Result<Size, DataError> {
    let unreadable = DataError::unreadable(path);
    let bad = |error: image::ImageError| DataError::Image {
        path: path.to_path_buf(),
        bytes: fs::metadata(path).map_or(0, |m| m.len() as usize),
        message: in_one_line(&error),
    };
    let reader = ImageReader::open(path).map_err(unreadable)?;
    let reader = reader.with_guessed_format().map_err(unreadable)?;
    let mut decoder = reader.into_decoder().map_err(bad)?;
    let (width, height) = decoder.dimensions();
    let side = [height as usize, width as usize];
    let [height, width] = side;
    let turned = lies(decoder.orientation().map_err(bad)?);
    Ok(Size {
        side: if turned { [width, height] } else { side },
        grey: !decoder.color_type().has_color(),
    })
}

/// Whether an image is stored on its side: its height is the width of the upright image.
fn lies(orientation: Orientation) -> bool {
    matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    )
}

/// What a decoder says, which may end in a line end.
fn in_one_line(error: &image::ImageError) -> String {
    let text = error.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The upright image in a file.
fn decode(path: &Path) -> Result<DynamicImage, DataError> {
    let unreadable = DataError::unreadable(path);
    let length = fs::metadata(path).map_err(unreadable)?.len();
    let bad = |message: String| DataError::Image {
        path: path.to_path_buf(),
        bytes: length as usize,
        message,
    };
    if length > MOST_BYTES {
        return Err(bad(format!(
            "the file has more than {} MiB",
            MOST_BYTES >> 20
        )));
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    let failed = |error: image::ImageError| bad(in_one_line(&error));
    let format = image::guess_format(&bytes).map_err(failed)?;
    if format == ImageFormat::Jpeg && !ends(&bytes) {
        return Err(bad("the end-of-image marker is missing".to_owned()));
    }
    let mut reader = ImageReader::with_format(Cursor::new(&bytes[..]), format);
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MOST_BYTES);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(failed)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(bad(format!(
            "it has {width} x {height} pixels, and an image may have {} million",
            MOST_PIXELS / 1_000_000
        )));
    }
    if decoder.total_bytes() > MOST_BYTES {
        let mib = decoder.total_bytes() >> 20;
        return Err(bad(format!(
            "its {width} x {height} pixels take {mib} MiB, and an image may take {} MiB",
            MOST_BYTES >> 20
        )));
    }
    let orientation = decoder.orientation().map_err(failed)?;
    let mut image = DynamicImage::from_decoder(decoder).map_err(failed)?;
    image.apply_orientation(orientation);
    Ok(over_white(image))
}

/// An image that is transparent somewhere, on a white background. Without its transparency, what such pixels are
/// coloured is arbitrary: those around a drawing often are as black as the drawing.
fn over_white(image: DynamicImage) -> DynamicImage {
    const OPAQUE: u8 = u8::MAX;
    if !image.color().has_alpha() {
        return image;
    }
    let pixels = image.to_rgba8();
    if pixels.pixels().all(|pixel| pixel[3] == OPAQUE) {
        return image;
    }
    let on_white = |colour: u8, alpha: u8| {
        let (colour, alpha, all) = (u32::from(colour), u32::from(alpha), u32::from(OPAQUE));
        ((colour * alpha + all * (all - alpha) + all / 2) / all) as u8
    };
    let mut white = RgbImage::new(image.width(), image.height());
    for (to, Rgba([r, g, b, alpha])) in white.pixels_mut().zip(pixels.pixels()) {
        *to = Rgb([r, g, b].map(|colour| on_white(*colour, *alpha)));
    }
    white.into()
}

/// Whether a JPEG file has an end marker after its image. What follows that marker, such as the video of a moving
/// photo, does not count, and neither does what is inside a segment, such as a preview. The decoder accepts a file
/// that breaks off and fills the rest of the picture with grey.
fn ends(bytes: &[u8]) -> bool {
    const END: u8 = 0xD9;
    // Compressed data, which has no length, has none of these markers.
    let is_marker = |pair: &[u8]| pair[0] == 0xFF && matches!(pair[1], 0xC0..=0xCF | END..=0xFE);
    let mut rest = bytes.get(2..).unwrap_or_default();
    while let Some(at) = rest.windows(2).position(is_marker) {
        if rest[at + 1] == END {
            return true;
        }
        rest = &rest[at + 2..];
        // The length of a segment counts its own two bytes.
        let length = rest.first_chunk::<2>();
        let length = length.map_or(usize::MAX, |&length| u16::from_be_bytes(length).into());
        rest = rest.get(length..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use image::LumaA;

    use super::*;

    #[test]
    fn what_is_transparent_is_white() {
        // Ink of a drawing whose pixels are all black; the drawing itself is in their transparency.
        let of_alpha = |alpha: [u8; 3]| {
            let mut image = ImageBuffer::new(3, 1);
            for (x, alpha) in (0..).zip(alpha) {
                image.put_pixel(x, 0, LumaA([0, alpha]));
            }
            over_white(DynamicImage::ImageLumaA8(image))
        };
        assert_eq!(of_alpha([255, 128, 0]).to_luma8().as_raw(), &[0, 127, 255]);
        let opaque = of_alpha([255, 255, 255]);
        assert!(opaque.color().has_alpha(), "it is left as it is");
        let coloured = ImageBuffer::from_pixel(1, 1, Rgba([0, u16::MAX, 0, u16::MAX / 2]));
        let coloured = over_white(DynamicImage::ImageRgba16(coloured)).to_rgb8();
        assert_eq!(coloured.as_raw(), &[128, 255, 128]);
    }
}
