//! Runs a program block by block: for each block, the computed steps in order. Each step is one loop over the elements of the
//! block, from registers to a register or an output.

use std::mem::take;
use std::ops::Range;

use super::block_layout::BlockLayout;
use super::bound_program::{BoundProgram, Source};
use super::broadcast::Broadcast;
use super::dims::Dims;
use super::operand_prefetch::OperandPrefetch;
use super::program::{FusedProgram, Sum, arguments};
use super::step::{Step, Values};
use super::sums::{self, Sums, add_channels, add_repeated};
use super::update::Update;
use crate::lanes;
use crate::simd::vectorize;

/// A repeating operand whose elements are not the same in every block.
struct RepeatingOperand<'a> {
    /// The step that loads it.
    step: usize,
    values: &'a [f32],
    broadcast: Broadcast,
}

/// Runs a program for a range of elements, on one thread.
pub(super) struct BlockRunner<'a> {
    program: &'a FusedProgram,
    /// The storage of the value of each step.
    sources: Vec<Source<'a>>,
    /// The operands that are read anew for each block.
    repeating: Vec<RepeatingOperand<'a>>,
    /// The first element of the range, which is element 0 of each target.
    first: usize,
    /// The outputs for the range.
    targets: Vec<&'a mut [f32]>,
    /// One buffer of a block for each register.
    registers: &'a mut [Vec<f32>],
    /// The value of each step that is a scalar in the present block.
    scalars: Vec<f32>,
    /// The sums over the elements so far.
    pub sums: Sums,
    dims: Dims,
    layout: BlockLayout,
    /// The program as a single loop, if it is such an update.
    update: Option<Update<'a>>,
    prefetch: OperandPrefetch<'a>,
}

impl<'a> BlockRunner<'a> {
    /// A runner for the elements from `first` on, whose outputs are written to `targets`. `registers` has at least as many
    /// registers as the program needs; their values are arbitrary.
    pub fn new(
        bound: &BoundProgram<'a>,
        first: usize,
        targets: Vec<&'a mut [f32]>,
        registers: &'a mut [Vec<f32>],
    ) -> Self {
        let BoundProgram {
            program,
            operands,
            broadcasts,
            dims,
            layout,
        } = *bound;
        let len = dims.len;
        let registers_of_steps = program.registers.iter();
        let mut run = Self {
            program,
            sources: registers_of_steps.map(|r| Source::Register(*r)).collect(),
            repeating: Vec::new(),
            first,
            targets,
            registers,
            scalars: vec![0.0; program.steps.len()],
            sums: Sums::zero(program, dims),
            dims,
            layout,
            update: Update::recognize(bound),
            prefetch: OperandPrefetch::new(bound),
        };
        for (number, step) in program.live_steps() {
            match *step {
                Step::Constant(value) => run.place_constant(number, value),
                Step::Operand(operand) if broadcasts[operand].is_full(len) => {
                    run.sources[number] = operands[operand];
                }
                Step::Operand(operand) => {
                    if let Source::Operand(values) = operands[operand] {
                        run.place_repeating(number, values, broadcasts[operand], len);
                    }
                }
                _ => {
                    // A function of scalars is a scalar.
                    let is_scalar = |value: usize| matches!(run.sources[value], Source::Scalar);
                    if !program.is_result[number] && arguments(step).all(is_scalar) {
                        run.sources[number] = Source::Scalar;
                    }
                }
            }
        }
        for (i, output) in program.outputs.iter().enumerate() {
            if run.is_written_directly(i, *output) {
                run.sources[*output] = Source::Output(i);
            }
        }
        run
    }

    /// Decides where the value of a constant is. A result needs all elements, so its register is filled.
    fn place_constant(&mut self, step: usize, value: f32) {
        if self.program.is_result[step] {
            self.registers[self.program.registers[step]].fill(value);
        } else {
            self.sources[step] = Source::Scalar;
            self.scalars[step] = value;
        }
    }

    /// Decides where the value of a repeating operand is: it may be a scalar in each block, the same in every block, or
    /// read anew for each block.
    fn place_repeating(
        &mut self,
        step: usize,
        values: &'a [f32],
        broadcast: Broadcast,
        len: usize,
    ) {
        let BlockLayout { block, segment } = self.layout;
        let is_scalar = broadcast.count == 1 || segment == Some(broadcast.repeat);
        if is_scalar && !self.program.is_result[step] {
            self.sources[step] = Source::Scalar;
        }
        let is_same = block.is_multiple_of(broadcast.period().max(1));
        if segment.is_none() && !is_scalar && is_same {
            let register = &mut self.registers[self.program.registers[step]];
            broadcast.fill(values, 0, &mut register[..block.min(len)]);
            return;
        }
        self.repeating.push(RepeatingOperand {
            step,
            values,
            broadcast,
        });
    }

    /// Whether the step that computes an output can write it in place. It cannot if the output is in the buffer of an operand
    /// that this step, a later one or a sum reads.
    fn is_written_directly(&self, output: usize, value: usize) -> bool {
        let program = self.program;
        let is_in_buffer =
            |value: usize| matches!(self.sources[value], Source::Output(o) if o == output);
        let mut later = program
            .live_steps()
            .skip_while(|(number, _)| *number < value);
        matches!(self.sources[value], Source::Register(_))
            && arguments(&program.steps[value]).next().is_some()
            && !later.any(|(_, step)| arguments(step).any(is_in_buffer))
            && !program.summed().into_iter().any(is_in_buffer)
    }

    /// Runs the program on a range of elements, block by block. The range must start at the start of a block.
    pub fn run(&mut self, elements: Range<usize>) {
        let layout = self.layout;
        // The two loops are in separate closures. In one closure, both are compiled to slower code.
        if self.update.is_some() {
            return vectorize(
                #[inline(always)]
                || {
                    layout.each_block(
                        elements,
                        #[inline(always)]
                        |block| self.run_update(block),
                    )
                },
            );
        }
        vectorize(
            #[inline(always)]
            || {
                layout.each_block(
                    elements,
                    #[inline(always)]
                    |block| self.run_block(block),
                )
            },
        );
    }

    /// Runs the program on a block as a single loop.
    #[inline(always)]
    fn run_update(&mut self, block: Range<usize>) {
        let range = self.target_range(&block);
        if let (Some(update), [w]) = (&self.update, &mut self.targets[..])
            && let Some(sum) = update.run(block.start, &mut w[range])
        {
            self.sums.all[0] += f64::from(sum);
        }
    }

    /// The elements of an output, which have been computed.
    pub fn output(&mut self, output: usize, elements: Range<usize>) -> &mut [f32] {
        let range = self.target_range(&elements);
        &mut self.targets[output][range]
    }

    /// The range of a block in the targets.
    #[inline(always)]
    fn target_range(&self, block: &Range<usize>) -> Range<usize> {
        block.start - self.first..block.end - self.first
    }

    /// Runs the program on a block, step by step.
    #[inline(always)]
    fn run_block(&mut self, block: Range<usize>) {
        let range = self.target_range(&block);
        self.read_repeating(&block);
        let program = self.program;
        let mut computed = 0;
        for (number, step) in program.steps.iter().enumerate() {
            if program.live[number] && step.is_computed() {
                let targets = (self.first, &self.targets[..]);
                self.prefetch.prefetch_share(computed, &block, targets);
                self.run_step(number, *step, &block);
                computed += 1;
            }
        }
        self.add_sums(&block);
        for (i, value) in program.outputs.iter().enumerate() {
            if !matches!(self.sources[*value], Source::Output(output) if output == i) {
                let target = take(&mut self.targets[i]);
                target[range.clone()].copy_from_slice(self.elements(*value, &block));
                self.targets[i] = target;
            }
        }
    }

    /// Adds the values of a block to the sums.
    #[inline(always)]
    fn add_sums(&mut self, block: &Range<usize>) {
        let program = self.program;
        for (i, sum) in program.sums.iter().enumerate() {
            let sum = match *sum {
                Sum::Value(value) => lanes::sum::<64>(self.elements(value, block)),
                Sum::Product(a, b) => {
                    lanes::dot::<64>(self.elements(a, block), self.elements(b, block))
                }
            };
            self.sums.all[i] += f64::from(sum);
        }
        for (i, value) in program.leading_sums.iter().enumerate() {
            let mut sums = take(&mut self.sums.leading[i]);
            add_repeated(&mut sums, block.start, self.elements(*value, block));
            self.sums.leading[i] = sums;
        }
        let (pixels, at) = (self.dims.pixels, (block.start, block.len()));
        for (i, sum) in program.channel_sums.iter().enumerate() {
            let mut sums = take(&mut self.sums.channels[i]);
            match *sum {
                Sum::Value(value) => {
                    let values = self.elements(value, block);
                    add_channels(
                        &mut sums,
                        pixels,
                        at,
                        #[inline(always)]
                        |part| sums::sum(&values[part]),
                    );
                }
                Sum::Product(a, b) => {
                    let (a, b) = (self.elements(a, block), self.elements(b, block));
                    add_channels(
                        &mut sums,
                        pixels,
                        at,
                        #[inline(always)]
                        |part| sums::sum_of_product(&a[part.clone()], &b[part]),
                    );
                }
            }
            self.sums.channels[i] = sums;
        }
    }

    /// Reads the elements of the repeating operands that a block uses.
    #[inline(always)]
    fn read_repeating(&mut self, block: &Range<usize>) {
        for operand in &self.repeating {
            let RepeatingOperand {
                step,
                values,
                broadcast,
            } = *operand;
            if let Source::Scalar = self.sources[step] {
                self.scalars[step] = values[broadcast.index(block.start)];
                continue;
            }
            self.sources[step] = match broadcast.part(block) {
                Some(part) => Source::Part(&values[part]),
                None => {
                    let register = self.program.registers[step];
                    let to = &mut self.registers[register][..block.len()];
                    broadcast.fill(values, block.start, to);
                    Source::Register(register)
                }
            };
        }
    }

    /// Computes a step for a block.
    #[inline(always)]
    fn run_step(&mut self, number: usize, step: Step, block: &Range<usize>) {
        let (source, mut scalar) = (self.sources[number], [0.0]);
        // The register or target is moved out while it is written, because the step reads other registers and targets.
        let (mut register, mut target) = (Vec::new(), Default::default());
        let to: &mut [f32] = match source {
            Source::Register(r) => {
                register = take(&mut self.registers[r]);
                &mut register[..block.len()]
            }
            Source::Output(output) => {
                target = take(&mut self.targets[output]);
                &mut target[self.target_range(block)]
            }
            _ => &mut scalar,
        };
        step.run(
            #[inline(always)]
            |value| self.values(value, block),
            to,
        );
        match source {
            Source::Register(r) => self.registers[r] = register,
            Source::Output(output) => self.targets[output] = target,
            _ => self.scalars[number] = scalar[0],
        }
    }

    /// The value of a step for the elements of a block.
    #[inline(always)]
    fn values(&self, value: usize, block: &Range<usize>) -> Values<'_> {
        match self.sources[value] {
            Source::Scalar => Values::Scalar(self.scalars[value]),
            _ => Values::Slice(self.elements(value, block)),
        }
    }

    /// The elements of a value that is not a scalar.
    #[inline(always)]
    fn elements(&self, value: usize, block: &Range<usize>) -> &[f32] {
        match self.sources[value] {
            Source::Scalar => &[],
            Source::Register(register) => &self.registers[register][..block.len()],
            Source::Operand(values) => &values[block.clone()],
            Source::Part(values) => values,
            Source::Output(output) => &self.targets[output][self.target_range(block)],
        }
    }
}
