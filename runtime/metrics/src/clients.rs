//! Summaries of one number per client, such as the accuracy on the client's own test examples.

use serde::{Deserialize, Serialize};

use crate::MetricError;

/// The distribution of a number over clients. Every client has the same weight.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct ClientSummary {
    /// The number of clients.
    pub clients: usize,
    /// The mean.
    pub mean: f64,
    /// The standard deviation over these clients (divided by their number, not an estimate for others).
    pub std: f64,
    /// The minimum.
    pub min: f64,
    /// The mean of the smallest tenth of the numbers, rounded up to whole clients (Li et al., "Fair Resource
    /// Allocation in Federated Learning", ICLR 2020).
    pub worst_decile: f64,
}

impl ClientSummary {
    /// Summarises one number per client, where larger is better.
    ///
    /// # Errors
    /// There are no clients, or a number is not finite.
    pub fn of(values: &[f64]) -> Result<Self, MetricError> {
        MetricError::too_few("clients", 1, values.len())?;
        MetricError::finite(values.iter().copied())?;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let centre = mean(&sorted);
        let squares = sorted.iter().map(|v| (v - centre).powi(2)).sum::<f64>();
        Ok(Self {
            clients: sorted.len(),
            mean: centre,
            std: (squares / sorted.len() as f64).sqrt(),
            min: sorted[0],
            worst_decile: mean(&sorted[..sorted.len().div_ceil(10)]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_is_rounded_up() {
        let values: Vec<f64> = (0..11).rev().map(f64::from).collect();
        let summary = ClientSummary::of(&values).unwrap();
        assert_eq!(
            summary,
            ClientSummary {
                clients: 11,
                mean: 5.0,
                std: 10f64.sqrt(),
                min: 0.0,
                worst_decile: 0.5,
            }
        );
        assert_eq!(ClientSummary::of(&[0.25]).unwrap().worst_decile, 0.25);
    }

    #[test]
    fn nobody_has_no_summary() {
        assert_eq!(
            ClientSummary::of(&[]).unwrap_err().to_string(),
            "expected at least 1 clients, found 0"
        );
        let error = ClientSummary::of(&[1.0, f64::INFINITY]).unwrap_err();
        assert!(matches!(error, MetricError::NotFinite { index: 1, .. }));
    }
}
