//! The results of a measurement, as a table and as JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What every peer reports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Report {
    pub peer: String,
    pub task: String,
    pub device: String,
    pub threads: usize,
    #[serde(default)]
    pub options: Map<String, Value>,
    pub lr: f64,
    pub rounds: usize,
    pub timed_rounds: usize,
    pub client_steps: u64,
    pub wall_s: f64,
    pub first_round_s: f64,
    pub time_to_first_round_s: f64,
    /// Median of the timed rounds; peers may not have it.
    pub median_round_s: Option<f64>,
    pub rounds_per_s: f64,
    pub client_steps_per_s: f64,
    pub test_accuracy: f64,
    /// `None` where it is not finite.
    pub test_loss: Option<f64>,
    /// `None` where it is not finite; of peers, where they have none.
    pub params_l2: Option<f64>,
    pub peak_rss_mb: Option<f64>,
    /// What became of steps that could be replayed, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<Value>,
    /// MiB that GPUs held; none on the CPU.
    pub device_memory_mb: Option<f64>,
    /// How often a round waits for what a GPU gives; none on the CPU.
    pub reads_per_round: Option<f64>,
    /// Share of time in which the GPU runs no kernel, where it was measured and can be.
    pub idle_share: Option<f64>,
    /// What a step launches on a device that fuses ops; none on others.
    pub kernels_per_step: Option<usize>,
    pub versions: Value,
}

/// A row of a table: what was measured, and all its measurements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Row {
    pub name: String,
    pub runs: Vec<Report>,
}

impl Row {
    /// The median of what the runs report.
    pub fn median(&self, field: impl Fn(&Report) -> f64) -> f64 {
        median(self.runs.iter().map(field).collect())
    }

    /// Seconds of a round: the median of a run's rounds, or their mean where it has no median.
    pub fn round_s(&self) -> f64 {
        self.median(|run| run.median_round_s.unwrap_or(1.0 / run.rounds_per_s))
    }

    /// MiB; NaN where it is not known.
    pub fn peak_mb(&self) -> f64 {
        self.some(|run| run.peak_rss_mb)
    }

    /// What only some runs have; NaN where they have not.
    pub fn some(&self, field: impl Fn(&Report) -> Option<f64>) -> f64 {
        self.median(|run| field(run).unwrap_or(f64::NAN))
    }

    /// Kernels of a step; NaN where there are none.
    pub fn kernels(&self) -> f64 {
        self.some(|run| run.kernels_per_step.map(|n| n as f64))
    }
}

/// The median; NaN of nothing.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match (values.len() / 2, values.len() % 2) {
        (0, 0) => f64::NAN,
        (half, 1) => values[half],
        (half, _) => 0.5 * (values[half - 1] + values[half]),
    }
}

/// A number that JSON has.
pub(super) fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

pub(super) fn rounded(x: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (x * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_rounded_as_in_the_peers() {
        assert_eq!(rounded(1.234_56, 3), 1.235);
        assert_eq!(rounded(172.6, 0), 173.0);
    }

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(vec![]).is_nan());
    }
}
