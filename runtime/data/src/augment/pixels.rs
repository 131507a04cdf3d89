//! Changes of one channel, `[height, width]`.

/// Moves the image down and to the right by some pixels; black comes in.
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

/// Turns the image counter-clockwise about its middle, by `angle` radians; black comes in.
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
            *pixel = between(from, [height, width], at, Some(black));
        }
    }
}

/// Scales the image to another size.
pub(super) fn resize(from: &[f32], old: [usize; 2], to: &mut [f32], [height, width]: [usize; 2]) {
    let scale = [old[0] as f32 / height as f32, old[1] as f32 / width as f32];
    for (y, row) in to.chunks_exact_mut(width).enumerate() {
        for (x, pixel) in row.iter_mut().enumerate() {
            let centre = |n: usize, axis: usize| (n as f32 + 0.5) * scale[axis] - 0.5;
            *pixel = between(from, old, [centre(y, 0), centre(x, 1)], None);
        }
    }
}

/// The value at a place between pixels, by linear interpolation. Outside is `outside` or, without
/// it, the nearest pixel.
fn between(
    from: &[f32],
    [height, width]: [usize; 2],
    [y, x]: [f32; 2],
    outside: Option<f32>,
) -> f32 {
    let pixel = |y: isize, x: isize| {
        let [last_y, last_x] = [height as isize - 1, width as isize - 1];
        let inside = (0..=last_y).contains(&y) && (0..=last_x).contains(&x);
        match outside {
            Some(value) if !inside => value,
            _ => from[y.clamp(0, last_y) as usize * width + x.clamp(0, last_x) as usize],
        }
    };
    let (top, left) = (y.floor(), x.floor());
    let (down, right) = (y - top, x - left);
    let (top, left) = (top as isize, left as isize);
    let row = |y: isize| (1.0 - right) * pixel(y, left) + right * pixel(y, left + 1);
    (1.0 - down) * row(top) + down * row(top + 1)
}
