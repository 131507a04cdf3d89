//! Runs a plan: one op after another, over slots.

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;

use super::plan::{Plan, Read};
use crate::device::ExecError;
use crate::ops::{self, Place};

/// The values of a running plan. A worker keeps them between steps, so that a step allocates none.
#[derive(Default)]
pub struct Slots(Vec<Option<DispatchTensor>>);

impl Plan {
    /// Runs the plan once. `inputs` are in the order of [`Plan::inputs`]; those that no other
    /// handle shares may be written in place.
    ///
    /// # Errors
    ///
    /// The plan is malformed, or fewer inputs are given than it has.
    pub fn run(
        &self,
        device: &DispatchDevice,
        inputs: impl IntoIterator<Item = DispatchTensor>,
        slots: &mut Slots,
    ) -> Result<Vec<DispatchTensor>, ExecError> {
        let slots = &mut slots.0;
        slots.clear();
        slots.resize_with(self.slots, || None);
        for ((_, _, slot), tensor) in self.inputs.iter().zip(inputs) {
            if let Some(slot) = slot {
                slots[*slot] = Some(tensor);
            }
        }
        let place = Place {
            device,
            exact_convolutions: self.exact_convolutions,
        };
        for instr in &self.instrs {
            let op = instr.op.name();
            let mut reads = instr.ins.iter();
            if let Some(kernel) = &instr.kernel {
                let operands = reads.map(|r| read(slots, r)).collect::<Option<Vec<_>>>();
                let results = operands.and_then(|operands| kernel.run(operands, device));
                let results = results.ok_or(ExecError::EmptySlot { op })?;
                for (slot, result) in instr.outs.iter().zip(results) {
                    if let Some(slot) = slot {
                        slots[*slot] = Some(result);
                    }
                }
                continue;
            }
            let results = ops::apply(&instr.op, place, || read(slots, reads.next()?));
            let (first, second) = results.ok_or(ExecError::EmptySlot { op })?;
            for (slot, result) in instr.outs.iter().zip([Some(first), second]) {
                if let (Some(slot), Some(result)) = (slot, result) {
                    slots[*slot] = Some(result);
                }
            }
        }
        let outputs = self.outputs.iter();
        outputs
            .map(|(_, r)| read(slots, r).ok_or(ExecError::EmptySlot { op: "return" }))
            .collect()
    }
}

fn read(slots: &mut [Option<DispatchTensor>], read: &Read) -> Option<DispatchTensor> {
    if read.take {
        slots[read.slot].take()
    } else {
        slots[read.slot].clone()
    }
}
