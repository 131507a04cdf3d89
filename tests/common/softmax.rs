//! Logistic regression by hand: the gradient of the mean cross-entropy, in `f64`, without any of
//! fedround's machinery.

use fedround::data::Examples;

const CLASSES: usize = 10;

/// `softmax(xW + b)`.
#[derive(Clone)]
pub struct Softmax {
    /// `[features, 10]`, row by row, then `[10]`.
    weights: Vec<f64>,
    features: usize,
}

impl Softmax {
    /// From the parameters of the model `logistic` in one row.
    pub fn new(weights: &[f32]) -> Self {
        Self {
            weights: weights.iter().copied().map(f64::from).collect(),
            features: weights.len() / CLASSES - 1,
        }
    }

    /// The parameters in one row.
    pub fn weights(&self) -> Vec<f32> {
        self.weights.iter().map(|w| *w as f32).collect()
    }

    /// `w ← w − lr · ∇ℓ(w; batch)` and `ℓ` before the step: for `z = xW + b`,
    /// `∂ℓ/∂z = (softmax(z) − onehot(y)) / n`, `∂ℓ/∂W = xᵀ ∂ℓ/∂z`, `∂ℓ/∂b = Σ ∂ℓ/∂z`.
    pub fn step(&mut self, examples: &Examples, batch: &[usize], lr: f64) -> f64 {
        let (mut x, mut y) = (vec![], vec![]);
        examples.gather(batch, &mut x, &mut y).unwrap();
        let mut gradient = vec![0.0; self.weights.len()];
        let mut loss = 0.0;
        for (x, &y) in x.chunks(self.features).zip(&y) {
            let mut z = self.weights[self.features * CLASSES..].to_vec();
            for (x, row) in x.iter().zip(self.weights.chunks(CLASSES)) {
                z.iter_mut()
                    .zip(row)
                    .for_each(|(z, w)| *z += f64::from(*x) * w);
            }
            let top = z.iter().copied().fold(f64::MIN, f64::max);
            let norm: f64 = z.iter().map(|z| (z - top).exp()).sum();
            loss += norm.ln() + top - z[y as usize];
            let mut dz: Vec<f64> = z.iter().map(|z| (z - top).exp() / norm).collect();
            dz[y as usize] -= 1.0;
            let inputs = x.iter().copied().map(f64::from).chain([1.0]);
            for (x, row) in inputs.zip(gradient.chunks_mut(CLASSES)) {
                row.iter_mut().zip(&dz).for_each(|(g, dz)| *g += x * dz);
            }
        }
        let n = batch.len() as f64;
        for (w, g) in self.weights.iter_mut().zip(&gradient) {
            *w -= lr * g / n;
        }
        loss / n
    }
}
