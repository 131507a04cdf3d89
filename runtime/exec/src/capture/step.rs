//! One captured step of a loop, with the buffers that its graph reads and writes.

use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;

use super::buffer::{Buffer, copy_to_thread, lost_buffer, write_all};
use super::graph::Graph;
use super::layout::{ExampleColumn, InputRole, LoopStart, StepInputs, StepLayout};
use super::stats::CaptureStats;
use super::step_block_buffers::StepBlock;
use crate::device::ExecError;
use crate::executor::Slots;
use crate::program::Segment;
use crate::tensor::{read, take_rows};
use fedround_ir::tensor::{DType, TensorType};

/// The number of replays that are compared with a plain run before replays are trusted.
const CHECKS: usize = 3;

/// The steps that one graph has: a single step, or a block of several. The functions run them on a captured
/// step, so that capturing and comparing are written once for both.
pub(super) struct ReplayUnit {
    /// Replays the graph.
    pub replay: fn(&CapturedStep) -> Result<(), ExecError>,
    /// Computes the same steps op by op. This is the function that is captured.
    pub run_plain: fn(&mut CapturedStep, &DispatchDevice) -> Result<(), ExecError>,
    /// The buffers to which the steps write their losses.
    pub losses: fn(&CapturedStep) -> &[Buffer],
}

const SINGLE_STEP: ReplayUnit = ReplayUnit {
    replay: |step| match &step.graph {
        Some(graph) => graph.replay(),
        None => Err(lost_buffer()),
    },
    run_plain: CapturedStep::run_plain,
    losses: |step| &step.losses,
};

/// A segment with buffers of its own. A run reads the batch and the state from the buffers and overwrites the
/// state with the next one.
pub struct CapturedStep {
    segment: Arc<Segment>,
    layout: StepLayout,
    /// The leaves of the loop-carried state.
    state: Vec<Buffer>,
    /// The inputs of role [`InputRole::Column`], written before each step.
    columns: Vec<Buffer>,
    /// The inputs of role [`InputRole::Outer`], written when a loop begins.
    outer: Vec<Buffer>,
    /// The random inputs, written before each step.
    draws: Vec<Buffer>,
    /// For each output, whether the plan only forwards an input there.
    forwards_input: Vec<bool>,
    /// The hyper-parameters and constants, in the order of the inputs; `None` in the place of a random input.
    constants: Vec<Option<DispatchTensor>>,
    /// The losses of one step; empty before the step is captured.
    pub(super) losses: Vec<Buffer>,
    /// The columns of all clients from which batches are gathered; empty if the batch is among `columns`.
    examples: Vec<ExampleColumn>,
    /// The row numbers of the batch among the examples; `None` if `examples` is empty.
    pub(super) rows: Option<Buffer>,
    /// The buffers of a step block; `None` if several steps cannot be captured in one graph.
    pub(super) block: Option<StepBlock>,
    /// The captured step; `None` before it is captured, and if it is refused.
    graph: Option<Graph>,
    /// The number of replays that are still to be compared with plain runs.
    checks_left: usize,
    /// The reason why the step is not captured and will not be; `None` if it is or may be captured.
    pub refused: Option<String>,
    /// The counts since the step was taken out of the cache.
    pub stats: CaptureStats,
}

impl CapturedStep {
    /// Allocates the buffers for a segment, and writes the values that the loop starts from. Gives `None` if a
    /// buffer would hold masks.
    pub fn new(
        segment: Arc<Segment>,
        layout: StepLayout,
        start: LoopStart,
        device: &DispatchDevice,
    ) -> Option<Self> {
        let copies_of = |tensors: Vec<DispatchTensor>| {
            let buffers = tensors.into_iter().map(|t| Buffer::copy_of(t, device));
            buffers.collect::<Option<Vec<_>>>()
        };
        // The inputs that the program supplies follow those that have a role. `None` is a random input.
        let hypers = segment.hypers.iter().cloned().map(Some);
        let supplied: Vec<_> = hypers.chain(segment.supplies.constants()).collect();
        let mut constants = Vec::with_capacity(supplied.len());
        let (mut columns, mut draws) = (vec![], vec![]);
        let roles = layout.inputs.iter().map(Some);
        let mut roles = roles.chain(std::iter::repeat(None));
        let mut supplied = supplied.into_iter();
        for (_, ty, _) in &segment.plan.inputs {
            match roles.next()? {
                Some(InputRole::Column) => columns.push(Buffer::zeros(ty, device)?),
                Some(InputRole::State(_) | InputRole::Outer | InputRole::Example(_)) => {}
                None => match supplied.next()? {
                    Some(t) => constants.push(Some(copy_to_thread(t, device)?)),
                    None => {
                        draws.push(Buffer::zeros(ty, device)?);
                        constants.push(None);
                    }
                },
            }
        }
        let forwarded = segment.plan.forwarded_inputs();
        let gathers = !start.examples.is_empty();
        // Only the row numbers change from step to step, so several steps can be in one graph.
        let reads_only_rows = gathers && columns.is_empty() && draws.is_empty();
        let steps_per_capture = if reads_only_rows {
            start.steps_per_capture
        } else {
            1
        };
        Some(Self {
            rows: match gathers {
                true => Some(Buffer::zeros(
                    &TensorType::new(DType::I32, [start.rows]),
                    device,
                )?),
                false => None,
            },
            block: StepBlock::new(steps_per_capture, start.rows, CHECKS, device),
            examples: start.examples,
            forwards_input: forwarded.iter().map(Option::is_some).collect(),
            state: copies_of(start.state)?,
            outer: copies_of(start.outer)?,
            columns,
            draws,
            constants,
            losses: vec![],
            graph: None,
            checks_left: CHECKS,
            refused: None,
            stats: CaptureStats::default(),
            segment,
            layout,
        })
    }

    /// The segment that the step computes.
    pub fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    /// Whether a loop with this layout and tensors of these shapes can use the step's buffers and graph.
    pub fn fits(&self, layout: &StepLayout, start: &LoopStart) -> bool {
        let same_shapes = |buffers: &[Buffer], tensors: &[DispatchTensor]| {
            let shapes = tensors.iter().map(burn_backend::TensorMetadata::shape);
            buffers.iter().map(Buffer::shape).eq(shapes)
        };
        let right_thread = self.graph.as_ref().is_none_or(Graph::is_from_this_thread);
        right_thread
            && self.layout == *layout
            && same_shapes(&self.state, &start.state)
            && same_shapes(&self.outer, &start.outer)
    }

    /// Writes the values that a loop starts from to the buffers.
    pub fn load(&mut self, start: LoopStart) -> Option<()> {
        self.set_state(start.state)?;
        write_all(&mut self.outer, start.outer)
    }

    /// A copy of the loop-carried state.
    pub fn copy_state(&self, device: &DispatchDevice) -> Option<Vec<DispatchTensor>> {
        self.state.iter().map(|b| b.copy(device)).collect()
    }

    /// Overwrites the loop-carried state.
    pub fn set_state(&mut self, state: Vec<DispatchTensor>) -> Option<()> {
        write_all(&mut self.state, state)
    }

    /// Whether enough replays of a single step have been compared with plain runs.
    pub(super) fn is_trusted(&self) -> bool {
        self.graph.is_some() && self.checks_left == 0
    }

    /// Runs one step with these inputs, and gives copies of its losses. The step is replayed if it is
    /// captured; the first call captures it.
    ///
    /// # Errors
    ///
    /// A plain run fails, which is a bug of fedround, or the device does not accept a replay or has no
    /// memory for it.
    pub fn run(
        &mut self,
        inputs: StepInputs,
        device: &DispatchDevice,
    ) -> Result<Vec<DispatchTensor>, ExecError> {
        write_all(&mut self.rows, inputs.rows).ok_or_else(lost_buffer)?;
        write_all(&mut self.columns, inputs.columns).ok_or_else(lost_buffer)?;
        write_all(&mut self.draws, inputs.draws).ok_or_else(lost_buffer)?;
        if self.graph.is_none() && self.refused.is_none() {
            self.record(device)?;
        }
        match &self.graph {
            Some(_) if self.checks_left > 0 => self.replay_and_check(device)?,
            Some(graph) => {
                graph.replay()?;
                self.stats.count_launch(1);
            }
            None => {
                self.run_plain(device)?;
                let why = self.refused.clone().unwrap_or_default();
                self.stats.count_plain(&why, 1);
            }
        }
        let losses = self.losses.iter().map(|b| b.copy(device));
        losses.collect::<Option<_>>().ok_or_else(lost_buffer)
    }

    /// Captures the step, or refuses it for good if the device does not capture it. The state is afterwards
    /// as it was before.
    fn record(&mut self, device: &DispatchDevice) -> Result<(), ExecError> {
        // Memory that is allocated during a capture belongs to the graph, so the buffers of the losses must
        // be allocated before it. Their shapes are those of a plain run.
        let outputs = self.compute_outputs(device)?.into_iter();
        let losses = outputs.rev().take(self.segment.losses).rev();
        let losses = losses.map(|loss| Buffer::copy_of(loss, device));
        self.losses = losses.collect::<Option<_>>().ok_or_else(lost_buffer)?;
        match self.record_graph(&SINGLE_STEP, device)? {
            Ok(graph) => {
                self.graph = Some(graph);
                self.stats.captured += 1;
            }
            Err(why) => self.refuse(why),
        }
        Ok(())
    }

    /// Replays the step and compares it with a plain run. If they differ, the step is refused.
    fn replay_and_check(&mut self, device: &DispatchDevice) -> Result<(), ExecError> {
        match self.compare_replay(&SINGLE_STEP, device)? {
            None => {
                self.checks_left -= 1;
                self.stats.count_launch(1);
            }
            Some(why) => {
                self.graph = None;
                self.stats.withdrawn += 1;
                self.stats.count_plain(&why, 1);
                self.refuse(why);
            }
        }
        Ok(())
    }

    /// Marks the step as one that runs plainly from now on.
    fn refuse(&mut self, why: String) {
        self.stats.refused = Some(why.clone());
        self.refused = Some(why);
    }

    /// Reads the elements of the state and of the losses, in this order.
    pub(super) fn read_results(&self, unit: &ReplayUnit) -> Result<Vec<Vec<f32>>, ExecError> {
        let buffers = self.state.iter().chain((unit.losses)(self));
        let values = buffers.map(|b| read(b.lend().ok_or_else(lost_buffer)?));
        values.collect()
    }

    /// Computes the step op by op, and writes the next state and the losses to the buffers. This is the
    /// function that is captured.
    pub(super) fn run_plain(&mut self, device: &DispatchDevice) -> Result<(), ExecError> {
        let outputs = self.compute_outputs(device)?;
        let first_loss = outputs.len() - self.segment.losses;
        for (leaf, from) in self.state.iter_mut().zip(&self.layout.next) {
            if let Some(output) = from {
                leaf.write(outputs[*output].clone())
                    .ok_or_else(lost_buffer)?;
            }
        }
        let losses = outputs[first_loss..].iter().cloned();
        write_all(&mut self.losses, losses).ok_or_else(lost_buffer)
    }

    /// Runs the plan on the buffers, and gives its outputs. None of them shares memory with a buffer.
    fn compute_outputs(&self, device: &DispatchDevice) -> Result<Vec<DispatchTensor>, ExecError> {
        let (mut columns, mut outer) = (self.columns.iter(), self.outer.iter());
        let inputs = self.layout.inputs.iter().map(|role| match role {
            InputRole::State(leaf) => self.state.get(*leaf)?.lend(),
            InputRole::Column => columns.next()?.lend(),
            InputRole::Outer => outer.next()?.lend(),
            InputRole::Example(j) => {
                let column = self.examples.get(*j)?;
                let rows = self.rows.as_ref()?.lend()?;
                Some(take_rows(column.all.clone(), rows, &column.shape))
            }
        });
        let mut draws = self.draws.iter();
        let supplied = self.constants.iter().map(|constant| match constant {
            Some(t) => Some(t.clone()),
            None => draws.next()?.lend(),
        });
        let inputs: Option<Vec<DispatchTensor>> = inputs.chain(supplied).collect();
        let run = self.segment.plan.run(
            device,
            inputs.ok_or_else(lost_buffer)?,
            // The slots are dropped at once: a handle left in one would share memory with a buffer.
            &mut Slots::default(),
        );
        let outputs = run?;
        // A forwarded input is a handle to a buffer, which would keep the buffer from being written in place.
        let outputs = outputs.into_iter().zip(&self.forwards_input);
        let outputs = outputs.map(|(t, &forwarded)| match forwarded {
            true => copy_to_thread(t, device),
            false => Some(t),
        });
        outputs.collect::<Option<_>>().ok_or_else(lost_buffer)
    }
}
