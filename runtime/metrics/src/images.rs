//! Similarity of two images: PSNR.

use crate::MetricError;

/// The peak signal-to-noise ratio of two images in decibels, `10 log10(range² / MSE)`. Pixel values span
/// `range` (1 for `[0, 1]`, 255 for bytes). The ratio of equal images is infinite.
///
/// # Errors
/// There are no pixels, the images differ in size, a pixel is not finite, or `range` is not above 0.
///
/// # Paper
/// FedFed, Table 12.
pub fn psnr(image: &[f32], other: &[f32], range: f64) -> Result<f64, MetricError> {
    MetricError::lengths(
        ("pixels of the second image", other.len()),
        ("of the first image", image.len()),
    )?;
    MetricError::too_few("pixels", 1, image.len())?;
    if !(range.is_finite() && range > 0.0) {
        return Err(MetricError::Setting {
            what: "the range of pixels",
            value: range,
            expected: "a finite number above 0",
        });
    }
    for pixels in [image, other] {
        MetricError::finite(pixels.iter().map(|&v| f64::from(v)))?;
    }
    let square = |(&a, &b): (&f32, &f32)| (f64::from(a) - f64::from(b)).powi(2);
    let squares = image.iter().zip(other).map(square).sum::<f64>();
    Ok(10.0 * (range * range * image.len() as f64 / squares).log10())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_tenth_is_twenty_decibels() {
        let found = psnr(&[0.5, 0.25], &[0.6, 0.15], 1.0).unwrap();
        assert!((found - 20.0).abs() < 1e-5, "{found}");
        let bytes = psnr(&[127.5, 63.75], &[153.0, 38.25], 255.0).unwrap();
        assert!((bytes - 20.0).abs() < 1e-5, "{bytes}");
        assert_eq!(psnr(&[0.5], &[0.5], 1.0), Ok(f64::INFINITY));
    }

    #[test]
    fn slips_are_explained() {
        assert_eq!(
            psnr(&[0.5], &[0.5], 0.0).unwrap_err().to_string(),
            "the range of pixels is 0, expected a finite number above 0"
        );
        assert!(psnr(&[0.5], &[], 1.0).is_err());
        assert!(psnr(&[], &[], 1.0).is_err());
        assert!(psnr(&[f32::NAN], &[0.0], 1.0).is_err());
    }
}
