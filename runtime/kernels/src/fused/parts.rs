//! Runs a program in parts: for several threads, or with a matrix product that is added after each part.

use std::mem::take;
use std::ops::Range;

use super::block_layout::BLOCK;
use super::block_runner::BlockRunner;
use super::bound_program::BoundProgram;
use super::sums::Sums;
use crate::matmul::ScaledProduct;
use crate::scratch;
use crate::team;

/// The approximate number of elements of a part. A thread computes them in some 30 µs.
const PART: usize = 1 << 16;
/// The approximate cost of an element in FLOPs of a matrix product.
const FLOPS_PER_ELEMENT: usize = 64;
/// The number of rows to which a product is added at a time. Together with the operands of the program they stay in the
/// second-level cache.
const ROWS: usize = 48;

impl BoundProgram<'_> {
    /// Runs the program, and writes its outputs to `targets`. The parts depend on the shape only, so the order of the sums
    /// does too.
    pub fn run(&self, targets: Vec<&mut [f32]>) -> Sums {
        let len = self.dims.len;
        let part = match self.program.leading_sums.as_slice() {
            [] => self.layout.part_len(1, PART, len),
            // Sums over the first dimension are taken in order, so they have no parts.
            _ => len.max(1),
        };
        if part >= len {
            return self.run_part(0..len, targets);
        }
        let mut parts = parts(len, part, targets);
        team::each(len * FLOPS_PER_ELEMENT, parts.iter_mut(), |part| {
            let targets = take(&mut part.targets);
            part.sums = Some(self.run_part(part.elements.clone(), targets));
        });
        let mut total = Sums::zero(self.program, self.dims);
        let sums = parts.into_iter().filter_map(|part| part.sums);
        sums.for_each(|part| total.add(&part));
        total
    }

    /// Runs the program on some elements, on this thread.
    fn run_part(&self, elements: Range<usize>, targets: Vec<&mut [f32]>) -> Sums {
        self.with_registers(|registers| {
            let mut runner = BlockRunner::new(self, elements.start, targets, registers);
            runner.run(elements);
            runner.sums
        })
    }

    /// Runs the program, and adds a matrix product with rows of `row` values to the first output. Some rows at a time are
    /// computed and added to, while they are in the cache.
    pub fn run_and_add(
        &self,
        targets: Vec<&mut [f32]>,
        row: usize,
        product: &ScaledProduct,
    ) -> Sums {
        self.with_registers(|registers| {
            let mut runner = BlockRunner::new(self, 0, targets, registers);
            let len = self.dims.len;
            let part = self.layout.part_len(row, ROWS * row, len);
            for first in (0..len).step_by(part) {
                let elements = first..len.min(first + part);
                runner.run(elements.clone());
                product.add_to(first / row, runner.output(0, elements));
            }
            runner.sums
        })
    }

    /// Calls `f` with enough of this thread's registers for the program.
    fn with_registers<R>(&self, f: impl FnOnce(&mut [Vec<f32>]) -> R) -> R {
        let mut registers = scratch::with(|scratch| take(&mut scratch.registers));
        let count = self.program.register_count;
        if registers.len() < count {
            registers.resize_with(count, || vec![0.0; BLOCK]);
        }
        let result = f(&mut registers);
        scratch::with(|scratch| scratch.registers = registers);
        result
    }
}

/// A part of the elements.
struct Part<'a> {
    elements: Range<usize>,
    /// The outputs for these elements.
    targets: Vec<&'a mut [f32]>,
    /// The sums over these elements, once they are computed.
    sums: Option<Sums>,
}

/// Divides `len` elements and the outputs into parts of `part` elements.
fn parts(len: usize, part: usize, mut targets: Vec<&mut [f32]>) -> Vec<Part<'_>> {
    let firsts = (0..len).step_by(part);
    let parts = firsts.map(|first| {
        let elements = first..len.min(first + part);
        let part_targets = targets.iter_mut().map(|target| {
            let (head, tail) = take(target).split_at_mut(elements.len());
            *target = tail;
            head
        });
        Part {
            targets: part_targets.collect(),
            elements,
            sums: None,
        }
    });
    parts.collect()
}
