//! The captured steps of a simulation, kept from round to round.

use std::sync::{Arc, Mutex, MutexGuard};

use burn_dispatch::DispatchDevice;

use super::GraphCapture;
use super::layout::{LoopStart, StepLayout};
use super::stats::CaptureStats;
use super::step::CapturedStep;
use crate::program::Segment;

/// Steps of one form that run plainly before it is recorded: recording takes as long as several.
const SEEN: u64 = 8;
/// Recorded steps that are kept.
const KEPT: usize = 16;

/// The recorded steps of a simulation.
pub struct StepCache {
    /// Whether it is an error if a step that could be captured is not.
    pub required: bool,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// Steps not in use.
    steps: Vec<CapturedStep>,
    /// Forms not recorded yet, with the steps that they took.
    seen: Vec<(Arc<Segment>, u64)>,
    stats: CaptureStats,
}

/// What the cache has for a loop.
pub enum Lookup {
    /// A step, with the loop's values in its buffers.
    Captured(Box<CapturedStep>),
    /// There is none, for this reason.
    Missing(String),
}

impl StepCache {
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
        layout: &StepLayout,
        start: LoopStart,
        steps: u64,
        device: &DispatchDevice,
    ) -> Lookup {
        let none = |why: &str| Lookup::Missing(why.to_owned());
        let mut kept = self.lock();
        let own = |step: &CapturedStep| Arc::ptr_eq(step.segment(), segment);
        if let Some(at) = kept.steps.iter().position(own) {
            if let Some(why) = &kept.steps[at].refused {
                return none(why);
            }
            if !kept.steps[at].fits(layout, &start) {
                return none("it was recorded with other shapes, or by another thread");
            }
            let mut step = kept.steps.swap_remove(at);
            return match step.begin(start) {
                Some(()) => Lookup::Captured(Box::new(step)),
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
                let step = CapturedStep::new(Arc::clone(segment), layout.clone(), start, device);
                match step {
                    Some(step) => return Lookup::Captured(Box::new(step)),
                    None => return none("it carries masks"),
                }
            }
            Some(at) => kept.seen[at].1 += steps,
            None => kept.seen.push((Arc::clone(segment), steps)),
        }
        none("before it was recorded")
    }

    /// Takes a step back after a loop, with its counts.
    pub fn give_back(&self, mut step: CapturedStep) {
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
