//! A program run on tensors.

use std::mem::take;

use burn_backend::{DType, Shape, TensorMetadata};
use burn_flex::{FlexTensor, Layout};

use super::blocks::{Run, Source, Target};
use super::broadcast::Broadcast;
use super::error::FusedError;
use super::program::Program;
use super::step::Step;
use crate::flex::floats;
use crate::scratch;
use crate::simd::vectorize;

/// What a program has computed.
#[derive(Debug, Clone)]
pub struct Results {
    /// The outputs, contiguous tensors of the shape of the run.
    pub outputs: Vec<FlexTensor>,
    /// The sums over all elements.
    pub sums: Vec<f32>,
}

impl Program {
    /// Runs the program on this thread.
    ///
    /// An operand of the full shape that nobody else holds and that is no output itself gives its
    /// buffer to an output. Other contiguous operands are read in place, views are copied first.
    /// Every element and sum is computed in an order that depends on the shapes only; a sum is taken
    /// in 64 lanes within a block of about a thousand elements, and in `f64` over the blocks.
    ///
    /// # Shapes
    /// An operand has the shape `shape` or one that repeats to it, where the dimensions that do not
    /// repeat are neighbours: a scalar (`[1]`, `[1, 1]`), a row (`[n]` or `[1, n]`), a column
    /// (`[m, 1]`), channels (`[1, c, 1, 1]`).
    ///
    /// # Errors
    /// If the number of operands, a type (all are `f32`) or a shape is wrong.
    pub fn run(&self, operands: Vec<FlexTensor>, shape: &[usize]) -> Result<Results, FusedError> {
        let broadcasts = self.check(&operands, shape)?;
        let mut operands: Vec<FlexTensor> = operands.into_iter().map(dense).collect();
        let len: usize = shape.iter().product();
        let replaced = self.replaced(&operands, &broadcasts, len);

        let mut targets: Vec<Target<'_>> = Vec::with_capacity(self.outputs.len());
        targets.resize_with(self.outputs.len(), || Target::New(Vec::new()));
        let mut sources = vec![Source::Operand(&[]); operands.len()];
        for (i, operand) in operands.iter_mut().enumerate() {
            let output = replaced.iter().position(|operand| *operand == Some(i));
            sources[i] = if let Some(output) = output {
                targets[output] = Target::Replaced(operand.storage_mut());
                Source::Replaced(output)
            } else {
                let (start, end) = operand.layout().contiguous_offsets().unwrap_or_default();
                Source::Operand(&operand.storage()[start..end])
            };
        }
        for target in &mut targets {
            if let Target::New(values) = target {
                values.reserve_exact(len);
            }
        }
        let registers = scratch::with(|scratch| take(&mut scratch.registers));
        let mut run = Run::new(self, &sources, &broadcasts, len, targets, registers);
        vectorize(
            #[inline(always)]
            || run.blocks(len),
        );
        let Run {
            registers,
            targets,
            sums,
            ..
        } = run;
        scratch::with(|scratch| scratch.registers = registers);
        let new: Vec<Option<Vec<f32>>> = targets
            .into_iter()
            .map(|target| match target {
                Target::New(values) => Some(values),
                Target::Replaced(_) => None,
            })
            .collect();
        let outputs = new
            .into_iter()
            .zip(replaced)
            .map(|(new, operand)| match (new, operand) {
                (None, Some(operand)) => {
                    let layout = Layout::contiguous(Shape::from(shape.to_vec()));
                    operands[operand].clone().with_layout(layout)
                }
                (new, _) => floats(new.unwrap_or_default(), shape),
            });
        Ok(Results {
            outputs: outputs.collect(),
            sums: sums.into_iter().map(|sum| sum as f32).collect(),
        })
    }

    /// How each operand repeats.
    fn check(
        &self,
        operands: &[FlexTensor],
        shape: &[usize],
    ) -> Result<Vec<Broadcast>, FusedError> {
        if operands.len() != self.operand_count {
            return Err(FusedError::Operands {
                expected: self.operand_count,
                found: operands.len(),
            });
        }
        let check = |(operand, tensor): (usize, &FlexTensor)| {
            let found = tensor.dtype();
            if found != DType::F32 {
                return Err(FusedError::Type { operand, found });
            }
            Broadcast::of(&tensor.shape(), shape).ok_or_else(|| FusedError::Shape {
                operand,
                expected: shape.to_vec(),
                found: tensor.shape().to_vec(),
            })
        };
        operands.iter().enumerate().map(check).collect()
    }

    /// The operand that each output replaces.
    fn replaced(
        &self,
        operands: &[FlexTensor],
        broadcasts: &[Broadcast],
        len: usize,
    ) -> Vec<Option<usize>> {
        let is_output = |operand| {
            let outputs = self.outputs.iter();
            outputs
                .clone()
                .any(|output| self.steps[*output] == Step::Operand(operand))
        };
        let mut free = operands.iter().enumerate().filter(|(i, tensor)| {
            tensor.is_unique()
                && broadcasts[*i].is_full(len)
                && tensor.storage::<f32>().len() == len
                && !is_output(*i)
        });
        self.outputs
            .iter()
            .map(|_| free.next().map(|(i, _)| i))
            .collect()
    }
}

/// The tensor with contiguous elements.
fn dense(tensor: FlexTensor) -> FlexTensor {
    if tensor.is_contiguous() {
        tensor
    } else {
        tensor.to_contiguous()
    }
}
