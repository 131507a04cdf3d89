//! Strokes, and the points along them.

/// A point, x to the right and y down. Digits fill about `[-0.6, 0.6]` by `[-1, 1]`.
pub(super) type Point = [f32; 2];

/// A line through points: straight between them, or a smooth curve.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stroke {
    /// Straight lines.
    Straight(&'static [Point]),
    /// A smooth curve.
    Curve(&'static [Point]),
    /// A smooth curve that ends where it starts.
    Loop(&'static [Point]),
}
use Stroke::{Curve, Loop, Straight};

/// The distance between points of a flattened stroke: short enough for a
/// distorted curve to look smooth at 32 pixels.
const STEP: f32 = 0.12;

impl Stroke {
    /// The points that it goes through, each moved by `jitter`, flattened to
    /// points [`STEP`] apart and written to `out`.
    pub fn flatten(self, mut jitter: impl FnMut() -> Point, out: &mut Vec<Point>) {
        let (knots, smooth, closed) = match self {
            Straight(p) => (p, false, false),
            Curve(p) => (p, true, false),
            Loop(p) => (p, true, true),
        };
        let move_by = |[x, y]: &Point| {
            let [dx, dy] = jitter();
            [x + dx, y + dy]
        };
        let knots: Vec<Point> = knots.iter().map(move_by).collect();
        let count = knots.len();
        let knot = |i: isize| {
            let last = count as isize - 1;
            let at = if closed {
                i.rem_euclid(count as isize)
            } else {
                i.clamp(0, last)
            };
            knots[at as usize]
        };
        out.clear();
        out.push(knots[0]);
        let spans = if closed { count } else { count - 1 } as isize;
        for span in 0..spans {
            let (a, b, c, d) = (knot(span - 1), knot(span), knot(span + 1), knot(span + 2));
            let length = (c[0] - b[0]).hypot(c[1] - b[1]);
            let steps = (length / STEP).ceil().max(1.0);
            for step in 1..=steps as usize {
                let t = step as f32 / steps;
                out.push(std::array::from_fn(|k| {
                    if smooth {
                        catmull_rom(a[k], b[k], c[k], d[k], t)
                    } else {
                        b[k] + (c[k] - b[k]) * t
                    }
                }));
            }
        }
    }
}

/// The curve from `b` (`t` = 0) to `c` (`t` = 1) with neighbours `a` and `d`.
fn catmull_rom(a: f32, b: f32, c: f32, d: f32, t: f32) -> f32 {
    let linear = (c - a) * t;
    let quadratic = (2.0 * a - 5.0 * b + 4.0 * c - d) * t * t;
    let cubic = (3.0 * (b - c) + d - a) * t * t * t;
    b + 0.5 * (linear + quadratic + cubic)
}

#[cfg(test)]
mod tests {
    use super::super::digits::DIGITS;
    use super::*;

    #[test]
    fn every_outline_fits_its_box_in_small_steps() {
        let mut points = Vec::new();
        for stroke in DIGITS.iter().copied().flatten().copied().flatten() {
            stroke.flatten(|| [0.0, 0.0], &mut points);
            for [x, y] in &points {
                assert!(
                    x.abs() <= 0.7 && y.abs() <= 1.1,
                    "{stroke:?} reaches ({x}, {y})"
                );
            }
            for pair in points.windows(2) {
                let length = (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1]);
                assert!(length < 2.0 * STEP, "{stroke:?} has a step of {length}");
            }
        }
    }

    #[test]
    fn loops_close() {
        let mut points = Vec::new();
        DIGITS[0][0][0].flatten(|| [0.0, 0.0], &mut points);
        let (first, last) = (points[0], points[points.len() - 1]);
        assert!((first[0] - last[0]).hypot(first[1] - last[1]) < 1e-6);
    }
}
