//! Runs a plan: one op after another, over slots.

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_kernels::buffers;

use super::plan::{Instr, Plan, Read};
use crate::device::ExecError;
use crate::ops::{self, Place};
use crate::tensor::host;

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
        self.run_observed(device, inputs, slots, |_| ())
    }

    /// As [`run`](Self::run); `done` is called after each instruction, with its place among
    /// [`Plan::instrs`]. On a CPU its results are there then.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_observed(
        &self,
        device: &DispatchDevice,
        inputs: impl IntoIterator<Item = DispatchTensor>,
        slots: &mut Slots,
        mut done: impl FnMut(usize),
    ) -> Result<Vec<DispatchTensor>, ExecError> {
        buffers::begin_run();
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
        for (i, instr) in self.instrs.iter().enumerate() {
            let op = instr.op.name();
            instr.run(place, slots).ok_or(ExecError::EmptySlot { op })?;
            done(i);
        }
        let outputs = self.outputs.iter();
        outputs
            .map(|(_, r)| read(slots, r).ok_or(ExecError::EmptySlot { op: "return" }))
            .collect()
    }
}

impl Instr {
    /// Computes its results into their slots. `None` where an operand's slot is empty.
    fn run(&self, place: Place<'_>, slots: &mut [Option<DispatchTensor>]) -> Option<()> {
        let mut reads = self.ins.iter().enumerate();
        if let Some(kernel) = &self.kernel {
            let operands = reads
                .map(|(_, r)| read(slots, r))
                .collect::<Option<Vec<_>>>()?;
            let results = kernel.run(operands, place.device)?;
            for (slot, result) in self.outs.iter().zip(results) {
                if let Some(slot) = slot {
                    slots[*slot] = Some(result);
                }
            }
            return Some(());
        }
        // Large tensors that this op is the last to read, and does not write.
        let mut last = Vec::new();
        let (first, second) = ops::apply(&self.op, place, || {
            let (operand, from) = reads.next()?;
            let tensor = read(slots, from)?;
            if from.take && ops::only_reads(&self.op, operand) {
                let large = host::peek(&tensor).filter(|t| buffers::is_worth_keeping(t));
                last.extend(large.cloned());
            }
            Some(tensor)
        })?;
        last.into_iter().for_each(buffers::keep);
        for (slot, result) in self.outs.iter().zip([Some(first), second]) {
            if let (Some(slot), Some(result)) = (slot, result) {
                slots[*slot] = Some(result);
            }
        }
        Some(())
    }
}

fn read(slots: &mut [Option<DispatchTensor>], read: &Read) -> Option<DispatchTensor> {
    if read.take {
        slots[read.slot].take()
    } else {
        slots[read.slot].clone()
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, Tensor};
    use fedround_ir::Loc;
    use fedround_ir::tensor::{Graph, Op, TensorType};

    use super::*;

    #[test]
    fn each_instruction_is_observed_in_order() {
        let mut graph = Graph::default();
        let x = graph.input("x", TensorType::f32([2, 3]));
        let y = graph.push(Op::Exp, &[x], Loc::caller()).unwrap();
        let y = graph.push(Op::Neg, &[y], Loc::caller()).unwrap();
        graph.outputs.push(("y".into(), y));
        let device = Device::default();
        let x = Tensor::<2>::ones([2, 3], &device).into_dispatch();
        let (mut seen, mut slots) = (vec![], Slots::default());
        let (plan, device) = (Plan::new(&graph), device.as_dispatch());
        let run = plan.run_observed(device, [x], &mut slots, |i| seen.push(i));
        assert_eq!((run.unwrap().len(), seen), (1, vec![0, 1]));
    }
}
