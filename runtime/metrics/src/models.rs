//! The variance of local models.

use crate::MetricError;

/// The variance of models around their unweighted mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelVariance {
    /// The mean over parameters of their variance over models, `(1/P) Σ_j Var_k(θ_kj)`.
    pub per_parameter: f64,
    /// The mean squared distance to the mean model, `(1/m) Σ_k ‖θ_k − θ̄‖²`.
    pub squared_distance: f64,
}

/// The variance of `models`, divided by their number (not an estimate for other models). Each model is the
/// list of a client's parameters, in the same order.
///
/// # Errors
/// There are no models, they have no parameters or differ in size, or a parameter is not finite.
///
/// # Paper
/// FedAA, Fig. 5: measured right before the models are averaged.
pub fn model_variance(models: &[&[f32]]) -> Result<ModelVariance, MetricError> {
    let mut running = RunningVariance::default();
    for model in models {
        running.add(model)?;
    }
    running.finish()
}

/// The variance of models that are added one after another and not stored (Welford 1962).
#[derive(Clone, Debug, Default)]
pub struct RunningVariance {
    models: usize,
    mean: Vec<f64>,
    /// Sums of squared distances to the mean.
    squares: Vec<f64>,
}

impl RunningVariance {
    /// Adds a model.
    ///
    /// # Errors
    /// The model has no parameters or another size than the first, or a parameter is not finite.
    pub fn add(&mut self, model: &[f32]) -> Result<(), MetricError> {
        if self.models == 0 {
            MetricError::too_few("parameters", 1, model.len())?;
            (self.mean, self.squares) = (vec![0.0; model.len()], vec![0.0; model.len()]);
        }
        let found = ("parameters of a model", model.len());
        MetricError::lengths(found, ("those of the first", self.mean.len()))?;
        MetricError::finite(model.iter().map(|&p| f64::from(p)))?;
        self.models += 1;
        let sums = self.mean.iter_mut().zip(&mut self.squares);
        for ((mean, square), &p) in sums.zip(model) {
            let away = f64::from(p) - *mean;
            *mean += away / self.models as f64;
            *square += away * (f64::from(p) - *mean);
        }
        Ok(())
    }

    /// The variance of the models so far.
    ///
    /// # Errors
    /// No model has been added.
    pub fn finish(&self) -> Result<ModelVariance, MetricError> {
        MetricError::too_few("models", 1, self.models)?;
        let squared_distance = self.squares.iter().sum::<f64>() / self.models as f64;
        Ok(ModelVariance {
            per_parameter: squared_distance / self.mean.len() as f64,
            squared_distance,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variance_is_that_of_hand() {
        let found = model_variance(&[&[0.0, 2.0], &[2.0, 4.0]]).unwrap();
        assert_eq!((found.per_parameter, found.squared_distance), (1.0, 2.0));
        let same = model_variance(&[&[0.5, -3.0][..]; 4]).unwrap();
        assert_eq!(same.squared_distance, 0.0);
    }

    #[test]
    fn models_must_be_alike() {
        let error = model_variance(&[&[0.0, 2.0], &[2.0]]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected as many parameters of a model as those of the first (2), found 1"
        );
        assert!(model_variance(&[]).is_err());
        assert!(model_variance(&[&[]]).is_err());
        assert!(model_variance(&[&[f32::NAN]]).is_err());
    }
}
