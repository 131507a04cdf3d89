//! The shape of one example: strokes, distorted and drawn.

use super::digits::DIGITS;
use super::outline::Point;
use fedround_random::Stream;

/// Half the height of an undistorted digit, relative to the side of the image.
const SIZE: f64 = 0.36;
/// Standard deviation of a knot's position.
const JITTER: f64 = 0.05;
/// Standard deviation of the rotation, in radians.
const ROTATION: f64 = 0.18;
/// Largest horizontal shear.
const SHEAR: f64 = 0.31;
/// Largest relative change of width and height.
const STRETCH: f64 = 0.2;
/// Largest shift, relative to the side of the image.
const SHIFT: f64 = 0.075;
/// Amplitude of the elastic distortion's waves, relative to half the digit's height.
const ELASTIC: f64 = 0.06;
const WAVES: usize = 3;
/// The squared distance of a pixel that no line is near.
const FAR: f32 = f32::MAX;

/// A smooth random deformation: affine after elastic (a sum of plane waves).
struct Warp {
    waves: [[f64; 5]; WAVES],
    matrix: [[f64; 2]; 2],
    offset: [f64; 2],
}

impl Warp {
    fn draw(stream: &mut Stream, side: usize, distortion: f64) -> Self {
        let waves = std::array::from_fn(|_| {
            let angle = stream.range(0.0, std::f64::consts::TAU);
            let frequency = stream.range(1.0, 3.5);
            [
                frequency * angle.cos(),
                frequency * angle.sin(),
                stream.range(0.0, std::f64::consts::TAU),
                distortion * ELASTIC * stream.normal(),
                distortion * ELASTIC * stream.normal(),
            ]
        });
        let mut spread = |by: f64| stream.range(-by, by) * distortion;
        let (shear, wide, high) = (spread(SHEAR), 1.0 + spread(STRETCH), 1.0 + spread(STRETCH));
        let (dx, dy) = (spread(SHIFT), spread(SHIFT));
        let angle = (ROTATION * distortion * stream.normal()).clamp(-0.6, 0.6);
        let (sin, cos) = angle.sin_cos();
        let size = SIZE * side as f64;
        let (wide, high) = (wide * size, high * size);
        // Rotation times shear times stretch.
        let matrix = [
            [cos * wide, (cos * shear - sin) * high],
            [sin * wide, (sin * shear + cos) * high],
        ];
        let centre = side as f64 / 2.0;
        Self {
            waves,
            matrix,
            offset: [centre + dx * side as f64, centre + dy * side as f64],
        }
    }

    fn apply(&self, [x, y]: Point) -> Point {
        let (x, y) = (f64::from(x), f64::from(y));
        let (mut u, mut v) = (x, y);
        for [fx, fy, phase, ax, ay] in &self.waves {
            let wave = (fx * x + fy * y + phase).sin();
            u += ax * wave;
            v += ay * wave;
        }
        let row = |[a, b]: [f64; 2], offset: f64| (a * u + b * v + offset) as f32;
        [
            row(self.matrix[0], self.offset[0]),
            row(self.matrix[1], self.offset[1]),
        ]
    }
}

/// Buffers that are reused from one example to the next.
#[derive(Default)]
pub(super) struct Canvas {
    knots: Vec<Point>,
    squares: Vec<f32>,
    /// How much of each pixel is ink, `[side, side]`, in `[0, 1]`.
    pub ink: Vec<f32>,
}

impl Canvas {
    /// Draws a `digit` with lines `width` pixels wide, in a way that `words` decides.
    pub fn draw(
        &mut self,
        digit: usize,
        side: usize,
        width: f64,
        distortion: f64,
        stream: &mut Stream,
    ) {
        let ways = DIGITS[digit];
        let way = ways[stream.below(ways.len())];
        let warp = Warp::draw(stream, side, distortion);
        self.squares.clear();
        self.squares.resize(side * side, FAR);
        let half = 0.5 * width as f32;
        for stroke in way {
            let jitter = || {
                let mut draw = || (JITTER * distortion * stream.normal()) as f32;
                [draw(), draw()]
            };
            stroke.flatten(jitter, &mut self.knots);
            self.knots.iter_mut().for_each(|p| *p = warp.apply(*p));
            for pair in self.knots.windows(2) {
                segment(&mut self.squares, side, half + 0.5, pair[0], pair[1]);
            }
        }
        self.ink.clear();
        let cover = |d: &f32| match *d == FAR {
            true => 0.0,
            false => (half + 0.5 - d.sqrt()).clamp(0.0, 1.0),
        };
        self.ink.extend(self.squares.iter().map(cover));
    }
}

/// Lowers each pixel's squared distance to the nearest line, for the pixels
/// within `reach` of the line from `a` to `b`.
fn segment(squares: &mut [f32], side: usize, reach: f32, a: Point, b: Point) {
    let range = |k: usize| {
        let (low, high) = (a[k].min(b[k]) - reach, a[k].max(b[k]) + reach);
        // Casts from below 0 give 0.
        (low.floor() as usize)..((high.ceil().max(0.0) as usize).min(side))
    };
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let scale = 1.0 / (dx * dx + dy * dy).max(1e-12);
    let columns = range(0);
    for row in range(1) {
        let py = row as f32 + 0.5 - a[1];
        for column in columns.clone() {
            let px = column as f32 + 0.5 - a[0];
            let t = ((px * dx + py * dy) * scale).clamp(0.0, 1.0);
            let (ex, ey) = (px - t * dx, py - t * dy);
            let square = &mut squares[row * side + column];
            *square = square.min(ex * ex + ey * ey);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedround_random::StreamKey;

    #[test]
    fn an_undistorted_one_is_a_vertical_bar() {
        let mut canvas = Canvas::default();
        // The first of the three ways of writing a 1.
        let seed = (0..)
            .find(|&s| StreamKey::root(s).stream().below(3) == 0)
            .unwrap();
        canvas.draw(1, 28, 2.0, 0.0, &mut StreamKey::root(seed).stream());
        for row in 0..28 {
            let ink: Vec<usize> = (0..28).filter(|c| canvas.ink[row * 28 + c] > 0.5).collect();
            let inside = (5..23).contains(&row);
            assert_eq!(
                ink,
                if inside { vec![13, 14] } else { ink.clone() },
                "row {row}"
            );
            assert!((3..25).contains(&row) || ink.is_empty(), "row {row}");
        }
    }

    #[test]
    fn lines_outside_the_image_are_cut_off() {
        let mut squares = vec![f32::MAX; 16];
        segment(&mut squares, 4, 1.0, [-9.0, -9.0], [-5.0, 30.0]);
        segment(&mut squares, 4, 1.0, [9.0, 2.0], [50.0, 2.0]);
        assert!(squares.iter().all(|&d| d == f32::MAX));
    }
}
