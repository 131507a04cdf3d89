//! Programs: the check of their steps, the merging of steps, and the allocation of registers.

use super::error::FusedError;
use super::step::{Binary, Step};

/// A straight-line program over equally shaped values.
#[derive(Debug, Clone, PartialEq)]
pub struct FusedProgram {
    pub(super) steps: Vec<Step>,
    /// The values whose elements are results.
    pub(super) outputs: Vec<usize>,
    /// The sums over all elements.
    pub(super) sums: Vec<Sum>,
    /// The values whose sums over the first dimension are results.
    pub(super) leading_sums: Vec<usize>,
    /// The sums over all dimensions but the second.
    pub(super) channel_sums: Vec<Sum>,
    /// The register of the value of each step.
    pub(super) registers: Vec<usize>,
    /// The number of registers.
    pub(super) register_count: usize,
    /// The number of operands.
    pub(super) operand_count: usize,
    /// For each step, whether it is needed. It is not if no result uses it, or if it is merged into another step.
    pub(super) live: Vec<bool>,
    /// For each step, whether its value is an output or is read by a sum. All elements of such a value are needed.
    pub(super) is_result: Vec<bool>,
}

/// The values whose sums are results of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reductions {
    /// The values that are summed over all elements.
    pub all: Vec<usize>,
    /// The values that are summed over the first dimension.
    pub leading: Vec<usize>,
    /// The values that are summed over all dimensions but the second, that of channels.
    pub channels: Vec<usize>,
}

/// A sum over all elements, or over those of each channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sum {
    /// The sum of a value.
    Value(usize),
    /// The sum of the product of two values. No step uses the product, so it is never stored.
    Product(usize, usize),
}

impl FusedProgram {
    /// A program of these steps. Its results are the values `outputs`, and the sums of the values `sums` over all elements.
    /// Steps that no result needs are not computed.
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
                Sum::Product(a, b)
            }
            _ => Sum::Value(value),
        };
        let sums = all.into_iter().map(&mut sum).collect();
        let channel_sums = channels.into_iter().map(sum).collect();
        for number in 0..steps.len() {
            if uses[number] > 0
                && let Some((step, product)) = merge_product(&steps, &uses, number)
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
        (program.registers, program.register_count) = allocate_registers(&program);
        Ok(program)
    }

    /// The steps that are needed, with their numbers.
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
    /// The values that the sum reads.
    fn values(self) -> [usize; 2] {
        match self {
            Self::Value(value) => [value, value],
            Self::Product(a, b) => [a, b],
        }
    }
}

/// Checks that each step uses only values of earlier steps, and that each result is the value of a step.
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

/// For each value, the number of results and needed steps that use it.
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

/// If a step adds or subtracts a product that nothing else uses: the merged step, and the number of the product.
fn merge_product(steps: &[Step], uses: &[usize], number: usize) -> Option<(Step, usize)> {
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

/// Allocates a register for each value, and gives the registers and their number. Operands and constants keep their
/// registers, so that these need not be filled again for each block. Results keep theirs until the end of the block.
fn allocate_registers(program: &FusedProgram) -> (Vec<usize>, usize) {
    let steps = &program.steps;
    let is_leaf = |step: &Step| arguments(step).next().is_none();
    let mut last_use = vec![0; steps.len()];
    for (number, step) in program.live_steps() {
        arguments(step).for_each(|value| last_use[value] = number);
    }
    for (number, step) in program.live_steps() {
        if is_leaf(step) || program.is_result[number] {
            last_use[number] = steps.len();
        }
    }
    let (mut registers, mut free, mut count) = (vec![0; steps.len()], Vec::new(), 0);
    // Operands and constants come first: their registers are filled once for all blocks, so no other value may use them.
    for (number, _) in program.live_steps().filter(|(_, step)| is_leaf(step)) {
        registers[number] = count;
        count += 1;
    }
    for (number, step) in program.live_steps().filter(|(_, step)| !is_leaf(step)) {
        registers[number] = free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        });
        // Registers are freed after the allocation, because a step must not overwrite what it reads.
        for value in arguments(step) {
            if last_use[value] == number {
                free.push(registers[value]);
                // A step may use a value twice, which must not free its register twice.
                last_use[value] = 0;
            }
        }
    }
    (registers, count)
}
