//! The distance correlation of two samples.

use crate::{MetricError, Rows};

/// The squared distance correlation `R²(X, Y)` of paired samples `x`, `[n, d_x]`, and `y`, `[n, d_y]`. It is
/// in `[0, 1]`, and 0 if either is constant. This is the biased estimate of the definition. It takes time
/// `n²(d_x + d_y)` and memory `n`.
///
/// # Errors
/// There are no samples, or `x` and `y` differ in their number.
///
/// # Paper
/// FedAA, Eqs. (8) and (13); Székely, Rizzo, Bakirov, "Measuring and testing dependence by
/// correlation of distances", 2007.
pub fn distance_correlation_squared(x: Rows, y: Rows) -> Result<f64, MetricError> {
    let [xy, xx, yy] = Distances::between(x, y)?.covariances();
    let norm = (xx * yy).sqrt();
    Ok(if norm > 0.0 {
        (xy / norm).clamp(0.0, 1.0)
    } else {
        0.0
    })
}

/// Sums over the distances `a` of X and `b` of Y.
///
/// With `A` and `B` centred by row, column and in total, `Σ A_ij B_ij` is
/// `Σ a_ij b_ij − 2n Σ ā_i b̄_i + n² ā b̄`, so no matrix has to be stored.
struct Distances {
    /// The mean of each row of `a` and of `b`.
    rows: Vec<[f64; 2]>,
    /// The means of `a b`, `a²` and `b²`.
    products: [f64; 3],
}

impl Distances {
    fn between(x: Rows, y: Rows) -> Result<Self, MetricError> {
        MetricError::lengths(("samples of Y", y.len()), ("of X", x.len()))?;
        MetricError::too_few("samples", 1, x.len())?;
        let n = x.len();
        let (x, y): (Vec<_>, Vec<_>) = (x.iter().collect(), y.iter().collect());
        let mut rows = vec![[0.0; 2]; n];
        let mut products = [0.0; 3];
        for i in 0..n {
            for j in 0..i {
                let (a, b) = (distance(x[i], x[j]), distance(y[i], y[j]));
                for k in [i, j] {
                    rows[k][0] += a / n as f64;
                    rows[k][1] += b / n as f64;
                }
                for (sum, product) in products.iter_mut().zip([a * b, a * a, b * b]) {
                    *sum += 2.0 * product / (n as f64).powi(2);
                }
            }
        }
        Ok(Self { rows, products })
    }

    /// The covariance of the distances of X and Y, the variance of those of X, and that of those of Y.
    fn covariances(&self) -> [f64; 3] {
        let [ab, aa, bb] = self.products;
        [
            self.centred(ab, 0, 1),
            self.centred(aa, 0, 0),
            self.centred(bb, 1, 1),
        ]
    }

    fn centred(&self, product: f64, left: usize, right: usize) -> f64 {
        let n = self.rows.len() as f64;
        let mean = |side: usize| self.rows.iter().map(|r| r[side]).sum::<f64>() / n;
        let rows = self.rows.iter().map(|r| r[left] * r[right]).sum::<f64>() / n;
        // Negative only by rounding errors.
        (product - 2.0 * rows + mean(left) * mean(right)).max(0.0)
    }
}

fn distance(a: &[f32], b: &[f32]) -> f64 {
    let square = |(&a, &b): (&f32, &f32)| (f64::from(a) - f64::from(b)).powi(2);
    a.iter().zip(b).map(square).sum::<f64>().sqrt()
}
