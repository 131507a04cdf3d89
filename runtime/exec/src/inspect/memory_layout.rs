//! Follows the strides of tensors on a GPU through a list of ops, to tell whether a view is free or launches a
//! kernel.
//!
//! A permutation only changes the strides, which costs nothing. A reshape of a permuted tensor has to copy it,
//! by a kernel, if no strides describe the new shape.

use std::collections::HashMap;

use burn_ir::{BaseOperationIr, ModuleOperationIr, OperationIr, TensorId, TensorIr};
use burn_std::{ReshapeAction, Strides, contiguous_strides, reshape_action};

/// The strides of tensors that are not row-major. A tensor without an entry is row-major.
#[derive(Default)]
pub(super) struct MemoryLayout(HashMap<TensorId, Strides>);

impl MemoryLayout {
    fn strides(&self, t: &TensorIr) -> Strides {
        let strides = self.0.get(&t.id).cloned();
        strides.unwrap_or_else(|| contiguous_strides(&t.shape))
    }

    /// Notes the layout of the results of an op that is not fused. Gives whether the op launches a kernel.
    pub fn run_unfused(&mut self, op: &OperationIr) -> bool {
        match op {
            OperationIr::BaseFloat(op) | OperationIr::BaseInt(op) | OperationIr::BaseBool(op) => {
                self.run_view(op)
            }
            OperationIr::Module(layer) => {
                if gives_channels_last(layer) {
                    for out in op.outputs().filter(|out| out.shape.len() == 4) {
                        self.0.insert(out.id, channels_last(out));
                    }
                }
                true
            }
            op => {
                self.run_compute(op);
                true
            }
        }
    }

    /// Notes the layout of the results of an op that computes, alone or in a fused kernel. The result of an
    /// elementwise op on images has the layout of the images.
    pub fn run_compute(&mut self, op: &OperationIr) {
        for out in op.outputs().filter(|out| out.shape.len() == 4) {
            let mut same_shape = op.inputs().filter(|input| input.shape == out.shape);
            let channels_last = channels_last(out);
            if same_shape.any(|input| self.strides(input) == channels_last) {
                self.0.insert(out.id, channels_last);
            }
        }
    }

    /// Notes the layout of the result of an op that gives a view or a copy. Gives whether it launches a kernel.
    fn run_view(&mut self, op: &BaseOperationIr) -> bool {
        let (out, strides) = match op {
            BaseOperationIr::Reshape(op) => {
                let before = self.strides(&op.input);
                match reshape_action(&op.input.shape, &before, &op.out.shape) {
                    ReshapeAction::Recompute => return true,
                    ReshapeAction::NoChange => (&op.out, before),
                    ReshapeAction::UpdateStrides { strides } => (&op.out, strides),
                }
            }
            BaseOperationIr::SwapDims(op) => {
                let mut strides = self.strides(&op.input);
                strides.swap(op.dim1, op.dim2);
                (&op.out, strides)
            }
            BaseOperationIr::Permute(op) => {
                let before = self.strides(&op.input);
                let mut strides = before.clone();
                for (stride, &axis) in strides.iter_mut().zip(&op.axes) {
                    *stride = before[axis];
                }
                (&op.out, strides)
            }
            BaseOperationIr::Expand(op) => {
                let before = self.strides(&op.input);
                let mut strides = contiguous_strides(&op.out.shape);
                strides.fill(0);
                let sizes = op.input.shape.iter().zip(before.iter());
                for (to, (&size, &stride)) in strides.iter_mut().rev().zip(sizes.rev()) {
                    *to = if size == 1 { 0 } else { stride };
                }
                (&op.out, strides)
            }
            BaseOperationIr::Empty(_) => return false,
            _ => return true,
        };
        self.0.insert(out.id, strides);
        false
    }
}

/// Whether burn computes a layer's result with the channels last in memory, and gives it as a permuted view.
fn gives_channels_last(layer: &ModuleOperationIr) -> bool {
    matches!(
        layer,
        ModuleOperationIr::Conv2d(_)
            | ModuleOperationIr::Conv2dXBackward(_)
            | ModuleOperationIr::Conv2dWeightBackward(_)
            | ModuleOperationIr::AvgPool2d(_)
            | ModuleOperationIr::AvgPool2dBackward(_)
            | ModuleOperationIr::MaxPool2d(_)
            | ModuleOperationIr::MaxPool2dWithIndices(_)
            | ModuleOperationIr::MaxPool2dWithIndicesBackward(_)
    )
}

/// The strides of a tensor `[n, c, h, w]` whose memory is ordered as `[n, h, w, c]`.
fn channels_last(t: &TensorIr) -> Strides {
    let [n, c, h, w] = t.shape.dims();
    let memory = contiguous_strides(&[n, h, w, c]);
    let mut strides = memory.clone();
    for (stride, at) in strides.iter_mut().zip([0, 3, 1, 2]) {
        *stride = memory[at];
    }
    strides
}

#[cfg(test)]
mod tests {
    use burn_backend::{DType, Shape};
    use burn_ir::{NumericOperationIr, PermuteOpIr, ShapeOpIr, TensorStatus, UnaryOpIr};

    use super::*;

    fn tensor(id: u64, shape: &[usize]) -> TensorIr {
        TensorIr {
            id: TensorId::new(id),
            shape: Shape::from(shape.to_vec()),
            status: TensorStatus::ReadOnly,
            dtype: DType::F32,
        }
    }

    fn reshape(input: &TensorIr, out: &TensorIr) -> OperationIr {
        let (input, out) = (input.clone(), out.clone());
        OperationIr::BaseFloat(BaseOperationIr::Reshape(ShapeOpIr { input, out }))
    }

    fn permute(input: &TensorIr, out: &TensorIr, axes: &[usize]) -> OperationIr {
        let (input, out, axes) = (input.clone(), out.clone(), axes.to_vec());
        OperationIr::BaseFloat(BaseOperationIr::Permute(PermuteOpIr { input, out, axes }))
    }

    #[test]
    fn a_reshape_of_a_permuted_tensor_is_a_kernel() {
        let mut layout = MemoryLayout::default();
        let (x, permuted) = (tensor(0, &[2, 3, 4]), tensor(1, &[4, 2, 3]));
        assert!(!layout.run_unfused(&reshape(&x, &tensor(2, &[6, 4]))));
        assert!(!layout.run_unfused(&permute(&x, &permuted, &[2, 0, 1])));
        assert!(layout.run_unfused(&reshape(&permuted, &tensor(3, &[4, 6]))));
        // The copy is row-major again.
        assert!(!layout.run_unfused(&reshape(&tensor(3, &[4, 6]), &tensor(4, &[24]))));
        // The inverse permutation gives row-major strides again.
        let back = tensor(5, &[2, 3, 4]);
        assert!(!layout.run_unfused(&permute(&permuted, &back, &[1, 2, 0])));
        assert!(!layout.run_unfused(&reshape(&back, &tensor(6, &[24]))));
    }

    #[test]
    fn channels_are_rows_once_they_are_last() {
        let mut layout = MemoryLayout::default();
        let x = tensor(0, &[2, 3, 4, 5]);
        layout.0.insert(x.id, channels_last(&x));
        assert!(layout.run_unfused(&reshape(&x, &tensor(1, &[2, 3, 20]))));
        // The result of an elementwise op has the same layout.
        let (input, out) = (x.clone(), tensor(4, &[2, 3, 4, 5]));
        layout.run_compute(&OperationIr::NumericFloat(
            DType::F32,
            NumericOperationIr::Abs(UnaryOpIr {
                input,
                out: out.clone(),
            }),
        ));
        assert!(layout.run_unfused(&reshape(&out, &tensor(5, &[2, 60]))));
        let last = tensor(2, &[2, 4, 5, 3]);
        assert!(!layout.run_unfused(&permute(&x, &last, &[0, 2, 3, 1])));
        assert!(!layout.run_unfused(&reshape(&last, &tensor(3, &[40, 3]))));
    }
}
