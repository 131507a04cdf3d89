//! The look of a synthetic image around its shape: stroke width, colours, background and noise.

use std::f64::consts::TAU;

use fedround_random::Stream;

/// A look that examples can have. Clients with different styles have feature
/// skew: the same classes, drawn differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Style {
    /// Bright on black.
    Plain,
    /// Plain, with thin lines.
    Thin,
    /// Plain, with thick lines.
    Thick,
    /// Dark on white.
    Inverted,
    /// Ink and paper of random colours (levels, in grey); the ink is the brighter.
    Coloured,
    /// On a pattern of waves.
    Textured,
    /// Under strong noise.
    Noisy,
}

impl Style {
    /// Every style.
    pub const ALL: [Self; 7] = [
        Self::Plain,
        Self::Thin,
        Self::Thick,
        Self::Inverted,
        Self::Coloured,
        Self::Textured,
        Self::Noisy,
    ];

    /// The style's name, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Thin => "thin",
            Self::Thick => "thick",
            Self::Inverted => "inverted",
            Self::Coloured => "coloured",
            Self::Textured => "textured",
            Self::Noisy => "noisy",
        }
    }

    /// The width of its lines, in pixels of a 28-pixel image.
    pub(super) fn width(self, stream: &mut Stream) -> f64 {
        match self {
            Self::Thin => stream.range(1.0, 1.4),
            Self::Thick => stream.range(4.0, 5.5),
            _ => stream.range(1.6, 3.4),
        }
    }

    /// Writes the bytes of an image, `[channels, side, side]`, from how much of
    /// each pixel is ink.
    pub(super) fn paint(self, ink: &[f32], side: usize, stream: &mut Stream, out: &mut [u8]) {
        // Plain paper is exactly 0, as in scanned and thresholded digits.
        let noise = match self {
            Self::Plain | Self::Thin | Self::Thick => 0.0,
            Self::Noisy => 0.22,
            _ => 0.03,
        };
        let waves = [wave(stream, side), wave(stream, side)];
        // One brightness for all channels, so that plain images are grey.
        let bright = stream.range(0.8, 1.0);
        for plane in out.chunks_exact_mut(ink.len()) {
            let (paper, pen) = match self {
                Self::Plain | Self::Thin | Self::Thick => (0.0, bright),
                Self::Inverted => (bright, 0.0),
                Self::Coloured => (stream.range(0.0, 0.4), stream.range(0.6, 1.0)),
                Self::Textured => (stream.range(0.15, 0.35), bright),
                Self::Noisy => (0.1, bright),
            };
            if noise == 0.0 {
                for (byte, &cover) in plane.iter_mut().zip(ink) {
                    // Most of an image is paper.
                    *byte = match cover == 0.0 {
                        true => 0,
                        false => level(pen * f64::from(cover)),
                    };
                }
                continue;
            }
            for (at, (byte, &cover)) in plane.iter_mut().zip(ink).enumerate() {
                let texture = match self {
                    Self::Textured => 0.16 * waves.iter().map(|w| w(at)).sum::<f64>(),
                    _ => 0.0,
                };
                let under = (paper + texture).clamp(0.0, 1.0);
                let value = under + (pen - under) * f64::from(cover);
                *byte = level(value + noise * hum(stream));
            }
        }
    }
}

/// The byte of a brightness.
fn level(value: f64) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// A plane wave over the pixels of an image.
fn wave(stream: &mut Stream, side: usize) -> impl Fn(usize) -> f64 + use<> {
    let (angle, phase) = (stream.range(0.0, TAU), stream.range(0.0, TAU));
    let frequency = TAU / stream.range(4.0, 12.0);
    let (fx, fy) = (frequency * angle.cos(), frequency * angle.sin());
    move |at| ((at % side) as f64 * fx + (at / side) as f64 * fy + phase).sin()
}

/// A nearly normal number from one word: the sum of its four quarters. Each
/// pixel needs one, and Box-Muller would take most of the time of an image.
fn hum(stream: &mut Stream) -> f64 {
    let word = stream.word();
    let sum = (word & 0xFFFF) + ((word >> 16) & 0xFFFF) + ((word >> 32) & 0xFFFF) + (word >> 48);
    // Each quarter has variance 1/12 in units of 2^16.
    (sum as f64 / 65536.0 - 2.0) * 3.0f64.sqrt()
}
