//! Runs a program on tensors: checks the operands, chooses the output buffers, and collects the results.

use burn_backend::{DType, Shape, TensorMetadata};
use burn_flex::{FlexTensor, Layout};

use super::block_layout::BlockLayout;
use super::bound_program::{BoundProgram, Source};
use super::broadcast::Broadcast;
use super::dims::Dims;
use super::error::FusedError;
use super::program::FusedProgram;
use super::step::Step;
use super::sums::Sums;
use crate::buffers;
use crate::flex::floats;
use crate::matmul::ScaledProduct;

/// The results of a program.
#[derive(Debug, Clone)]
pub struct Results {
    /// The outputs, contiguous tensors of the shape of the run.
    pub outputs: Vec<FlexTensor>,
    /// The sums over all elements.
    pub sums: Vec<f32>,
    /// The sums over the first dimension, whose size is 1 in them.
    pub leading_sums: Vec<FlexTensor>,
    /// The sums over all dimensions but the second. All other sizes are 1 in them.
    pub channel_sums: Vec<FlexTensor>,
}

impl Results {
    fn of(outputs: Vec<FlexTensor>, sums: Sums, shape: &[usize]) -> Self {
        // The shape with size 1 for the dimensions that are summed.
        let sum_shape = |is_kept: fn(usize) -> bool| -> Vec<usize> {
            let sizes = shape.iter().enumerate();
            sizes
                .map(|(i, n)| if is_kept(i) { *n } else { 1 })
                .collect()
        };
        let leading_shape = sum_shape(|dim| dim > 0);
        let channel_shape = sum_shape(|dim| dim == 1);
        let to_f32 = |sums: Vec<f64>| sums.into_iter().map(|sum| sum as f32).collect();
        let leading_sums = sums.leading.into_iter();
        let channel_sums = sums.channels.into_iter();
        Self {
            outputs,
            sums: to_f32(sums.all),
            leading_sums: leading_sums
                .map(|sums| floats(sums, &leading_shape))
                .collect(),
            channel_sums: channel_sums
                .map(|sums| floats(to_f32(sums), &channel_shape))
                .collect(),
        }
    }
}

impl FusedProgram {
    /// Runs the program on this thread and, if it is large, on its [helpers](crate::team).
    ///
    /// An output takes the buffer of an operand that has the full shape, that nobody else holds, and that is not an output
    /// itself. Other contiguous operands are read in place, and views are copied first.
    ///
    /// The order of computation depends on the shapes only. A sum is taken in 64 lanes within a block of about a thousand
    /// elements, and in `f64` over the blocks. The sum of a channel is taken likewise within each of its planes. A sum over
    /// the first dimension is taken in order, from zero.
    ///
    /// # Shapes
    /// An operand has the shape `shape`, or one that is broadcast to it such that the dimensions that are not repeated are
    /// neighbours: a scalar (`[1]`, `[1, 1]`), a row (`[n]` or `[1, n]`), a column (`[m, 1]`), or channels (`[1, c, 1, 1]`).
    ///
    /// # Errors
    /// If the number of operands, a type (all must be `f32`) or a shape is wrong.
    pub fn run(&self, operands: Vec<FlexTensor>, shape: &[usize]) -> Result<Results, FusedError> {
        self.execute(operands, shape, None)
    }

    /// Like [`run`](Self::run), and adds a product to the first output, some rows at a time while they are in the cache. This
    /// is an optimizer's step for a dense layer in which the program changes the weight too.
    ///
    /// # Shapes
    /// As [`run`](Self::run). `shape` is also the shape of the product, `[m, n]`.
    ///
    /// # Errors
    /// As [`run`](Self::run), or if the product has another shape, or if the program has no output.
    pub fn run_and_add(
        &self,
        operands: Vec<FlexTensor>,
        shape: &[usize],
        product: &ScaledProduct,
    ) -> Result<Results, FusedError> {
        if self.outputs.is_empty() {
            return Err(FusedError::NoOutput);
        }
        let found = product.shape();
        if found != shape {
            let expected = shape.to_vec();
            return Err(FusedError::Product { expected, found });
        }
        self.execute(operands, shape, Some(product))
    }

    /// [`run`](Self::run), or [`run_and_add`](Self::run_and_add) if there is a product.
    fn execute(
        &self,
        operands: Vec<FlexTensor>,
        shape: &[usize],
        product: Option<&ScaledProduct>,
    ) -> Result<Results, FusedError> {
        let broadcasts = self.check(&operands, shape)?;
        let mut operands: Vec<FlexTensor> = operands.into_iter().map(dense).collect();
        let dims = Dims::of(shape);
        let len = dims.len;
        let reused = self.reused_operands(&operands, &broadcasts, len);
        // New buffers for the outputs that do not reuse the buffer of an operand.
        let new = reused.iter().map(|operand| match operand {
            Some(_) => Vec::new(),
            None => buffers::arbitrary(len),
        });
        let mut new: Vec<Vec<f32>> = new.collect();
        let mut targets: Vec<&mut [f32]> = new.iter_mut().map(|new| &mut new[..]).collect();
        let sources = operands.iter_mut().enumerate().map(|(i, operand)| {
            match reused.iter().position(|operand| *operand == Some(i)) {
                Some(output) => {
                    targets[output] = operand.storage_mut();
                    Source::Output(output)
                }
                None => {
                    let (start, end) = operand.layout().contiguous_offsets().unwrap_or_default();
                    Source::Operand(&operand.storage()[start..end])
                }
            }
        });
        let sources: Vec<Source<'_>> = sources.collect();
        // Blocks end at the ends of the product's rows, and of planes that are summed.
        let row = match product {
            Some(_) => shape[1],
            None => 1,
        };
        let planes = (!self.channel_sums.is_empty()).then_some(dims.pixels);
        let bound = BoundProgram {
            program: self,
            operands: &sources,
            broadcasts: &broadcasts,
            dims,
            layout: BlockLayout::new(&broadcasts, len, row, planes),
        };
        let sums = match product {
            Some(product) => bound.run_and_add(targets, row, product),
            None => bound.run(targets),
        };
        let outputs = new.into_iter().zip(&reused).map(|(new, operand)| {
            let layout = Layout::contiguous(Shape::from(shape.to_vec()));
            match operand {
                Some(operand) => operands[*operand].clone().with_layout(layout),
                None => floats(new, shape),
            }
        });
        let results = Results::of(outputs.collect(), sums, shape);
        // Returns the operands' buffers to the pool. Reused ones stay, because the outputs hold them too.
        operands.into_iter().for_each(buffers::keep);
        Ok(results)
    }

    /// Checks the operands, and gives the broadcast of each.
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

    /// For each output, the operand whose buffer it reuses; `None` if it gets a new buffer.
    fn reused_operands(
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
        let mut reusable = operands.iter().enumerate().filter(|(i, tensor)| {
            tensor.is_unique()
                && broadcasts[*i].is_full(len)
                && tensor.storage::<f32>().len() == len
                && !is_output(*i)
        });
        self.outputs
            .iter()
            .map(|_| reusable.next().map(|(i, _)| i))
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
