//! Comparison and projection of sets of feature vectors.

use nalgebra::{DMatrix, SymmetricEigen};

use crate::{MetricError, Rows};

/// The squared Fréchet distance between the normal distributions of two sets of feature vectors,
/// `[n_a, d]` and `[n_b, d]`: `‖μ_a − μ_b‖² + Tr(Σ_a + Σ_b − 2 (Σ_a Σ_b)^½)`, with unbiased
/// covariances. For features of Inception-v3 this is the FID. It takes time `d³`.
///
/// # Errors
/// A set has fewer than two vectors, the sets differ in width, or eigenvalues do not converge.
///
/// # Paper
/// ADCOL, Section 4 (data); Heusel et al., "GANs Trained by a Two Time-Scale Update Rule", 2017.
pub fn frechet_distance(a: Rows, b: Rows) -> Result<f64, MetricError> {
    let width = ("features of the second set", b.width());
    MetricError::lengths(width, ("those of the first", a.width()))?;
    let (a, b) = (Centred::of(a)?, Centred::of(b)?);
    let means: f64 = a
        .mean
        .iter()
        .zip(&b.mean)
        .map(|(a, b)| (a - b).powi(2))
        .sum();
    let (of_a, of_b) = (a.covariance(), b.covariance());
    // Σ_a Σ_b and the symmetric Σ_a^½ Σ_b Σ_a^½ have the same eigenvalues.
    let root = square_root(of_a.clone())?;
    let product = &root * &of_b * &root;
    let traces = of_a.trace() + of_b.trace();
    let cross: f64 = eigen(product)?
        .eigenvalues
        .iter()
        .map(|&v| v.max(0.0).sqrt())
        .sum();
    // Negative only by rounding errors.
    Ok((means + traces - 2.0 * cross).max(0.0))
}

/// The first two principal components of feature vectors, `[n, d]` to `[n, 2]`, for plots. The sign of each
/// component is chosen such that its coordinate of largest magnitude is positive. A component that does not
/// exist, because the vectors are one-dimensional or all equal, is 0. It takes time `min(n, d)³`.
///
/// # Errors
/// There are fewer than two vectors, or eigenvalues do not converge.
pub fn principal_components(features: Rows) -> Result<Vec<[f64; 2]>, MetricError> {
    let centred = Centred::of(features)?;
    let x = &centred.rows;
    let mut points = vec![[0.0; 2]; x.nrows()];
    // The components are X v for eigenvectors v of XᵀX, or √λ u for those of the smaller XXᵀ.
    let wide = x.ncols() > x.nrows();
    let eigen = eigen(if wide {
        x * x.transpose()
    } else {
        x.transpose() * x
    })?;
    let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
    order.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));
    for (component, &i) in order.iter().take(2).enumerate() {
        let vector = eigen.eigenvectors.column(i);
        let scores = if wide {
            vector * eigen.eigenvalues[i].max(0.0).sqrt()
        } else {
            x * vector
        };
        let largest = scores[scores.icamax()];
        for (point, score) in points.iter_mut().zip(scores.iter()) {
            point[component] = score * largest.signum();
        }
    }
    Ok(points)
}

/// Vectors minus their mean, `[n, d]` with `n ≥ 2`.
struct Centred {
    mean: Vec<f64>,
    rows: DMatrix<f64>,
}

impl Centred {
    fn of(rows: Rows) -> Result<Self, MetricError> {
        MetricError::too_few("feature vectors", 2, rows.len())?;
        let mut mean = vec![0.0; rows.width()];
        for row in rows.iter() {
            for (mean, &value) in mean.iter_mut().zip(row) {
                *mean += f64::from(value) / rows.len() as f64;
            }
        }
        let values = rows.iter().flat_map(|row| row.iter().zip(&mean));
        let values = values.map(|(&value, mean)| f64::from(value) - mean);
        let rows = DMatrix::from_row_iterator(rows.len(), rows.width(), values);
        Ok(Self { mean, rows })
    }

    /// The unbiased covariance, `[d, d]`.
    fn covariance(&self) -> DMatrix<f64> {
        self.rows.transpose() * &self.rows / (self.rows.nrows() - 1) as f64
    }
}

fn square_root(matrix: DMatrix<f64>) -> Result<DMatrix<f64>, MetricError> {
    let eigen = eigen(matrix)?;
    let mut scaled = eigen.eigenvectors.clone();
    for (mut column, value) in scaled.column_iter_mut().zip(eigen.eigenvalues.iter()) {
        column *= value.max(0.0).sqrt();
    }
    Ok(scaled * eigen.eigenvectors.transpose())
}

/// The largest number of QR iterations per row. A few suffice.
const STEPS: usize = 100;

fn eigen(matrix: DMatrix<f64>) -> Result<SymmetricEigen<f64, nalgebra::Dyn>, MetricError> {
    let size = matrix.nrows();
    SymmetricEigen::try_new(matrix, f64::EPSILON, STEPS * size)
        .ok_or(MetricError::Eigenvalues { size })
}
