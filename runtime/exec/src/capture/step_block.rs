//! Runs a step block: several steps of a loop, captured in one graph and replayed by one launch.

use burn::tensor::{DispatchTensor, Shape};
use burn_backend::ops::FloatTensorOps;
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::TensorType;

use super::buffer::{Buffer, lost_buffer};
use super::step::{CapturedStep, ReplayUnit};
use crate::device::ExecError;
use crate::tensor::take_ints;

impl CapturedStep {
    /// The number of steps that [`run_block`](Self::run_block) runs. `None` before replays of a single step are
    /// trusted, and if several steps cannot be captured in one graph.
    pub fn steps_per_capture(&self) -> Option<usize> {
        let block = self.block.as_ref().filter(|block| !block.refused)?;
        self.is_trusted().then_some(block.steps)
    }

    /// Runs all steps of the block, and gives their losses in order; `None` if they have none. `rows` has the
    /// row numbers of all their batches, one batch after another.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_block(
        &mut self,
        rows: DispatchTensor,
        device: &DispatchDevice,
    ) -> Result<Option<DispatchTensor>, ExecError> {
        let block = self.block.as_mut().ok_or_else(lost_buffer)?;
        block.rows.write(rows).ok_or_else(lost_buffer)?;
        let steps = block.steps as u64;
        if block.graph.is_none() && !block.refused {
            self.record_block(device)?;
        }
        let block = self.block.as_ref().ok_or_else(lost_buffer)?;
        match (&block.graph, block.checks_left) {
            (None, _) => {
                run_plain_block(self, device)?;
                let why = self.stats.refused.clone().unwrap_or_default();
                self.stats.count_plain(&why, steps);
            }
            (Some(graph), 0) => {
                graph.replay()?;
                self.stats.count_launch(steps);
            }
            (Some(_), _) => self.replay_and_check_block(device, steps)?,
        }
        let block = self.block.as_ref().ok_or_else(lost_buffer)?;
        match block.losses.first() {
            Some(all) => all.copy(device).map(Some).ok_or_else(lost_buffer),
            None => Ok(None),
        }
    }

    /// Replays the block and compares it with a plain run. If they differ, the block is refused.
    fn replay_and_check_block(
        &mut self,
        device: &DispatchDevice,
        steps: u64,
    ) -> Result<(), ExecError> {
        let difference = self.compare_replay(&STEP_BLOCK, device)?;
        let block = self.block.as_mut().ok_or_else(lost_buffer)?;
        match difference {
            None => {
                block.checks_left -= 1;
                self.stats.count_launch(steps);
            }
            Some(why) => {
                block.graph = None;
                block.refused = true;
                self.stats.count_plain(&why, steps);
                self.stats.refused = Some(why);
            }
        }
        Ok(())
    }

    /// Captures the block, or refuses it for good if the device does not capture it. The state is afterwards
    /// as it was before.
    fn record_block(&mut self, device: &DispatchDevice) -> Result<(), ExecError> {
        let losses_per_step: usize = self.losses.iter().map(|b| b.shape().num_elements()).sum();
        let block = self.block.as_mut().ok_or_else(lost_buffer)?;
        // Without losses there is no buffer: an empty one could not be compared with a plain run's.
        block.losses = match losses_per_step {
            0 => vec![],
            n => {
                let ty = TensorType::f32([block.steps * n]);
                vec![Buffer::zeros(&ty, device).ok_or_else(lost_buffer)?]
            }
        };
        let graph = self.record_graph(&STEP_BLOCK, device)?;
        let block = self.block.as_mut().ok_or_else(lost_buffer)?;
        match graph {
            Ok(graph) => block.graph = Some(graph),
            Err(why) => {
                block.refused = true;
                self.stats.refused = Some(why);
            }
        }
        Ok(())
    }
}

const STEP_BLOCK: ReplayUnit = ReplayUnit {
    replay: |step| match step.block.as_ref().and_then(|b| b.graph.as_ref()) {
        Some(graph) => graph.replay(),
        None => Err(lost_buffer()),
    },
    run_plain: run_plain_block,
    losses: |step| step.block.as_ref().map_or(&[], |block| &block.losses),
};

/// Computes the steps of the block one after another, op by op. This is the function that is captured.
fn run_plain_block(step: &mut CapturedStep, device: &DispatchDevice) -> Result<(), ExecError> {
    let steps = step.block.as_ref().map_or(0, |block| block.steps);
    let batch = step
        .rows
        .as_ref()
        .ok_or_else(lost_buffer)?
        .shape()
        .num_elements();
    let mut written = 0;
    for i in 0..steps {
        let rows = step.block.as_ref().and_then(|block| block.rows.lend());
        let rows = take_ints(rows.ok_or_else(lost_buffer)?, i * batch, (i + 1) * batch);
        let buffer = step.rows.as_mut().ok_or_else(lost_buffer)?;
        buffer.write(rows).ok_or_else(lost_buffer)?;
        step.run_plain(device)?;
        for loss in &step.losses {
            let block = step.block.as_mut().ok_or_else(lost_buffer)?;
            let block_losses = block.losses.first_mut().ok_or_else(lost_buffer)?;
            let size = loss.shape().num_elements();
            let flat =
                Dispatch::float_reshape(loss.lend().ok_or_else(lost_buffer)?, Shape::from([size]));
            block_losses
                .write_at(written, flat)
                .ok_or_else(lost_buffer)?;
            written += size;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::test_step::{cpu, layout, rows, segment, start};
    use super::*;
    use crate::tensor::read;

    /// The CPU captures nothing, so the block runs op by op.
    #[test]
    fn a_block_without_losses_gives_none() {
        let step = CapturedStep::new(segment(), layout(), start(3), &cpu());
        let mut step = step.unwrap();
        for rows_of_steps in [[0, 1, 2, 3, 4, 5], [1, 1, 1, 1, 1, 1]] {
            let losses = step.run_block(rows(&rows_of_steps), &cpu()).unwrap();
            assert!(losses.is_none());
        }
        assert!(step.block.as_ref().unwrap().losses.is_empty());
        let state = step.copy_state(&cpu()).unwrap().remove(0);
        assert_eq!(read(state).unwrap(), [6.0 + 3.0, 9.0 + 3.0]);
        assert_eq!(step.stats.plain.values().sum::<u64>(), 6);
    }
}
