//! The execution of a program, block by block.

use std::mem::take;

use burn_backend::{DType, Shape, TensorMetadata};
use burn_flex::{FlexTensor, Layout};

use super::broadcast::Broadcast;
use super::error::FusedError;
use super::program::{Program, Sum};
use super::step::{Step, zip3};
use crate::flex::floats;
use crate::lanes;
use crate::scratch;
use crate::simd::vectorize;

/// Most elements of a block: ten values fit in the first-level cache together.
const BLOCK: usize = 1024;

/// What a program has computed.
#[derive(Debug, Clone)]
pub struct Results {
    /// The outputs, contiguous tensors of the shape of the run.
    pub outputs: Vec<FlexTensor>,
    /// The sums over all elements.
    pub sums: Vec<f32>,
}

/// Where a block of a value is read.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// A register.
    Register(usize),
    /// An operand.
    Operand(&'a [f32]),
    /// An operand that an output replaces.
    Replaced(usize),
}

/// Where an output is written.
enum Target<'a> {
    /// In place of an operand.
    Replaced(&'a mut [f32]),
    /// At the end of a new buffer.
    New(Vec<f32>),
}

/// An operand that is read into a register.
struct Fill<'a> {
    register: usize,
    values: &'a [f32],
    broadcast: Broadcast,
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

/// A program with its operands.
struct Run<'a> {
    program: &'a Program,
    /// Where the value of each step is.
    sources: Vec<Source<'a>>,
    /// What is read into registers for each block.
    fills: Vec<Fill<'a>>,
    targets: Vec<Target<'a>>,
    registers: Vec<Vec<f32>>,
    sums: Vec<f64>,
    block: usize,
}

impl<'a> Run<'a> {
    fn new(
        program: &'a Program,
        operands: &[Source<'a>],
        broadcasts: &[Broadcast],
        len: usize,
        targets: Vec<Target<'a>>,
        mut registers: Vec<Vec<f32>>,
    ) -> Self {
        let count = program.register_count;
        if registers.len() < count {
            registers.resize_with(count, || vec![0.0; BLOCK]);
        }
        let mut run = Self {
            program,
            sources: program
                .registers
                .iter()
                .map(|r| Source::Register(*r))
                .collect(),
            fills: Vec::new(),
            targets,
            registers,
            sums: vec![0.0; program.sums.len()],
            block: block_len(broadcasts, len),
        };
        for (number, step) in program
            .steps
            .iter()
            .enumerate()
            .filter(|(i, _)| program.live[*i])
        {
            let register = program.registers[number];
            match *step {
                Step::Constant(value) => run.registers[register].fill(value),
                Step::Operand(operand) if broadcasts[operand].is_full(len) => {
                    run.sources[number] = operands[operand];
                }
                Step::Operand(operand) => {
                    let Source::Operand(values) = operands[operand] else {
                        continue;
                    };
                    let broadcast = broadcasts[operand];
                    if run.block.is_multiple_of(broadcast.period().max(1)) {
                        // The same in every block.
                        broadcast.fill(
                            values,
                            0,
                            &mut run.registers[register][..run.block.min(len)],
                        );
                    } else {
                        run.fills.push(Fill {
                            register,
                            values,
                            broadcast,
                        });
                    }
                }
                _ => {}
            }
        }
        run
    }

    #[inline(always)]
    fn blocks(&mut self, len: usize) {
        let mut start = 0;
        while start < len {
            let count = self.block.min(len - start);
            self.block(start, count);
            start += count;
        }
    }

    #[inline(always)]
    fn block(&mut self, start: usize, len: usize) {
        for fill in &self.fills {
            let to = &mut self.registers[fill.register][..len];
            fill.broadcast.fill(fill.values, start, to);
        }
        let program = self.program;
        for (number, step) in program.steps.iter().enumerate() {
            if !program.live[number] || matches!(step, Step::Operand(_) | Step::Constant(_)) {
                continue;
            }
            let register = program.registers[number];
            let mut to = take(&mut self.registers[register]);
            let read = |value| self.read(value, start, len);
            match *step {
                Step::Unary(function, x) => function.run(read(x), &mut to[..len]),
                Step::Binary(function, a, b) => function.run(read(a), read(b), &mut to[..len]),
                Step::MulAdd(a, x, y) => {
                    zip3([a, x, y].map(read), &mut to[..len], |a, x, y| a + x * y);
                }
                Step::MulSub(a, x, y) => {
                    zip3([a, x, y].map(read), &mut to[..len], |a, x, y| a - x * y);
                }
                Step::Select(mask, a, b) => {
                    let choose = |mask, a, b| if mask != 0.0 { a } else { b };
                    zip3([mask, a, b].map(read), &mut to[..len], choose);
                }
                Step::Operand(_) | Step::Constant(_) => {}
            }
            self.registers[register] = to;
        }
        for (i, sum) in program.sums.iter().enumerate() {
            let read = |value| self.read(value, start, len);
            let sum = match *sum {
                Sum::Of(value) => lanes::sum::<64>(read(value)),
                Sum::OfProduct(a, b) => lanes::dot(read(a), read(b)),
            };
            self.sums[i] += f64::from(sum);
        }
        for (i, value) in program.outputs.iter().enumerate() {
            // No output is an operand that an output replaces.
            let values = match self.sources[*value] {
                Source::Register(register) => &self.registers[register][..len],
                Source::Operand(values) => &values[start..start + len],
                Source::Replaced(_) => continue,
            };
            match &mut self.targets[i] {
                Target::Replaced(into) => into[start..start + len].copy_from_slice(values),
                Target::New(into) => into.extend_from_slice(values),
            }
        }
    }

    #[inline(always)]
    fn read(&self, value: usize, start: usize, len: usize) -> &[f32] {
        match self.sources[value] {
            Source::Register(register) => &self.registers[register][..len],
            Source::Operand(values) => &values[start..start + len],
            Source::Replaced(output) => match &self.targets[output] {
                Target::Replaced(values) => &values[start..start + len],
                Target::New(_) => &[],
            },
        }
    }
}

/// Elements of a block: whole vectors, and where that is possible whole periods of the operands
/// that repeat.
fn block_len(broadcasts: &[Broadcast], len: usize) -> usize {
    let mut unit = 16;
    for broadcast in broadcasts
        .iter()
        .filter(|broadcast| !broadcast.is_full(len))
    {
        let both = least_common_multiple(unit, broadcast.period().max(1));
        if both <= BLOCK {
            unit = both;
        }
    }
    BLOCK / unit * unit
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}
