//! Checked programs and the allocation of their registers.

use super::error::FusedError;
use super::step::{Binary, Step};

/// A straight-line program over equally shaped values.
#[derive(Debug, Clone, PartialEq)]
pub struct FusedProgram {
    pub(super) steps: Vec<Step>,
    /// Values that are results.
    pub(super) outputs: Vec<usize>,
    pub(super) sums: Vec<Sum>,
    /// Values whose sums over the first dimension are results.
    pub(super) leading_sums: Vec<usize>,
    pub(super) channel_sums: Vec<Sum>,
    /// The register of each step's value.
    pub(super) registers: Vec<usize>,
    /// Number of registers.
    pub(super) register_count: usize,
    /// Number of operands.
    pub(super) operand_count: usize,
    /// Whether a step is computed, and not merged into another step.
    pub(super) live: Vec<bool>,
    /// Whether the elements of a step's value, or sums of them, are results.
    pub(super) is_result: Vec<bool>,
}

/// Values whose sums are results of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reductions {
    /// Sums over all elements.
    pub all: Vec<usize>,
    /// Sums over the first dimension.
    pub leading: Vec<usize>,
    /// Sums over all dimensions but the second, that of channels.
    pub channels: Vec<usize>,
}

/// A sum over all elements, or over those of each channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sum {
    /// The sum of a value.
    Of(usize),
    /// The sum of a product that nothing else uses, which is therefore never stored.
    OfProduct(usize, usize),
}

impl FusedProgram {
    /// A program of these steps. Its results are the values `outputs`, and the sums of the values `sums` over
    /// all elements. Steps that no result needs are left out.
    ///
    /// # Errors
    /// If a step uses a value before it is computed, or a result is not the number of a step.
    pub fn new(
        steps: Vec<Step>,
        outputs: Vec<usize>,
        sums: Vec<usize>,
    ) -> Result<Self, FusedError> {
        let all = sums;
        let reductions = Reductions {
            all,
            ..Reductions::default()
        };
        Self::with_reductions(steps, outputs, reductions)
    }

    /// Like [`new`](Self::new), with sums over some of the dimensions.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_reductions(
        mut steps: Vec<Step>,
        outputs: Vec<usize>,
        reductions: Reductions,
    ) -> Result<Self, FusedError> {
        let Reductions {
            all,
            leading,
            channels,
        } = reductions;
        let results = outputs.iter().chain(&all).chain(&leading).chain(&channels);
        let results: Vec<usize> = results.copied().collect();
        check(&steps, &results)?;
        let mut uses = uses(&steps, &results);
        let mut sum = |value| match steps[value] {
            Step::Binary(Binary::Mul, a, b) if uses[value] == 1 => {
                uses[value] = 0;
                Sum::OfProduct(a, b)
            }
            _ => Sum::Of(value),
        };
        let sums = all.into_iter().map(&mut sum).collect();
        let channel_sums = channels.into_iter().map(sum).collect();
        for number in 0..steps.len() {
            if uses[number] > 0
                && let Some((step, product)) = with_product(&steps, &uses, number)
            {
                steps[number] = step;
                uses[product] = 0;
            }
        }
        let live: Vec<bool> = uses.iter().map(|uses| *uses > 0).collect();
        let operands = steps.iter().map(|step| match step {
            Step::Operand(operand) => operand + 1,
            _ => 0,
        });
        let operand_count = operands.max().unwrap_or(0);
        let mut program = Self {
            is_result: vec![false; steps.len()],
            registers: vec![],
            register_count: 0,
            steps,
            outputs,
            sums,
            leading_sums: leading,
            channel_sums,
            operand_count,
            live,
        };
        for value in [&program.outputs[..], &program.summed()].concat() {
            program.is_result[value] = true;
        }
        (program.registers, program.register_count) = allot(&program);
        Ok(program)
    }

    /// The steps that are computed, with their numbers.
    pub(super) fn live_steps(&self) -> impl Iterator<Item = (usize, &Step)> {
        let steps = self.steps.iter().enumerate();
        steps.filter(|(number, _)| self.live[*number])
    }

    /// The values that sums read.
    pub(super) fn summed(&self) -> Vec<usize> {
        let sums = self.sums.iter().chain(&self.channel_sums);
        let sums = sums.flat_map(|sum| sum.values());
        sums.chain(self.leading_sums.iter().copied()).collect()
    }
}

impl Sum {
    /// The values that are read.
    fn values(self) -> [usize; 2] {
        match self {
            Self::Of(value) => [value, value],
            Self::OfProduct(a, b) => [a, b],
        }
    }
}

/// Checks that each step and each result is of values that are there.
fn check(steps: &[Step], results: &[usize]) -> Result<(), FusedError> {
    for (step, reads) in steps.iter().map(arguments).enumerate() {
        if let Some(value) = reads.into_iter().find(|value| *value >= step) {
            return Err(FusedError::Order { step, value });
        }
    }
    let steps = steps.len();
    match results.iter().find(|value| **value >= steps) {
        Some(&value) => Err(FusedError::NoStep { value, steps }),
        None => Ok(()),
    }
}

/// How many results and steps, of those that results need, use each value.
fn uses(steps: &[Step], results: &[usize]) -> Vec<usize> {
    let mut uses = vec![0; steps.len()];
    results.iter().for_each(|value| uses[*value] += 1);
    for number in (0..steps.len()).rev() {
        if uses[number] > 0 {
            arguments(&steps[number]).for_each(|value| uses[value] += 1);
        }
    }
    uses
}

/// A sum or difference with a product that nothing else uses, as one step, and the product.
fn with_product(steps: &[Step], uses: &[usize], number: usize) -> Option<(Step, usize)> {
    let factors = |value: usize| match steps[value] {
        Step::Binary(Binary::Mul, x, y) if uses[value] == 1 => Some((x, y)),
        _ => None,
    };
    let Step::Binary(function @ (Binary::Add | Binary::Sub), a, b) = steps[number] else {
        return None;
    };
    if let Some((x, y)) = factors(b) {
        let step = match function {
            Binary::Add => Step::MulAdd(a, x, y),
            _ => Step::MulSub(a, x, y),
        };
        return Some((step, b));
    }
    let (x, y) = factors(a).filter(|_| function == Binary::Add)?;
    Some((Step::MulAdd(b, x, y), a))
}

/// The values that a step uses.
pub(super) fn arguments(step: &Step) -> impl Iterator<Item = usize> + use<> {
    let values = match *step {
        Step::Operand(_) | Step::Constant(_) => [None; 3],
        Step::Unary(_, a) => [Some(a), None, None],
        Step::Binary(_, a, b) => [Some(a), Some(b), None],
        Step::MulAdd(a, b, c) | Step::MulSub(a, b, c) | Step::Select(a, b, c) => {
            [Some(a), Some(b), Some(c)]
        }
    };
    values.into_iter().flatten()
}

/// A register for every value, and the number of registers. Operands and constants keep their registers, so
/// that these are not filled for every block. Results keep theirs until the end of the block.
fn allot(program: &FusedProgram) -> (Vec<usize>, usize) {
    let (steps, is_read) = (&program.steps, |step: &Step| {
        arguments(step).next().is_none()
    });
    let mut last_use = vec![0; steps.len()];
    for (number, step) in program.live_steps() {
        arguments(step).for_each(|value| last_use[value] = number);
    }
    for (number, step) in program.live_steps() {
        if is_read(step) || program.is_result[number] {
            last_use[number] = steps.len();
        }
    }
    let (mut registers, mut free, mut count) = (vec![0; steps.len()], Vec::new(), 0);
    // These come first: they are filled once for all blocks, and no other value may use their registers.
    for (number, _) in program.live_steps().filter(|(_, step)| is_read(step)) {
        registers[number] = count;
        count += 1;
    }
    for (number, step) in program.live_steps().filter(|(_, step)| !is_read(step)) {
        registers[number] = free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        });
        // Registers are freed after the allocation, because a step must not overwrite what it reads.
        for value in arguments(step) {
            if last_use[value] == number {
                free.push(registers[value]);
                // A step may use a value twice.
                last_use[value] = 0;
            }
        }
    }
    (registers, count)
}
