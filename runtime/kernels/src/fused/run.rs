//! Running a program on tensors.

use burn_backend::{DType, Shape, TensorMetadata};
use burn_flex::{FlexTensor, Layout};

use super::broadcast::Broadcast;
use super::dims::Dims;
use super::error::FusedError;
use super::extent::Extent;
use super::program::FusedProgram;
use super::step::Step;
use super::sums::Sums;
use super::work::{Source, Work};
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
        // The sizes of some dimensions, and 1 for the others.
        let sizes = |are_kept: fn(usize) -> bool| -> Vec<usize> {
            let sizes = shape.iter().enumerate();
            sizes
                .map(|(i, n)| if are_kept(i) { *n } else { 1 })
                .collect()
        };
        let (leading, channels) = (sizes(|dim| dim > 0), sizes(|dim| dim == 1));
        let single = |sums: Vec<f64>| sums.into_iter().map(|sum| sum as f32).collect();
        let leading_sums = sums.leading.into_iter();
        let channel_sums = sums.channels.into_iter();
        Self {
            outputs,
            sums: single(sums.all),
            leading_sums: leading_sums.map(|sums| floats(sums, &leading)).collect(),
            channel_sums: channel_sums
                .map(|sums| floats(single(sums), &channels))
                .collect(),
        }
    }
}

impl FusedProgram {
    /// Runs the program on this thread and, if it is large, on its [helpers](crate::team).
    ///
    /// An output takes the buffer of an operand that has the full shape, that nobody else holds, and that is
    /// not an output itself. Other contiguous operands are read in place, and views are copied first. The
    /// order of computation depends on the shapes only. A sum is taken in 64 lanes within a block of about a
    /// thousand elements, and in `f64` over the blocks; a sum of a channel likewise within each of its planes. A
    /// sum over the first dimension is taken in order, from zero.
    ///
    /// # Shapes
    /// An operand has the shape `shape`, or one that is broadcast to it such that the dimensions that are not
    /// repeated are neighbours: a scalar (`[1]`, `[1, 1]`), a row (`[n]` or `[1, n]`), a column
    /// (`[m, 1]`), channels (`[1, c, 1, 1]`).
    ///
    /// # Errors
    /// If the number of operands, a type (all are `f32`) or a shape is wrong.
    pub fn run(&self, operands: Vec<FlexTensor>, shape: &[usize]) -> Result<Results, FusedError> {
        self.execute(operands, shape, None)
    }

    /// Like [`run`](Self::run), and adds a product to the first output, some rows at a time while they are in
    /// the cache. This is an optimizer's step for a dense layer if the program also changes the weight.
    ///
    /// # Shapes
    /// As [`run`](Self::run), where the shape `[m, n]` is that of the product too.
    ///
    /// # Errors
    /// As [`run`](Self::run), or if the shape of the product is another one, or if there is no output.
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
        let replaced = self.replaced(&operands, &broadcasts, len);
        // New outputs, which are overwritten.
        let new = replaced.iter().map(|operand| match operand {
            Some(_) => Vec::new(),
            None => buffers::any(len),
        });
        let mut new: Vec<Vec<f32>> = new.collect();
        let mut targets: Vec<&mut [f32]> = new.iter_mut().map(|new| &mut new[..]).collect();
        let sources = operands.iter_mut().enumerate().map(|(i, operand)| {
            match replaced.iter().position(|operand| *operand == Some(i)) {
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
        // Blocks end at the ends of a product's rows, and of planes that are summed.
        let row = match product {
            Some(_) => shape[1],
            None => 1,
        };
        let planes = (!self.channel_sums.is_empty()).then_some(dims.pixels);
        let work = Work {
            program: self,
            operands: &sources,
            broadcasts: &broadcasts,
            dims,
            extent: Extent::new(&broadcasts, len, row, planes),
        };
        let sums = match product {
            Some(product) => work.run_and_add(targets, row, product),
            None => work.run(targets),
        };
        let outputs = new.into_iter().zip(&replaced).map(|(new, operand)| {
            let layout = Layout::contiguous(Shape::from(shape.to_vec()));
            match operand {
                Some(operand) => operands[*operand].clone().with_layout(layout),
                None => floats(new, shape),
            }
        });
        let results = Results::of(outputs.collect(), sums, shape);
        // The buffers of those that were replaced are held by outputs, too.
        operands.into_iter().for_each(buffers::keep);
        Ok(results)
    }

    /// How each operand is repeated.
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

    /// The operand whose buffer each output takes.
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
