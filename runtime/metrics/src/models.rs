//! How far local models are apart.

use crate::MetricError;

/// The spread of models around their unweighted mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelVariance {
    /// The mean over parameters of their variance over models, `(1/P) Σ_j Var_k(θ_kj)`.
    pub per_parameter: f64,
    /// The mean squared distance to the mean model, `(1/m) Σ_k ‖θ_k − θ̄‖²`.
    pub squared_distance: f64,
}

/// The variance of `models`, each the parameters of one client in the same order, over these
/// models (not an estimate for others).
///
/// # Errors
/// No models, models without parameters or of different sizes, a parameter that is not finite.
///
/// # Paper
/// FedAA, Fig. 5: taken right before the models are averaged.
pub fn model_variance(models: &[&[f32]]) -> Result<ModelVariance, MetricError> {
    MetricError::too_few("models", 1, models.len())?;
    let size = models[0].len();
    MetricError::too_few("parameters", 1, size)?;
    for model in models {
        let found = ("parameters of a model", model.len());
        MetricError::lengths(found, ("those of the first", size))?;
        MetricError::finite(model.iter().map(|&p| f64::from(p)))?;
    }
    let m = models.len() as f64;
    let variance = |j: usize| {
        let mean = models.iter().map(|model| f64::from(model[j])).sum::<f64>() / m;
        let square = |model: &&[f32]| (f64::from(model[j]) - mean).powi(2);
        models.iter().map(square).sum::<f64>() / m
    };
    let squared_distance = (0..size).map(variance).sum::<f64>();
    Ok(ModelVariance {
        per_parameter: squared_distance / size as f64,
        squared_distance,
    })
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
