//! Takes several steps of a captured step at once, by one launch.

use burn::tensor::{DispatchTensor, Shape};
use burn_backend::ops::FloatTensorOps;
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_ir::tensor::TensorType;

use super::buffer::{Buffer, lost};
use super::step::{CapturedStep, Runs};
use crate::device::ExecError;
use crate::tensor::take_ints;

impl CapturedStep {
    /// How many steps [`run_block`](Self::run_block) takes; `None` before a single step is trusted, and
    /// where several are not recorded.
    pub fn block(&self) -> Option<usize> {
        let block = self.block.as_ref().filter(|block| !block.refused)?;
        self.is_trusted().then_some(block.steps)
    }

    /// Takes several steps on batches of these rows, by one launch; gives their losses in order.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_block(
        &mut self,
        rows: DispatchTensor,
        device: &DispatchDevice,
    ) -> Result<DispatchTensor, ExecError> {
        let block = self.block.as_mut().ok_or_else(lost)?;
        block.rows.write(rows).ok_or_else(lost)?;
        let (new, steps) = (block.graph.is_none() && !block.refused, block.steps as u64);
        if new {
            self.record_block(device)?;
        }
        let block = self.block.as_ref().ok_or_else(lost)?;
        match (&block.graph, block.checks) {
            (None, _) => {
                plain_block(self, device)?;
                let why = self.stats.refused.clone().unwrap_or_default();
                self.stats.plain(&why, steps);
            }
            (Some(graph), 0) => {
                graph.replay()?;
                self.stats.launched(steps);
            }
            (Some(_), _) => self.checked_block(device, steps)?,
        }
        let losses = self.block.as_ref().and_then(|block| block.losses.first());
        losses.and_then(|all| all.copy(device)).ok_or_else(lost)
    }

    fn checked_block(&mut self, device: &DispatchDevice, steps: u64) -> Result<(), ExecError> {
        let differs = self.compare(&BLOCK, device)?;
        let block = self.block.as_mut().ok_or_else(lost)?;
        match differs {
            None => {
                block.checks -= 1;
                self.stats.launched(steps);
            }
            Some(why) => {
                block.graph = None;
                block.refused = true;
                self.stats.plain(&why, steps);
                self.stats.refused = Some(why);
            }
        }
        Ok(())
    }

    /// Records the steps; the state is as before.
    fn record_block(&mut self, device: &DispatchDevice) -> Result<(), ExecError> {
        let each: usize = self.losses.iter().map(|b| b.shape().num_elements()).sum();
        let block = self.block.as_mut().ok_or_else(lost)?;
        let ty = TensorType::f32([block.steps * each]);
        block.losses = vec![Buffer::blank(&ty, device).ok_or_else(lost)?];
        let recorded = self.recorded(&BLOCK, device)?;
        let block = self.block.as_mut().ok_or_else(lost)?;
        match recorded {
            Ok(graph) => block.graph = Some(graph),
            Err(why) => {
                block.refused = true;
                self.stats.refused = Some(why);
            }
        }
        Ok(())
    }
}

const BLOCK: Runs = Runs {
    replay: |step| match step.block.as_ref().and_then(|b| b.graph.as_ref()) {
        Some(graph) => graph.replay(),
        None => Err(lost()),
    },
    plain: plain_block,
    losses: |step| step.block.as_ref().map_or(&[], |block| &block.losses),
};

/// Takes the steps one by one, op by op: what is recorded.
fn plain_block(step: &mut CapturedStep, device: &DispatchDevice) -> Result<(), ExecError> {
    let steps = step.block.as_ref().map_or(0, |block| block.steps);
    let rows = step.rows.as_ref().ok_or_else(lost)?.shape().num_elements();
    let mut place = 0;
    for i in 0..steps {
        let all = step.block.as_ref().and_then(|block| block.rows.lend());
        let own = take_ints(all.ok_or_else(lost)?, i * rows, (i + 1) * rows);
        let buffer = step.rows.as_mut().ok_or_else(lost)?;
        buffer.write(own).ok_or_else(lost)?;
        step.plain(device)?;
        let Some(all) = step
            .block
            .as_mut()
            .and_then(|block| block.losses.first_mut())
        else {
            return Err(lost());
        };
        for loss in &step.losses {
            let size = loss.shape().num_elements();
            let flat = Dispatch::float_reshape(loss.lend().ok_or_else(lost)?, Shape::from([size]));
            all.write_at(place, flat).ok_or_else(lost)?;
            place += size;
        }
    }
    Ok(())
}
