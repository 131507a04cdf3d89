//! Changes of one channel of an image, `[height, width]`.

/// Moves the image down and to the right by some pixels, with black where nothing moves in.
pub(super) fn shift(
    from: &[f32],
    [height, width]: [usize; 2],
    [down, right]: [isize; 2],
    black: f32,
    to: &mut [f32],
) {
    for (y, row) in to.chunks_exact_mut(width).enumerate() {
        let source = y.checked_add_signed(-down).filter(|&y| y < height);
        for (x, pixel) in row.iter_mut().enumerate() {
            let at = x.checked_add_signed(-right).filter(|&x| x < width);
            *pixel = source.zip(at).map_or(black, |(y, x)| from[y * width + x]);
        }
    }
}

/// Exchanges left and right.
pub(super) fn mirror(from: &[f32], width: usize, to: &mut [f32]) {
    for (from, to) in from.chunks_exact(width).zip(to.chunks_exact_mut(width)) {
        to.iter_mut()
            .zip(from.iter().rev())
            .for_each(|(to, x)| *to = *x);
    }
}

/// Rotates the image counter-clockwise around its middle by `angle` radians, with black outside.
pub(super) fn turn(
    from: &[f32],
    [height, width]: [usize; 2],
    angle: f32,
    black: f32,
    to: &mut [f32],
) {
    let (sin, cos) = angle.sin_cos();
    let middle = [height, width].map(|n| (n - 1) as f32 / 2.0);
    for (y, row) in to.chunks_exact_mut(width).enumerate() {
        let y = y as f32 - middle[0];
        for (x, pixel) in row.iter_mut().enumerate() {
            let x = x as f32 - middle[1];
            let at = [cos * y + sin * x + middle[0], cos * x - sin * y + middle[1]];
            *pixel = between(from, [height, width], at, black);
        }
    }
}

/// The source of a pixel of a scaled row or column: the pixels before and after its centre, and its
/// relative position between them.
pub(super) type Place = (usize, usize, f32);

/// The sources of `new` pixels in a row of `old` ones. Beyond an edge, the pixel of the edge counts.
pub(super) fn places(old: usize, new: usize) -> impl Iterator<Item = Place> {
    (0..new).map(move |n| {
        let at = (n as f32 + 0.5) * (old as f32 / new as f32) - 0.5;
        let at = at.clamp(0.0, (old - 1) as f32);
        let before = at as usize;
        (before, (before + 1).min(old - 1), at - before as f32)
    })
}

/// Scales the image to as many columns as there are places in `across`.
pub(super) fn resize(from: &[f32], old: [usize; 2], across: &[Place], to: &mut [f32]) {
    let width = across.len();
    let rows = to.chunks_exact_mut(width);
    let height = rows.len();
    for (row, (top, bottom, down)) in rows.zip(places(old[0], height)) {
        let [top, bottom] = [top, bottom].map(|y| &from[y * old[1]..(y + 1) * old[1]]);
        for (pixel, &(left, right, far)) in row.iter_mut().zip(across) {
            let mix = |row: &[f32]| (1.0 - far) * row[left] + far * row[right];
            *pixel = (1.0 - down) * mix(top) + down * mix(bottom);
        }
    }
}

/// The value at a place between pixels, by linear interpolation, with black outside.
fn between(from: &[f32], [height, width]: [usize; 2], [y, x]: [f32; 2], black: f32) -> f32 {
    let (top, left) = (y.floor(), x.floor());
    let (down, right) = (y - top, x - left);
    let (top, left) = (top as isize, left as isize);
    let mix = |[a, b]: [f32; 2], [c, d]: [f32; 2]| {
        let row = |a, b| (1.0 - right) * a + right * b;
        (1.0 - down) * row(a, b) + down * row(c, d)
    };
    let [last_y, last_x] = [height as isize - 1, width as isize - 1];
    if (0..last_y).contains(&top) && (0..last_x).contains(&left) {
        let at = top as usize * width + left as usize;
        let under = at + width;
        return mix([from[at], from[at + 1]], [from[under], from[under + 1]]);
    }
    let pixel = |y: isize, x: isize| {
        let inside = (0..=last_y).contains(&y) && (0..=last_x).contains(&x);
        if inside {
            from[y as usize * width + x as usize]
        } else {
            black
        }
    };
    let pair = |y: isize| [pixel(y, left), pixel(y, left + 1)];
    mix(pair(top), pair(top + 1))
}
