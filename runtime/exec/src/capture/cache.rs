//! The cache of captured steps, which a simulation keeps from round to round.

use std::sync::{Arc, Mutex, MutexGuard};

use burn_dispatch::DispatchDevice;

use super::GraphCapture;
use super::layout::{LoopStart, StepLayout};
use super::stats::CaptureStats;
use super::step::CapturedStep;
use crate::program::Segment;

/// The number of steps that a segment runs plainly before it is captured. Capturing takes as long as several
/// plain steps, so it does not pay off for short loops.
const PLAIN_STEPS_BEFORE_CAPTURE: u64 = 8;
/// The most captured steps in the cache. Each of them holds its own copy of the training state.
const CAPACITY: usize = 16;

/// The captured steps of a simulation.
pub struct StepCache {
    /// Whether it is an error if a step that could be captured is not.
    pub required: bool,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    /// Captured steps that no loop uses at present.
    steps: Vec<CapturedStep>,
    /// Segments that are not captured yet, with the number of plain steps that they have run.
    uncaptured: Vec<(Arc<Segment>, u64)>,
    stats: CaptureStats,
}

/// The answer of the cache to a loop that is about to begin.
pub enum Lookup {
    /// A captured step. Its buffers hold the values that the loop starts from.
    Captured(Box<CapturedStep>),
    /// No captured step, for this reason.
    Missing(String),
}

impl StepCache {
    /// An empty cache.
    pub fn new(graphs: GraphCapture) -> Self {
        Self {
            required: graphs == GraphCapture::Require,
            entries: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Takes the captured step of a segment out of the cache, for a loop of `steps` steps. If there is none
    /// yet, the loop's steps are counted, and the step is captured once enough of them have run plainly.
    pub fn take(
        &self,
        segment: &Arc<Segment>,
        layout: &StepLayout,
        start: LoopStart,
        steps: u64,
        device: &DispatchDevice,
    ) -> Lookup {
        let missing = |why: &str| Lookup::Missing(why.to_owned());
        let mut entries = self.lock();
        let is_for_segment = |step: &CapturedStep| Arc::ptr_eq(step.segment(), segment);
        if let Some(i) = entries.steps.iter().position(is_for_segment) {
            if let Some(why) = &entries.steps[i].refused {
                return missing(why);
            }
            if !entries.steps[i].fits(layout, &start) {
                return missing("it was recorded with other shapes, or by another thread");
            }
            let mut step = entries.steps.swap_remove(i);
            return match step.load(start) {
                Some(()) => Lookup::Captured(Box::new(step)),
                None => missing("it lost a buffer"),
            };
        }
        if entries.steps.len() >= CAPACITY {
            return missing("as many steps as are kept are recorded");
        }
        let mut uncaptured = entries.uncaptured.iter();
        match uncaptured.position(|(s, _)| Arc::ptr_eq(s, segment)) {
            Some(i) if entries.uncaptured[i].1 >= PLAIN_STEPS_BEFORE_CAPTURE => {
                entries.uncaptured.swap_remove(i);
                let step = CapturedStep::new(Arc::clone(segment), layout.clone(), start, device);
                match step {
                    Some(step) => return Lookup::Captured(Box::new(step)),
                    None => return missing("it carries masks"),
                }
            }
            Some(i) => entries.uncaptured[i].1 += steps,
            None => entries.uncaptured.push((Arc::clone(segment), steps)),
        }
        missing("before it was recorded")
    }

    /// Puts a step back into the cache after its loop, and adds its counts to those of the cache.
    pub fn give_back(&self, mut step: CapturedStep) {
        let mut entries = self.lock();
        entries.stats.add(std::mem::take(&mut step.stats));
        entries.steps.push(step);
    }

    /// Drops the captured steps with their buffers. The counts stay.
    pub fn clear(&self) {
        let mut entries = self.lock();
        entries.steps.clear();
        entries.uncaptured.clear();
    }

    /// Counts steps that ran plainly, under the reason `why`.
    pub fn count_plain(&self, why: &str, steps: u64) {
        self.lock().stats.count_plain(why, steps);
    }

    /// The counts so far.
    pub fn stats(&self) -> CaptureStats {
        self.lock().stats.clone()
    }
}
