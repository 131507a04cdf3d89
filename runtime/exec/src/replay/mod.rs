//! Steps recorded once and replayed: a loop over batches launches the kernels of a step again
//! without building it anew.
//!
//! A [`Step`] is a segment over buffers of its own. Values are copied in where a loop begins and
//! out where it ends; in between each step writes its state back where it was, and only the batch
//! and the random numbers are replaced. Which loops run so, and when, is the engine's to say; what
//! was recorded is kept here from round to round.

mod buffer;
mod check;
mod graph;
mod stats;
mod step;

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard};

use burn_dispatch::DispatchDevice;

use crate::program::Segment;
pub use stats::CaptureStats;
pub(crate) use step::{Form, Role, Start, Step};

/// Steps of one form that run plainly before it is recorded: recording takes as long as several.
const SEEN: u64 = 8;
/// Recorded steps that are kept.
const KEPT: usize = 16;

/// Whether the steps of loops over batches are recorded and replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GraphCapture {
    /// Every step runs op by op.
    #[default]
    Off,
    /// Steps are replayed where they can be.
    On,
    /// As [`On`](Self::On); a step that can be recorded and is not, or not rightly, is an error.
    Require,
}

/// A text is no choice of [`GraphCapture`].
#[derive(Clone, Debug, thiserror::Error)]
#[error("expected `off`, `on` or `require`, found `{found}`")]
pub struct GraphCaptureError {
    found: String,
}

impl FromStr for GraphCapture {
    type Err = GraphCaptureError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "off" => Ok(Self::Off),
            "on" => Ok(Self::On),
            "require" => Ok(Self::Require),
            found => Err(GraphCaptureError {
                found: found.to_owned(),
            }),
        }
    }
}

impl fmt::Display for GraphCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Require => "require",
        })
    }
}

/// The recorded steps of a simulation.
pub(crate) struct Replays {
    pub required: bool,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// Steps not in use.
    steps: Vec<Step>,
    /// Forms not recorded yet, with the steps that they took.
    seen: Vec<(Arc<Segment>, u64)>,
    stats: CaptureStats,
}

/// What is there for a loop.
pub(crate) enum Found {
    /// A step, with the loop's values in place.
    Step(Box<Step>),
    /// None, for this reason.
    None(String),
}

impl Replays {
    /// Nothing recorded yet.
    pub fn new(graphs: GraphCapture) -> Self {
        Self {
            required: graphs == GraphCapture::Require,
            kept: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Takes the step of a segment, for a loop of this form that takes so many `steps` of it.
    pub fn take(
        &self,
        segment: &Arc<Segment>,
        form: &Form,
        start: Start,
        steps: u64,
        device: &DispatchDevice,
    ) -> Found {
        let none = |why: &str| Found::None(why.to_owned());
        let mut kept = self.lock();
        let own = |step: &Step| Arc::ptr_eq(step.segment(), segment);
        if let Some(at) = kept.steps.iter().position(own) {
            if let Some(why) = &kept.steps[at].refused {
                return none(why);
            }
            if !kept.steps[at].fits(form, &start) {
                return none("it was recorded with other shapes, or by another thread");
            }
            let mut step = kept.steps.swap_remove(at);
            return match step.begin(start) {
                Some(()) => Found::Step(Box::new(step)),
                None => none("it lost a buffer"),
            };
        }
        if kept.steps.len() >= KEPT {
            return none("as many steps as are kept are recorded");
        }
        let seen = kept.seen.iter().position(|(s, _)| Arc::ptr_eq(s, segment));
        match seen {
            Some(at) if kept.seen[at].1 >= SEEN => {
                kept.seen.swap_remove(at);
                let step = Step::new(Arc::clone(segment), form.clone(), start, device);
                match step {
                    Some(step) => return Found::Step(Box::new(step)),
                    None => return none("it carries masks"),
                }
            }
            Some(at) => kept.seen[at].1 += steps,
            None => kept.seen.push((Arc::clone(segment), steps)),
        }
        none("before it was recorded")
    }

    /// Takes a step back after a loop, with its counts.
    pub fn give_back(&self, mut step: Step) {
        let mut kept = self.lock();
        kept.stats.add(std::mem::take(&mut step.stats));
        kept.steps.push(step);
    }

    /// Drops what is recorded, with its buffers; the counts stay.
    pub fn forget(&self) {
        let mut kept = self.lock();
        kept.steps.clear();
        kept.seen.clear();
    }

    /// Counts steps that ran plainly.
    pub fn plain(&self, why: &str, steps: u64) {
        self.lock().stats.plain(why, steps);
    }

    /// The counts so far.
    pub fn stats(&self) -> CaptureStats {
        self.lock().stats.clone()
    }
}

#[cfg(test)]
mod tests {
    use fedround_algorithms::{FedAvg, Scaffold};
    use fedround_dsl::Algorithm;

    use super::*;
    use crate::{CohortBatch, RunError, Simulation, testing};

    /// Clients with full and short batches, on the CPU, which records nothing.
    fn simulation(algorithm: &dyn Algorithm, group: usize) -> Simulation {
        let simulation = testing::simulation(algorithm, &[10, 8, 9], 1);
        simulation.with_cohort_batch(CohortBatch::Clients(group))
    }

    fn scaffold() -> Scaffold {
        Scaffold {
            fraction: 1.0,
            batch: 4,
            ..Scaffold::default()
        }
    }

    #[test]
    fn a_step_that_is_not_recorded_runs_plainly_in_its_buffers() {
        let momentum = FedAvg {
            fraction: 1.0,
            batch: 4,
            momentum: 0.9,
            ..FedAvg::default()
        };
        let algorithms: [&dyn Algorithm; 2] = [&momentum, &scaffold()];
        for (algorithm, group) in algorithms.into_iter().flat_map(|a| [(a, 1), (a, 3)]) {
            let mut plain = simulation(algorithm, group);
            let mut other = simulation(algorithm, group);
            other.home.replays = Some(Replays::new(GraphCapture::On));
            for _ in 0..7 {
                assert_eq!(plain.run_round().unwrap(), other.run_round().unwrap());
            }
            assert_eq!(plain.parameters(), other.parameters());
            let stats = other.capture_stats().unwrap();
            assert_eq!((stats.captured, stats.replays), (0, 0));
            let refused = stats.plain.keys().any(|why| why.contains("not supported"));
            assert!(refused, "{stats:?}");
            // 8 steps of clients alone, 3 of the group, 3 of those that are not full.
            let steps = if group == 1 { 8 } else { 4 };
            let counted = stats.plain.values().sum::<u64>();
            assert_eq!(counted, 7 * steps, "{stats:?}");
        }
    }

    #[test]
    fn a_step_that_has_to_be_recorded_and_is_not_ends_the_run() {
        let mut simulation = simulation(&scaffold(), 1);
        simulation.home.replays = Some(Replays::new(GraphCapture::Require));
        let ends = (0..5).find_map(|_| simulation.run_round().err());
        assert!(matches!(ends, Some(RunError::Graph(_))), "{ends:?}");
    }

    #[test]
    fn names_round_trip() {
        for graphs in [GraphCapture::Off, GraphCapture::On, GraphCapture::Require] {
            assert_eq!(graphs.to_string().parse::<GraphCapture>().unwrap(), graphs);
        }
        let error = "yes".parse::<GraphCapture>().unwrap_err().to_string();
        assert_eq!(error, "expected `off`, `on` or `require`, found `yes`");
    }
}
