//! PNG and PDF of an SVG drawing, with the fonts of the system.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::fontdb::{Database, FaceInfo, Style};
use resvg::usvg::{Options, Tree};
use svg2pdf::{ConversionOptions, PageOptions, to_pdf};

use super::format::{DrawingError, Picture};

/// Pixels of a PNG for each pixel of the drawing, so that letters stay sharp in print.
const SCALE: f32 = 2.0;
/// The pixels that a PNG may have: its memory has four bytes for each of them.
const PIXELS: u64 = 100_000_000;
/// The fonts for `sans-serif` and `monospace`, in order of preference.
const SANS: [&str; 6] = [
    "Helvetica",
    "Arial",
    "Liberation Sans",
    "DejaVu Sans",
    "Noto Sans",
    "Segoe UI",
];
const MONO: [&str; 6] = [
    "Menlo",
    "Consolas",
    "Liberation Mono",
    "DejaVu Sans Mono",
    "Noto Sans Mono",
    "Courier New",
];

/// A drawing as PNG, on white.
pub(super) fn png(svg: &str) -> Result<Vec<u8>, DrawingError> {
    let tree = tree(svg, Picture::Png)?;
    let size = tree.size();
    let [width, height] = [size.width(), size.height()].map(|side| (side * SCALE).ceil() as u32);
    let too_large = || DrawingError::TooLarge(width, height);
    if u64::from(width) * u64::from(height) > PIXELS {
        return Err(too_large());
    }
    let mut pixels = Pixmap::new(width, height).ok_or_else(too_large)?;
    pixels.fill(Color::WHITE);
    let scale = Transform::from_scale(SCALE, SCALE);
    resvg::render(&tree, scale, &mut pixels.as_mut());
    pixels.encode_png().map_err(failed(Picture::Png))
}

/// A drawing as a PDF of one page.
pub(super) fn pdf(svg: &str) -> Result<Vec<u8>, DrawingError> {
    let tree = tree(svg, Picture::Pdf)?;
    let pdf = to_pdf(&tree, ConversionOptions::default(), PageOptions::default());
    pdf.map_err(failed(Picture::Pdf))
}

fn tree(svg: &str, to: Picture) -> Result<Tree, DrawingError> {
    let options = Options {
        fontdb: fonts()?,
        ..Options::default()
    };
    Tree::from_str(svg, &options).map_err(failed(to))
}

fn failed<E: ToString>(to: Picture) -> impl Fn(E) -> DrawingError {
    move |error| DrawingError::Convert {
        to,
        message: error.to_string(),
    }
}

/// The fonts of the system, which are looked for once.
fn fonts() -> Result<Arc<Database>, DrawingError> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let found = FONTS.get_or_init(|| {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        name_families(&mut fonts);
        Arc::new(fonts)
    });
    not_empty(found)
}

/// Without a font, letters would be left out and nobody told.
fn not_empty(fonts: &Arc<Database>) -> Result<Arc<Database>, DrawingError> {
    match fonts.is_empty() {
        true => Err(DrawingError::NoFont),
        false => Ok(Arc::clone(fonts)),
    }
}

/// Says which fonts `sans-serif` and `monospace` are: drawings name them last, after fonts that may not be
/// there, and letters of fonts that are not there would be left out.
fn name_families(fonts: &mut Database) {
    let upright = |face: &&FaceInfo| face.style == Style::Normal;
    let family = |names: &[&str], kind: &dyn Fn(&&FaceInfo) -> bool| {
        let has = |name: &str, face: &FaceInfo| face.families.iter().any(|(own, _)| own == name);
        let preferred = names.iter().find_map(|name| {
            let known = fonts.faces().any(|face| has(name, face));
            known.then(|| (*name).to_owned())
        });
        let first = |face: &FaceInfo| Some(face.families.first()?.0.clone());
        preferred
            .or_else(|| fonts.faces().filter(upright).find(kind).and_then(first))
            .or_else(|| fonts.faces().next().and_then(first))
    };
    let sans = family(&SANS, &|face| !face.monospaced);
    let mono = family(&MONO, &|face| face.monospaced);
    if let Some(sans) = sans {
        fonts.set_serif_family(sans.clone());
        fonts.set_sans_serif_family(sans);
    }
    if let Some(mono) = mono {
        fonts.set_monospace_family(mono);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of 60 × 20 pixels with a word on it.
    const WORD: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20">
        <text x="4" y="15" font-family="No Such Font, sans-serif" font-size="14">round</text></svg>"#;

    #[test]
    fn a_png_has_the_size_and_the_letters() {
        let image = image::load_from_memory(&png(WORD).unwrap())
            .unwrap()
            .to_luma8();
        assert_eq!(image.dimensions(), (120, 40));
        let dark = image.pixels().filter(|pixel| pixel.0[0] < 100).count();
        let light = image.pixels().filter(|pixel| pixel.0[0] == 255).count();
        assert!(dark > 50 && light > 2000, "{dark} dark, {light} light");
    }

    #[test]
    fn a_pdf_has_a_page_with_the_font_of_the_letters() {
        let bytes = pdf(WORD).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.starts_with("%PDF-") && text.trim_end().ends_with("%%EOF"));
        // 60 × 20 pixels of 1/72 inch each.
        let page = text.contains("/Type /Page\n") && text.contains("/MediaBox [0 0 60 20]");
        assert!(page && text.contains("/Type /Font"), "{text}");
    }

    #[test]
    fn what_cannot_be_drawn_is_an_error() {
        let error = |result: Result<Vec<u8>, DrawingError>| result.unwrap_err().to_string();
        let wide = WORD
            .replace("\"60\"", "\"50000\"")
            .replace("\"20\"", "\"50000\"");
        let text = error(png(&wide));
        assert!(text.contains("100000 × 100000 pixels"), "{text}");
        for text in [error(png("<svg")), error(pdf("<svg"))] {
            assert!(text.contains("cannot be made of the SVG: "), "{text}");
        }
        let none = not_empty(&Arc::new(Database::new()));
        let text = none.unwrap_err().to_string();
        assert!(text.contains("fonts-dejavu-core"), "{text}");
    }
}
