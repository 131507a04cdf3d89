//! The cache of captured steps, which a simulation keeps from round to round.

use std::sync::{Arc, Mutex, MutexGuard};

use burn_dispatch::DispatchDevice;

use super::GraphCapture;
use super::layout::{LoopStart, StepLayout};
use super::stats::CaptureStats;
use super::step::CapturedStep;
use crate::device::ExecError;
use crate::program::Segment;

/// The number of steps that a segment runs plainly before it is captured. Capturing takes as long as several
/// plain steps, so it does not pay off for short loops.
const PLAIN_STEPS_BEFORE_CAPTURE: u64 = 8;
/// The most captured steps in the cache. Each of them holds its own copy of the training state.
const CAPACITY: usize = 16;
/// The loops that begin without a captured step until it counts as one of a phase that has ended. Steps that
/// take turns, such as those of clients with batches of different sizes, would otherwise drop each other, and
/// each would be captured again and again.
const UNUSED_LOOPS: u64 = 1024;

/// The captured steps of a simulation.
pub struct StepCache {
    /// Whether it is an error if a step that could be captured is not.
    pub required: bool,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    /// Captured steps that no loop uses at present, the one that was used longest ago first, each with the
    /// number of loops that had begun by then.
    steps: Vec<(u64, CapturedStep)>,
    /// The loops that have begun.
    loops: u64,
    /// Segments whose steps are not captured, with the reason.
    refused: Vec<(Arc<Segment>, String)>,
    /// Segments that are not captured yet, with the number of plain steps that they have run.
    uncaptured: Vec<(Arc<Segment>, u64)>,
    stats: CaptureStats,
}

impl Entries {
    /// Whether one more step fits into the cache, if need be in the place of one that is no longer used.
    fn make_space(&mut self) -> bool {
        let oldest = self.steps.first();
        let unused = oldest.is_some_and(|(used, _)| self.loops - used > UNUSED_LOOPS);
        if self.steps.len() >= CAPACITY && unused {
            self.steps.remove(0);
        }
        self.steps.len() < CAPACITY
    }
}

/// The answer of the cache to a loop that is about to begin.
pub enum Lookup {
    /// A captured step. Its buffers hold the values that the loop starts from.
    Captured(Box<CapturedStep>),
    /// No captured step, for this reason.
    Missing(String),
}

/// The position of a segment in a list.
fn position<T>(
    list: &[T],
    segment: &Arc<Segment>,
    of: impl Fn(&T) -> &Arc<Segment>,
) -> Option<usize> {
    list.iter()
        .position(|entry| Arc::ptr_eq(of(entry), segment))
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
    /// yet, the loop's steps are counted, and the step is captured once enough of them have run plainly. If
    /// the cache is full then, a step that has not been used for a thousand loops is dropped: it is probably of
    /// a phase that has ended. If all of them are in use, the loop runs plainly.
    ///
    /// # Errors
    ///
    /// Captured steps are [required](Self::required), and this one cannot be captured or replayed.
    pub fn take(
        &self,
        segment: &Arc<Segment>,
        layout: &StepLayout,
        start: LoopStart,
        steps: u64,
        device: &DispatchDevice,
    ) -> Result<Lookup, ExecError> {
        let missing = |why: &str| match self.required {
            true => Err(ExecError::NotReplayed(why.to_owned())),
            false => Ok(Lookup::Missing(why.to_owned())),
        };
        let mut entries = self.lock();
        entries.loops += 1;
        if let Some(i) = position(&entries.refused, segment, |(known, _)| known) {
            return missing(&entries.refused[i].1);
        }
        if let Some(i) = position(&entries.steps, segment, |(_, step)| step.segment()) {
            if !entries.steps[i].1.fits(layout, &start) {
                return missing("it was recorded with other shapes, or by another thread");
            }
            let (_, mut step) = entries.steps.remove(i);
            return match step.load(start) {
                Some(()) => Ok(Lookup::Captured(Box::new(step))),
                None => missing("it lost a buffer"),
            };
        }
        match position(&entries.uncaptured, segment, |(known, _)| known) {
            Some(i) if entries.uncaptured[i].1 >= PLAIN_STEPS_BEFORE_CAPTURE => {
                if !entries.make_space() {
                    return missing("as many steps as are kept have been recorded");
                }
                entries.uncaptured.swap_remove(i);
                let step = CapturedStep::new(Arc::clone(segment), layout.clone(), start, device);
                if let Some(step) = step {
                    return Ok(Lookup::Captured(Box::new(step)));
                }
                let why = "it carries masks";
                entries.refused.push((Arc::clone(segment), why.to_owned()));
                return missing(why);
            }
            Some(i) => entries.uncaptured[i].1 += steps,
            None => entries.uncaptured.push((Arc::clone(segment), steps)),
        }
        Ok(Lookup::Missing("before it was recorded".to_owned()))
    }

    /// Puts a step back into the cache after its loop, and adds its counts to those of the cache. Of a refused
    /// step only the reason is kept, and its buffers are freed.
    pub fn give_back(&self, mut step: CapturedStep) {
        let mut entries = self.lock();
        entries.stats.add(std::mem::take(&mut step.stats));
        match step.refused.take() {
            Some(why) => entries.refused.push((Arc::clone(step.segment()), why)),
            None => {
                let now = entries.loops;
                entries.steps.push((now, step));
            }
        }
    }

    /// Drops the captured steps with their buffers. The counts stay. The caller has access to the GPU, without
    /// which dropping a graph waits for other threads that capture.
    pub fn clear(&self) {
        let mut entries = self.lock();
        let stats = std::mem::take(&mut entries.stats);
        *entries = Entries {
            stats,
            ..Entries::default()
        };
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

#[cfg(test)]
mod tests {
    use super::super::layout::StepInputs;
    use super::super::test_step::{cpu, layout, rows, segment, start};
    use super::*;

    /// The step of a segment after so many plain steps that it is captured.
    fn captured(cache: &StepCache, segment: &Arc<Segment>) -> CapturedStep {
        let take = || cache.take(segment, &layout(), start(1), 8, &cpu());
        assert!(matches!(take(), Ok(Lookup::Missing(_))));
        match take() {
            Ok(Lookup::Captured(step)) => *step,
            Ok(Lookup::Missing(why)) => panic!("{why}"),
            Err(error) => panic!("{error}"),
        }
    }

    /// Why a segment has no captured step; `None` if it has one, which is put back.
    fn why_missing(cache: &StepCache, segment: &Arc<Segment>) -> Option<String> {
        match cache.take(segment, &layout(), start(1), 1, &cpu()) {
            Ok(Lookup::Captured(step)) => {
                cache.give_back(*step);
                None
            }
            Ok(Lookup::Missing(why)) => Some(why),
            Err(error) => Some(error.to_string()),
        }
    }

    #[test]
    fn the_step_that_was_used_longest_ago_makes_space() {
        let cache = StepCache::new(GraphCapture::On);
        let segments: Vec<_> = (0..CAPACITY).map(|_| segment()).collect();
        for segment in &segments {
            cache.give_back(captured(&cache, segment));
        }
        // All of them are in use.
        let another = segment();
        for expected in [
            "before it was recorded",
            "as many steps as are kept have been recorded",
        ] {
            let found = cache.take(&another, &layout(), start(1), 8, &cpu());
            assert!(matches!(found, Ok(Lookup::Missing(why)) if why == expected));
        }
        // All but the second one are used much later.
        cache.lock().loops += UNUSED_LOOPS;
        for segment in segments.iter().filter(|s| !Arc::ptr_eq(s, &segments[1])) {
            assert_eq!(why_missing(&cache, segment), None);
        }
        match cache.take(&another, &layout(), start(1), 8, &cpu()) {
            Ok(Lookup::Captured(step)) => cache.give_back(*step),
            _ => panic!("the step is not captured"),
        }
        let missing = segments.iter().filter(|s| why_missing(&cache, s).is_some());
        let missing: Vec<_> = missing.collect();
        assert!(missing.len() == 1 && Arc::ptr_eq(missing[0], &segments[1]));
        assert_eq!(why_missing(&cache, &another), None);
        cache.clear();
        let why = why_missing(&cache, &another);
        assert_eq!(why.as_deref(), Some("before it was recorded"));
    }

    /// The CPU captures nothing.
    #[test]
    fn only_the_reason_of_a_refused_step_is_kept() {
        for graphs in [GraphCapture::On, GraphCapture::Require] {
            let (cache, segment) = (StepCache::new(graphs), segment());
            let mut step = captured(&cache, &segment);
            let inputs = StepInputs {
                rows: Some(rows(&[0, 1])),
                columns: vec![],
                draws: vec![],
            };
            step.run(inputs, &cpu()).unwrap();
            let refused = step.refused.clone().unwrap();
            cache.give_back(step);
            assert!(cache.lock().steps.is_empty());
            // It is an error again and again if captured steps are required.
            let expected = match graphs {
                GraphCapture::Require => ExecError::NotReplayed(refused.clone()).to_string(),
                _ => refused.clone(),
            };
            for _ in 0..9 {
                assert_eq!(why_missing(&cache, &segment), Some(expected.clone()));
            }
            let stats = cache.stats();
            assert_eq!((stats.captured, stats.refused), (0, Some(refused)));
        }
    }
}
