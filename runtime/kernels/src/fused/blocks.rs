//! The execution of a program, block by block.

use std::mem::take;
use std::ops::Range;

use super::broadcast::Broadcast;
use super::program::{FusedProgram, Sum};
use super::step::{Step, zip3};
use super::update::Update;
use crate::lanes;

/// The largest number of elements of a block. Ten values of this size fit in the first-level cache.
const BLOCK: usize = 1024;

/// The place from which a block of a value is read.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// A register.
    Register(usize),
    /// An operand.
    Operand(&'a [f32]),
    /// An operand whose buffer an output takes.
    Replaced(usize),
}

/// The place to which an output is written.
pub(super) enum Target<'a> {
    /// The buffer of an operand.
    Replaced(&'a mut [f32]),
    /// The end of a new buffer.
    New(Vec<f32>),
}

/// An operand that is read into a register.
struct Fill<'a> {
    register: usize,
    values: &'a [f32],
    broadcast: Broadcast,
}

/// A program with its operands.
pub(super) struct Run<'a> {
    program: &'a FusedProgram,
    /// The place of each step's value.
    sources: Vec<Source<'a>>,
    /// The operands that are read into registers for each block.
    fills: Vec<Fill<'a>>,
    pub targets: Vec<Target<'a>>,
    pub registers: Vec<Vec<f32>>,
    pub sums: Vec<f64>,
    /// The sums over the first dimension, so far.
    pub leading_sums: Vec<Vec<f32>>,
    /// Elements of a block.
    block: usize,
    /// The whole program as a single loop, if it has that form.
    update: Option<Update<'a>>,
}

impl<'a> Run<'a> {
    /// A run over `len` elements, `inner` for each index of the first dimension. `registers` may be left over
    /// from an earlier run. Blocks end at the ends of rows of `row` elements, unless such blocks would be too
    /// long.
    pub fn new(
        program: &'a FusedProgram,
        operands: &[Source<'a>],
        broadcasts: &[Broadcast],
        (len, inner): (usize, usize),
        row: usize,
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
            leading_sums: vec![vec![0.0; inner]; program.leading_sums.len()],
            block: block_len(broadcasts, len, row),
            update: update(program, operands, broadcasts, len),
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
                        // These are the same in every block.
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

    /// A number of elements close to `elements` that is a whole number of rows and of blocks, at most `len`.
    pub fn part(&self, row: usize, elements: usize, len: usize) -> usize {
        let unit = least_common_multiple(self.block, row.max(1));
        if unit > 2 * elements {
            return len.max(1);
        }
        elements.next_multiple_of(unit)
    }

    /// Runs the program on a range of elements, block by block. The range starts at the start of a block.
    #[inline(always)]
    pub fn blocks(&mut self, elements: Range<usize>) {
        let mut start = elements.start;
        while start < elements.end {
            let count = self.block.min(elements.end - start);
            self.block(start, count);
            start += count;
        }
    }

    /// A range of an output's elements that have been computed.
    pub fn output(&mut self, output: usize, elements: Range<usize>) -> &mut [f32] {
        match &mut self.targets[output] {
            Target::Replaced(values) => &mut values[elements],
            Target::New(values) => &mut values[elements],
        }
    }

    #[inline(always)]
    fn block(&mut self, start: usize, len: usize) {
        if let (Some(update), [Target::Replaced(w)]) = (&self.update, &mut self.targets[..]) {
            if let Some(sum) = update.block(start, &mut w[start..start + len]) {
                self.sums[0] += f64::from(sum);
            }
            return;
        }
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
        let mut leading_sums = take(&mut self.leading_sums);
        for (sums, value) in leading_sums.iter_mut().zip(&program.leading_sums) {
            add_repeated(sums, start, self.read(*value, start, len));
        }
        self.leading_sums = leading_sums;
        for (i, value) in program.outputs.iter().enumerate() {
            // An output is never an operand whose buffer an output takes.
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

/// Adds values to sums, from place `start` on and again from the first one after the last.
#[inline(always)]
fn add_repeated(sums: &mut [f32], start: usize, mut values: &[f32]) {
    let mut at = start % sums.len().max(1);
    while !values.is_empty() {
        let (now, rest) = values.split_at(values.len().min(sums.len() - at));
        let sums = sums[at..].iter_mut().zip(now);
        sums.for_each(|(sum, value)| *sum += value);
        (values, at) = (rest, 0);
    }
}

/// Recognises a program that is an update.
fn update<'a>(
    program: &FusedProgram,
    operands: &[Source<'a>],
    broadcasts: &[Broadcast],
    len: usize,
) -> Option<Update<'a>> {
    let values = |operand: usize| match operands[operand] {
        Source::Operand(values) => Some(values),
        _ => None,
    };
    Update::of(
        program,
        |operand| matches!(operands[operand], Source::Replaced(0)),
        |operand| values(operand).filter(|_| broadcasts[operand].is_full(len)),
        &|operand| match values(operand) {
            Some(&[number]) => Some(number),
            _ => None,
        },
    )
}

/// The number of elements of a block. It is a multiple of the vector width and, if possible, of the periods
/// of repeated operands and of the row length.
fn block_len(broadcasts: &[Broadcast], len: usize, row: usize) -> usize {
    let mut unit = 16;
    let repeating = broadcasts
        .iter()
        .filter(|broadcast| !broadcast.is_full(len));
    let periods = repeating.map(|broadcast| broadcast.period());
    for period in periods.chain([row]) {
        let both = least_common_multiple(unit, period.max(1));
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
