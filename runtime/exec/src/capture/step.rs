//! One captured step of a loop, with the buffers that its graph reads and writes.

use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;

use super::block::Block;
use super::buffer::{Buffer, lost, own, write_all};
use super::graph::Graph;
use super::layout::{ExampleColumn, InputRole, LoopStart, StepInputs, StepLayout};
use super::stats::CaptureStats;
use crate::device::ExecError;
use crate::executor::Slots;
use crate::program::Segment;
use crate::tensor::{read, take_rows};
use fedround_ir::tensor::{DType, TensorType};

/// How many replays are compared with a plain run before they are trusted.
const CHECKS: usize = 3;

/// How steps run, one or several: what is recorded, its replay, and where its losses are.
pub(super) struct Runs {
    pub replay: fn(&CapturedStep) -> Result<(), ExecError>,
    pub plain: fn(&mut CapturedStep, &DispatchDevice) -> Result<(), ExecError>,
    pub losses: fn(&CapturedStep) -> &[Buffer],
}

const ONE: Runs = Runs {
    replay: |step| match &step.graph {
        Some(graph) => graph.replay(),
        None => Err(lost()),
    },
    plain: CapturedStep::plain,
    losses: |step| &step.losses,
};

/// A segment over buffers of its own: a run reads the batch and the state there and writes the next
/// state back.
pub struct CapturedStep {
    segment: Arc<Segment>,
    layout: StepLayout,
    state: Vec<Buffer>,
    columns: Vec<Buffer>,
    outer: Vec<Buffer>,
    draws: Vec<Buffer>,
    /// Which outputs are inputs that no op changes.
    passed: Vec<bool>,
    /// Hyper-parameters and constants, and `None` where a draw belongs.
    supplied: Vec<Option<DispatchTensor>>,
    pub(super) losses: Vec<Buffer>,
    examples: Vec<ExampleColumn>,
    /// The rows of its batch among the examples.
    pub(super) rows: Option<Buffer>,
    pub(super) block: Option<Block>,
    graph: Option<Graph>,
    checks: usize,
    /// Why there is no graph and will be none.
    pub refused: Option<String>,
    /// What happened since it was last asked.
    pub stats: CaptureStats,
}

impl CapturedStep {
    /// Buffers for a segment, with a loop's values in place. `None` where they would hold masks.
    pub fn new(
        segment: Arc<Segment>,
        layout: StepLayout,
        start: LoopStart,
        device: &DispatchDevice,
    ) -> Option<Self> {
        let of = |tensors: Vec<DispatchTensor>| {
            let buffers = tensors.into_iter().map(|t| Buffer::of(t, device));
            buffers.collect::<Option<Vec<_>>>()
        };
        let hypers = segment.hypers.iter().cloned().map(Some);
        let given: Vec<_> = hypers.chain(segment.supplies.constants()).collect();
        let mut supplied = Vec::with_capacity(given.len());
        let (mut columns, mut draws) = (vec![], vec![]);
        let roles = layout.inputs.iter().map(Some);
        let mut roles = roles.chain(std::iter::repeat(None));
        let mut given = given.into_iter();
        for (_, ty, _) in &segment.plan.inputs {
            match roles.next()? {
                Some(InputRole::Column) => columns.push(Buffer::blank(ty, device)?),
                Some(InputRole::State(_) | InputRole::Outer | InputRole::Example(_)) => {}
                None => match given.next()? {
                    Some(t) => supplied.push(Some(own(t, device)?)),
                    None => {
                        draws.push(Buffer::blank(ty, device)?);
                        supplied.push(None);
                    }
                },
            }
        }
        let passed = segment.plan.passed();
        let gathers = !start.examples.is_empty();
        let alone = gathers && columns.is_empty() && draws.is_empty();
        let together = if alone { start.together } else { 1 };
        Some(Self {
            rows: match gathers {
                true => Some(Buffer::blank(
                    &TensorType::new(DType::I32, [start.rows]),
                    device,
                )?),
                false => None,
            },
            block: Block::new(together, start.rows, CHECKS, device),
            examples: start.examples,
            passed: passed.iter().map(Option::is_some).collect(),
            state: of(start.state)?,
            outer: of(start.outer)?,
            columns,
            draws,
            supplied,
            losses: vec![],
            graph: None,
            checks: CHECKS,
            refused: None,
            stats: CaptureStats::default(),
            segment,
            layout,
        })
    }

    /// What it runs.
    pub fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    /// Whether a loop of this form over tensors of these shapes can go on in its buffers.
    pub fn fits(&self, layout: &StepLayout, start: &LoopStart) -> bool {
        let same = |buffers: &[Buffer], tensors: &[DispatchTensor]| {
            let shapes = tensors.iter().map(burn_backend::TensorMetadata::shape);
            buffers.iter().map(Buffer::shape).eq(shapes)
        };
        let here = self.graph.as_ref().is_none_or(Graph::is_of_this_thread);
        here && self.layout == *layout
            && same(&self.state, &start.state)
            && same(&self.outer, &start.outer)
    }

    /// Puts a loop's values in place.
    pub fn begin(&mut self, start: LoopStart) -> Option<()> {
        self.set(start.state)?;
        write_all(&mut self.outer, start.outer)
    }

    /// Copies of the state.
    pub fn state(&self, device: &DispatchDevice) -> Option<Vec<DispatchTensor>> {
        self.state.iter().map(|b| b.copy(device)).collect()
    }

    /// Replaces the state.
    pub fn set(&mut self, state: Vec<DispatchTensor>) -> Option<()> {
        write_all(&mut self.state, state)
    }

    /// Whether replays of a single step are no longer compared.
    pub(super) fn is_trusted(&self) -> bool {
        self.graph.is_some() && self.checks == 0
    }

    /// Takes a step on a batch with the random numbers of one run; gives copies of its losses.
    ///
    /// # Errors
    ///
    /// A run of the plan fails, which is a bug of fedround, or the device takes no replay or has no
    /// memory for it.
    pub fn run(
        &mut self,
        inputs: StepInputs,
        device: &DispatchDevice,
    ) -> Result<Vec<DispatchTensor>, ExecError> {
        write_all(&mut self.rows, inputs.rows).ok_or_else(lost)?;
        write_all(&mut self.columns, inputs.columns).ok_or_else(lost)?;
        write_all(&mut self.draws, inputs.draws).ok_or_else(lost)?;
        if self.graph.is_none() && self.refused.is_none() {
            self.record(device)?;
        }
        match &self.graph {
            Some(_) if self.checks > 0 => self.checked(device)?,
            Some(graph) => {
                graph.replay()?;
                self.stats.launched(1);
            }
            None => {
                self.plain(device)?;
                let why = self.refused.clone().unwrap_or_default();
                self.stats.plain(&why, 1);
            }
        }
        let losses = self.losses.iter().map(|b| b.copy(device));
        losses.collect::<Option<_>>().ok_or_else(lost)
    }

    /// Records a step; the state is as before. A device that records none is not asked again.
    fn record(&mut self, device: &DispatchDevice) -> Result<(), ExecError> {
        // Memory from inside a recording is the graph's too: buffers are from before it.
        let outputs = self.outputs(device)?.into_iter();
        let losses = outputs.rev().take(self.segment.losses).rev();
        let losses = losses.map(|loss| Buffer::of(loss, device));
        self.losses = losses.collect::<Option<_>>().ok_or_else(lost)?;
        match self.recorded(&ONE, device)? {
            Ok(graph) => {
                self.graph = Some(graph);
                self.stats.captured += 1;
            }
            Err(why) => self.refuse(why),
        }
        Ok(())
    }

    /// Replays and compares; a step that differs is not replayed again.
    fn checked(&mut self, device: &DispatchDevice) -> Result<(), ExecError> {
        match self.compare(&ONE, device)? {
            None => {
                self.checks -= 1;
                self.stats.launched(1);
            }
            Some(why) => {
                self.graph = None;
                self.stats.captured -= 1;
                self.stats.plain(&why, 1);
                self.refuse(why);
            }
        }
        Ok(())
    }

    /// From now on it runs op by op.
    fn refuse(&mut self, why: String) {
        self.stats.refused = Some(why.clone());
        self.refused = Some(why);
    }

    /// The elements of the state, then of the losses.
    pub(super) fn values(&self, runs: &Runs) -> Result<Vec<Vec<f32>>, ExecError> {
        let all = self.state.iter().chain((runs.losses)(self));
        all.map(|b| read(b.lend().ok_or_else(lost)?)).collect()
    }

    /// Takes the step op by op: what is recorded.
    pub(super) fn plain(&mut self, device: &DispatchDevice) -> Result<(), ExecError> {
        let outputs = self.outputs(device)?;
        let kept = outputs.len() - self.segment.losses;
        for (leaf, from) in self.state.iter_mut().zip(&self.layout.next) {
            if let Some(output) = from {
                leaf.write(outputs[*output].clone()).ok_or_else(lost)?;
            }
        }
        let losses = outputs[kept..].iter().cloned();
        write_all(&mut self.losses, losses).ok_or_else(lost)
    }

    fn outputs(&self, device: &DispatchDevice) -> Result<Vec<DispatchTensor>, ExecError> {
        let (mut columns, mut outer) = (self.columns.iter(), self.outer.iter());
        let inputs = self.layout.inputs.iter().map(|role| match role {
            InputRole::State(leaf) => self.state.get(*leaf)?.lend(),
            InputRole::Column => columns.next()?.lend(),
            InputRole::Outer => outer.next()?.lend(),
            InputRole::Example(j) => {
                let own = self.examples.get(*j)?;
                let rows = self.rows.as_ref()?.lend()?;
                Some(take_rows(own.all.clone(), rows, &own.shape))
            }
        });
        let mut draws = self.draws.iter();
        let supplied = self.supplied.iter().map(|given| match given {
            Some(t) => Some(t.clone()),
            None => draws.next()?.lend(),
        });
        let inputs: Option<Vec<DispatchTensor>> = inputs.chain(supplied).collect();
        let run = self.segment.plan.run(
            device,
            inputs.ok_or_else(lost)?,
            // Handles that were left there would share the buffers.
            &mut Slots::default(),
        );
        let outputs = run?;
        // A handle of a buffer would keep it from being written in place.
        let outputs = outputs.into_iter().zip(&self.passed);
        let outputs = outputs.map(|(t, &passed)| match passed {
            true => own(t, device),
            false => Some(t),
        });
        outputs.collect::<Option<_>>().ok_or_else(lost)
    }
}
