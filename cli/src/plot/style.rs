//! Colours, line styles and cell styles of plots.

use plotters::prelude::*;

/// Colours that the field's plots have.
const COLOURS: [RGBColor; 10] = [
    RGBColor(31, 119, 180),
    RGBColor(255, 127, 14),
    RGBColor(44, 160, 44),
    RGBColor(214, 39, 40),
    RGBColor(148, 103, 189),
    RGBColor(140, 86, 75),
    RGBColor(227, 119, 194),
    RGBColor(127, 127, 127),
    RGBColor(188, 189, 34),
    RGBColor(23, 190, 207),
];
/// The lengths of dashes and of the gaps between them, in pixels; a line without gaps first.
const DASHES: [Option<(u32, u32)>; 4] = [None, Some((8, 4)), Some((2, 4)), Some((16, 5))];
/// Colours of growing values, that look evenly spaced and can be told apart without seeing red and
/// green (Smith and van der Walt's viridis, at fifths).
const HEAT: [RGBColor; 6] = [
    RGBColor(68, 1, 84),
    RGBColor(65, 68, 135),
    RGBColor(42, 120, 142),
    RGBColor(34, 168, 132),
    RGBColor(122, 209, 81),
    RGBColor(253, 231, 37),
];

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LineStyle {
    pub colour: RGBColor,
    /// The length of its dashes and gaps, in pixels.
    pub dash: Option<(u32, u32)>,
}

impl LineStyle {
    /// The style of the `i`-th line: after ten lines colours return with other dashes.
    pub fn nth(i: usize) -> Self {
        Self {
            colour: COLOURS[i % COLOURS.len()],
            dash: DASHES[i / COLOURS.len() % DASHES.len()],
        }
    }
}

/// The colour of a value from 0 to 1; others are taken for the nearer end.
pub(crate) fn heat(value: f64) -> RGBColor {
    let place = value.clamp(0.0, 1.0) * (HEAT.len() - 1) as f64;
    let below = (place as usize).min(HEAT.len() - 2);
    let part = place - below as f64;
    let (RGBColor(r, g, b), RGBColor(r1, g1, b1)) = (HEAT[below], HEAT[below + 1]);
    let mixed = |a: u8, b: u8| (f64::from(a) * (1.0 - part) + f64::from(b) * part).round() as u8;
    RGBColor(mixed(r, r1), mixed(g, g1), mixed(b, b1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forty_lines_differ() {
        let styles: Vec<LineStyle> = (0..40).map(LineStyle::nth).collect();
        for (i, style) in styles.iter().enumerate() {
            assert!(!styles[..i].contains(style), "{i}");
        }
    }

    #[test]
    fn heat_goes_from_end_to_end() {
        assert_eq!((heat(-1.0), heat(0.0)), (HEAT[0], HEAT[0]));
        assert_eq!((heat(1.0), heat(f64::INFINITY)), (HEAT[5], HEAT[5]));
        assert_eq!(heat(0.2), HEAT[1]);
    }
}
