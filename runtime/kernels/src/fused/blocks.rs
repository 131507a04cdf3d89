//! The execution of a program, block by block.

use std::mem::take;
use std::ops::Range;

use super::ahead::Ahead;
use super::broadcast::Broadcast;
use super::dims::Dims;
use super::extent::Extent;
use super::program::{FusedProgram, Sum, arguments};
use super::step::{Step, Values};
use super::sums::{self, Sums, add_channels, add_repeated};
use super::update::Update;
use super::work::{Source, Work};
use crate::lanes;
use crate::simd::vectorize;

/// An operand whose elements are repeated, and differently in each block.
struct Repeated<'a> {
    step: usize,
    values: &'a [f32],
    broadcast: Broadcast,
}

/// The execution of a program for some of the elements, on one thread.
pub(super) struct Run<'a> {
    program: &'a FusedProgram,
    /// The place of each step's value.
    sources: Vec<Source<'a>>,
    repeated: Vec<Repeated<'a>>,
    /// The first element of the run, which is the first one of each target.
    first: usize,
    targets: Vec<&'a mut [f32]>,
    registers: &'a mut [Vec<f32>],
    /// The values of steps that are one number for a whole block.
    numbers: Vec<f32>,
    pub sums: Sums,
    dims: Dims,
    extent: Extent,
    /// The whole program as a single loop, if it has that form.
    update: Option<Update<'a>>,
    ahead: Ahead<'a>,
}

impl<'a> Run<'a> {
    /// A run over the elements from `first` on that are written to `targets`. There are enough `registers`, with
    /// any values.
    pub fn new(
        work: &Work<'a>,
        first: usize,
        targets: Vec<&'a mut [f32]>,
        registers: &'a mut [Vec<f32>],
    ) -> Self {
        let Work {
            program,
            operands,
            broadcasts,
            dims,
            extent,
        } = *work;
        let len = dims.len;
        let registers_of = program.registers.iter();
        let mut run = Self {
            program,
            sources: registers_of.map(|r| Source::Register(*r)).collect(),
            repeated: Vec::new(),
            first,
            targets,
            registers,
            numbers: vec![0.0; program.steps.len()],
            sums: Sums::zero(program, dims),
            dims,
            extent,
            update: Update::of(work),
            ahead: Ahead::of(work),
        };
        for (number, step) in program.live_steps() {
            match *step {
                Step::Constant(value) => run.place_constant(number, value),
                Step::Operand(operand) if broadcasts[operand].is_full(len) => {
                    run.sources[number] = operands[operand];
                }
                Step::Operand(operand) => {
                    if let Source::Operand(values) = operands[operand] {
                        run.place_repeated(number, values, broadcasts[operand], len);
                    }
                }
                _ => {
                    let is_number = |value: usize| matches!(run.sources[value], Source::Number);
                    if !program.is_result[number] && arguments(step).all(is_number) {
                        run.sources[number] = Source::Number;
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

    fn place_constant(&mut self, step: usize, value: f32) {
        if self.program.is_result[step] {
            self.registers[self.program.registers[step]].fill(value);
        } else {
            self.sources[step] = Source::Number;
            self.numbers[step] = value;
        }
    }

    fn place_repeated(&mut self, step: usize, values: &'a [f32], broadcast: Broadcast, len: usize) {
        let Extent { block, segment } = self.extent;
        let one = broadcast.count == 1 || segment.is_some_and(|segment| broadcast.each == segment);
        if one && !self.program.is_result[step] {
            self.sources[step] = Source::Number;
        }
        if segment.is_none() && !one && block.is_multiple_of(broadcast.period().max(1)) {
            // These are the same in every block.
            let register = &mut self.registers[self.program.registers[step]];
            broadcast.fill(values, 0, &mut register[..block.min(len)]);
            return;
        }
        self.repeated.push(Repeated {
            step,
            values,
            broadcast,
        });
    }

    /// Whether the step of an output can write to it, because nothing reads an operand that was there before,
    /// at this step or later.
    fn is_written_directly(&self, output: usize, value: usize) -> bool {
        let program = self.program;
        let replaced =
            |value: usize| matches!(self.sources[value], Source::Output(o) if o == output);
        let mut later = program
            .live_steps()
            .skip_while(|(number, _)| *number < value);
        matches!(self.sources[value], Source::Register(_))
            && arguments(&program.steps[value]).next().is_some()
            && !later.any(|(_, step)| arguments(step).any(replaced))
            && !program.summed().into_iter().any(replaced)
    }

    /// Runs the program on a range of elements, block by block. The range starts at the start of a block.
    pub fn blocks(&mut self, elements: Range<usize>) {
        let extent = self.extent;
        // Two calls, because beside the other, either loop is compiled to slower code.
        if self.update.is_some() {
            return vectorize(
                #[inline(always)]
                || {
                    extent.each_block(
                        elements,
                        #[inline(always)]
                        |block| self.update(block),
                    )
                },
            );
        }
        vectorize(
            #[inline(always)]
            || {
                extent.each_block(
                    elements,
                    #[inline(always)]
                    |block| self.block(block),
                )
            },
        );
    }

    /// Runs the single loop on a block.
    #[inline(always)]
    fn update(&mut self, block: Range<usize>) {
        let place = self.place(&block);
        if let (Some(update), [w]) = (&self.update, &mut self.targets[..])
            && let Some(sum) = update.block(block.start, &mut w[place])
        {
            self.sums.all[0] += f64::from(sum);
        }
    }

    /// A range of an output's elements that have been computed.
    pub fn output(&mut self, output: usize, elements: Range<usize>) -> &mut [f32] {
        let place = self.place(&elements);
        &mut self.targets[output][place]
    }

    /// The place of a block in the targets.
    #[inline(always)]
    fn place(&self, block: &Range<usize>) -> Range<usize> {
        block.start - self.first..block.end - self.first
    }

    #[inline(always)]
    fn block(&mut self, block: Range<usize>) {
        let place = self.place(&block);
        self.read_repeated(&block);
        let program = self.program;
        let mut computed = 0;
        for (number, step) in program.steps.iter().enumerate() {
            if program.live[number] && step.is_computed() {
                self.ahead
                    .ask(computed, &block, (self.first, &self.targets));
                self.step(number, *step, &block);
                computed += 1;
            }
        }
        self.add_sums(&block);
        for (i, value) in program.outputs.iter().enumerate() {
            if !matches!(self.sources[*value], Source::Output(output) if output == i) {
                let target = take(&mut self.targets[i]);
                target[place.clone()].copy_from_slice(self.elements(*value, &block));
                self.targets[i] = target;
            }
        }
    }

    /// Adds a block to the sums.
    #[inline(always)]
    fn add_sums(&mut self, block: &Range<usize>) {
        let program = self.program;
        for (i, sum) in program.sums.iter().enumerate() {
            let sum = match *sum {
                Sum::Of(value) => lanes::sum::<64>(self.elements(value, block)),
                Sum::OfProduct(a, b) => {
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
                Sum::Of(value) => {
                    let values = self.elements(value, block);
                    add_channels(
                        &mut sums,
                        pixels,
                        at,
                        #[inline(always)]
                        |part| sums::sum(&values[part]),
                    );
                }
                Sum::OfProduct(a, b) => {
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

    /// Reads the elements of repeated operands that a block uses.
    #[inline(always)]
    fn read_repeated(&mut self, block: &Range<usize>) {
        for repeated in &self.repeated {
            let Repeated {
                step,
                values,
                broadcast,
            } = *repeated;
            if let Source::Number = self.sources[step] {
                self.numbers[step] = values[broadcast.place(block.start)];
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
    fn step(&mut self, number: usize, step: Step, block: &Range<usize>) {
        let (place, mut one) = (self.sources[number], [0.0]);
        // They are taken out, because the step reads others of them.
        let (mut register, mut target) = (Vec::new(), Default::default());
        let to: &mut [f32] = match place {
            Source::Register(r) => {
                register = take(&mut self.registers[r]);
                &mut register[..block.len()]
            }
            Source::Output(output) => {
                target = take(&mut self.targets[output]);
                &mut target[self.place(block)]
            }
            _ => &mut one,
        };
        step.run(
            #[inline(always)]
            |value| self.values(value, block),
            to,
        );
        match place {
            Source::Register(r) => self.registers[r] = register,
            Source::Output(output) => self.targets[output] = target,
            _ => self.numbers[number] = one[0],
        }
    }

    #[inline(always)]
    fn values(&self, value: usize, block: &Range<usize>) -> Values<'_> {
        match self.sources[value] {
            Source::Number => Values::All(self.numbers[value]),
            _ => Values::Each(self.elements(value, block)),
        }
    }

    /// The elements of a value that is not a number.
    #[inline(always)]
    fn elements(&self, value: usize, block: &Range<usize>) -> &[f32] {
        match self.sources[value] {
            Source::Number => &[],
            Source::Register(register) => &self.registers[register][..block.len()],
            Source::Operand(values) => &values[block.clone()],
            Source::Part(values) => values,
            Source::Output(output) => &self.targets[output][self.place(block)],
        }
    }
}
