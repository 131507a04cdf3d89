//! Runs a plan: computes its ops one after another, with the values in slots.

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_kernels::buffers;

use super::plan::{Instr, Plan, Read};
use crate::device::ExecError;
use crate::ops::{self, OpContext};
use crate::tensor::host;

/// The slots of a running plan. A worker keeps them between runs, so that a run does not allocate the list
/// again.
#[derive(Default)]
pub struct Slots(Vec<Option<DispatchTensor>>);

impl Plan {
    /// Runs the plan once, and gives its outputs. `inputs` are in the order of [`Plan::inputs`]. The plan may
    /// write an input in place if nobody else holds a handle to it.
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

    /// As [`run`](Self::run), but calls `done` after each instruction with its index in [`Plan::instrs`]. On
    /// the CPU the instruction has finished then; a GPU may still be computing it.
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
        let context = OpContext {
            device,
            exact_convolutions: self.exact_convolutions,
        };
        for (i, instr) in self.instrs.iter().enumerate() {
            instr.run(context, slots)?;
            done(i);
        }
        let outputs = self.outputs.iter();
        outputs
            .map(|(_, r)| read(slots, r).ok_or(ExecError::EmptySlot { op: "return" }))
            .collect()
    }
}

impl Instr {
    /// Computes the results into their slots.
    fn run(
        &self,
        context: OpContext<'_>,
        slots: &mut [Option<DispatchTensor>],
    ) -> Result<(), ExecError> {
        let empty = || ExecError::EmptySlot { op: self.op.name() };
        let mut reads = self.ins.iter().enumerate();
        if let Some(kernel) = &self.kernel {
            let operands = reads
                .map(|(_, r)| read(slots, r))
                .collect::<Option<Vec<_>>>()
                .ok_or_else(empty)?;
            let results = kernel.run(operands, context.device).ok_or_else(empty)??;
            for (slot, result) in self.outs.iter().zip(results) {
                if let Some(slot) = slot {
                    slots[*slot] = Some(result);
                }
            }
            return Ok(());
        }
        // Large operands that no later op reads and that this op does not overwrite. Their buffers go to the
        // pool of the kernels after the op.
        let mut released = Vec::new();
        let (first, second) = ops::apply(&self.op, context, || {
            let (operand, from) = reads.next()?;
            let tensor = read(slots, from)?;
            if from.take && ops::only_reads(&self.op, operand) {
                let large = host::as_flex(&tensor).filter(|t| buffers::is_worth_keeping(t));
                released.extend(large.cloned());
            }
            Some(tensor)
        })
        .ok_or_else(empty)?;
        released.into_iter().for_each(buffers::keep);
        for (slot, result) in self.outs.iter().zip([Some(first), second]) {
            if let (Some(slot), Some(result)) = (slot, result) {
                slots[*slot] = Some(result);
            }
        }
        Ok(())
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
    use std::sync::Arc;

    use burn::tensor::{Device, Tensor};
    use fedround_ir::Loc;
    use fedround_ir::tensor::{Fused, Graph, Op, TensorType};

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

    #[test]
    fn a_fused_kernel_says_what_it_cannot_read() {
        let mut graph = Graph::default();
        let x = graph.input("x", TensorType::f32([2, 1, 4]));
        // The kernel repeats leading and trailing dimensions, and none between others.
        let fused = Fused {
            shape: vec![2, 3, 4],
            steps: vec![(Op::Exp, vec![0])],
            outputs: vec![1],
            sums: vec![],
            leading_sums: vec![],
            channel_sums: vec![],
        };
        let fused = Op::Fused(Arc::new(fused));
        let y = graph.push(fused, &[x], Loc::caller()).unwrap();
        graph.outputs.push(("y".into(), y));
        let device = Device::flex();
        let x = Tensor::<3>::ones([2, 1, 4], &device).into_dispatch();
        let plan = Plan::new(&graph);
        let ran = plan.run(device.as_dispatch(), [x], &mut Slots::default());
        let error = ran.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("operand 0: expected a shape"), "{error}");
        assert!(error.contains("[2, 1, 4]"), "{error}");
    }
}
