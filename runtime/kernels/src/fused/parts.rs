//! Running a program in parts, which several threads may share, or between which something else is done.

use std::mem::take;
use std::ops::Range;

use super::blocks::Run;
use super::extent::BLOCK;
use super::sums::Sums;
use super::work::Work;
use crate::matmul::ScaledProduct;
use crate::scratch;
use crate::team;

/// Elements of a part, about. A thread computes so many in some 30 µs.
const PART: usize = 1 << 16;
/// FLOPs of a matrix product that takes as long as an element of a program, about.
const FLOPS: usize = 64;
/// The number of rows to which a product is added at a time. Together with the operands of the program they
/// stay in the second-level cache.
const ROWS: usize = 48;

impl Work<'_> {
    /// Runs the program. The parts depend on the shape alone, so that sums do, too.
    pub fn run(&self, targets: Vec<&mut [f32]>) -> Sums {
        let len = self.dims.len;
        let part = match self.program.leading_sums.as_slice() {
            [] => self.extent.part(1, PART, len),
            // These are in order.
            _ => len.max(1),
        };
        if part >= len {
            return self.run_part(0..len, targets);
        }
        let mut parts = parts(len, part, targets);
        team::each(len * FLOPS, parts.iter_mut(), |part| {
            let targets = take(&mut part.targets);
            part.sums = Some(self.run_part(part.elements.clone(), targets));
        });
        let mut all = Sums::zero(self.program, self.dims);
        let sums = parts.into_iter().filter_map(|part| part.sums);
        sums.for_each(|part| all.add(&part));
        all
    }

    fn run_part(&self, elements: Range<usize>, targets: Vec<&mut [f32]>) -> Sums {
        self.with_registers(|registers| {
            let mut run = Run::new(self, elements.start, targets, registers);
            run.blocks(elements);
            run.sums
        })
    }

    /// Runs the program, and adds a product to the first output, some rows at a time while they are in the cache.
    pub fn run_and_add(
        &self,
        targets: Vec<&mut [f32]>,
        row: usize,
        product: &ScaledProduct,
    ) -> Sums {
        self.with_registers(|registers| {
            let mut run = Run::new(self, 0, targets, registers);
            let len = self.dims.len;
            let part = self.extent.part(row, ROWS * row, len);
            for first in (0..len).step_by(part) {
                let elements = first..len.min(first + part);
                run.blocks(elements.clone());
                product.add_to(first / row, run.output(0, elements));
            }
            run.sums
        })
    }

    /// Lends this thread's registers.
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

/// Some elements, their places in the outputs, and then their sums.
struct Part<'a> {
    elements: Range<usize>,
    targets: Vec<&'a mut [f32]>,
    sums: Option<Sums>,
}

fn parts(len: usize, part: usize, mut targets: Vec<&mut [f32]>) -> Vec<Part<'_>> {
    let firsts = (0..len).step_by(part);
    let parts = firsts.map(|first| {
        let elements = first..len.min(first + part);
        let of_part = targets.iter_mut().map(|target| {
            let (now, rest) = take(target).split_at_mut(elements.len());
            *target = rest;
            now
        });
        Part {
            targets: of_part.collect(),
            elements,
            sums: None,
        }
    });
    parts.collect()
}
