//! PyTorch's optimizers as its documentation states them, in `f64`.

/// The state of `torch.optim.SGD`, `Adam` or `AdamW` for one parameter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reference {
    pub lr: f64,
    pub momentum: f64,
    pub nesterov: bool,
    pub weight_decay: f64,
    /// `β₁`, `β₂` and `ε`, for Adam.
    pub adam: Option<(f64, f64, f64)>,
    pub decoupled: bool,
}

impl Reference {
    /// The parameters after some steps along a gradient.
    pub fn steps(&self, w: &[f32], steps: i32, gradient: impl Fn(f64) -> f64) -> Vec<f32> {
        let one = |&w: &f32| self.one(f64::from(w), steps, &gradient) as f32;
        w.iter().map(one).collect()
    }

    fn one(&self, mut w: f64, steps: i32, gradient: impl Fn(f64) -> f64) -> f64 {
        let (mut m, mut v) = (0.0, 0.0);
        for t in 1..=steps {
            let mut g = gradient(w);
            if self.decoupled {
                w -= self.lr * self.weight_decay * w;
            } else {
                g += self.weight_decay * w;
            }
            if let Some((beta1, beta2, eps)) = self.adam {
                m = beta1 * m + (1.0 - beta1) * g;
                v = beta2 * v + (1.0 - beta2) * g * g;
                let (correct1, correct2) = (1.0 - beta1.powi(t), 1.0 - beta2.powi(t));
                w -= self.lr / correct1 * m / (v.sqrt() / correct2.sqrt() + eps);
                continue;
            }
            m = if t == 1 { g } else { self.momentum * m + g };
            w -= self.lr
                * if self.nesterov {
                    g + self.momentum * m
                } else {
                    m
                };
        }
        w
    }
}
