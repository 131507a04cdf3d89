//! Imports burn's operations that move and select elements of any type.

use std::sync::Arc;

use burn::tensor::{IndexingUpdateOp, Slice};
use burn_ir::{BaseOperationIr as Base, TensorIr};
use fedround_ir::tensor::{Cmp, Constant, DType, Op, TensorType, Val};

use super::{Import, ImportError, logical, real, shape};

impl Import<'_> {
    pub(super) fn base(&mut self, op: &Base) -> Result<(), ImportError> {
        match op {
            Base::Reshape(o) => self.emit(Op::Reshape(shape(&o.out)), &[&o.input], &o.out),
            Base::Expand(o) => {
                // burn's `expand` may add leading dimensions. The dialect's `expand` only repeats existing ones,
                // so they are added by a reshape first.
                let (from, to) = (shape(&o.input), shape(&o.out));
                let mut padded = vec![1; to.len() - from.len()];
                padded.extend(from);
                let input = self.value(&o.input)?;
                let val = self.chain(input, [Op::Reshape(padded), Op::Expand(to)])?;
                self.bind(&o.out, val)
            }
            Base::RepeatDim(o) => {
                // [.., n, ..] -> [.., 1, n, ..] -> [.., times, n, ..] -> [.., times · n, ..]
                let mut split = shape(&o.tensor);
                split.insert(o.dim, 1);
                let mut repeated = split.clone();
                repeated[o.dim] = o.times;
                let input = self.value(&o.tensor)?;
                let ops = [
                    Op::Reshape(split),
                    Op::Expand(repeated),
                    Op::Reshape(shape(&o.out)),
                ];
                let val = self.chain(input, ops)?;
                self.bind(&o.out, val)
            }
            Base::SwapDims(o) => {
                let mut axes: Vec<usize> = (0..o.input.shape.num_dims()).collect();
                axes.swap(o.dim1, o.dim2);
                self.emit(Op::Permute(axes), &[&o.input], &o.out)
            }
            Base::Permute(o) => self.emit(Op::Permute(o.axes.clone()), &[&o.input], &o.out),
            // burn does not record `detach`. fedround's `stop_gradient` therefore marks a value by a flip of no
            // axes.
            Base::Flip(o) if o.axes.is_empty() => self.emit(Op::StopGradient, &[&o.input], &o.out),
            Base::Flip(o) => self.emit(Op::Flip(o.axes.clone()), &[&o.input], &o.out),
            Base::Slice(o) if o.ranges.iter().all(|s| s.step == 1) => {
                let ranges = ranges(&o.ranges, &o.tensor);
                self.emit(Op::Slice(ranges), &[&o.tensor], &o.out)
            }
            Base::SliceAssign(o) if o.ranges.iter().all(|s| s.step == 1) => {
                let ranges = ranges(&o.ranges, &o.tensor);
                self.emit(Op::SliceAssign(ranges), &[&o.tensor, &o.value], &o.out)
            }
            Base::Cat(o) => {
                let ins: Vec<&TensorIr> = o.tensors.iter().collect();
                self.emit(Op::Cat(o.dim), &ins, &o.out)
            }
            Base::Gather(o) => self.emit(Op::Gather(o.dim), &[&o.tensor, &o.indices], &o.out),
            Base::Scatter(o) if o.update == IndexingUpdateOp::Add => {
                let ins = [&o.tensor, &o.indices, &o.value];
                self.emit(Op::ScatterAdd(o.dim), &ins, &o.out)
            }
            Base::Select(o) => self.emit(Op::Select(o.dim), &[&o.tensor, &o.indices], &o.out),
            Base::SelectAssign(o) if o.update == IndexingUpdateOp::Add => {
                let ins = [&o.tensor, &o.indices, &o.value];
                self.emit(Op::SelectAdd(o.dim), &ins, &o.out)
            }
            Base::MaskWhere(o) => self.emit(Op::Where, &[&o.mask, &o.value, &o.tensor], &o.out),
            Base::MaskFill(o) => {
                let (mask, tensor) = (self.value(&o.mask)?, self.value(&o.tensor)?);
                let value = self.full(real(o.value), vec![1; shape(&o.out).len()], &o.out)?;
                let val = self.push(Op::Where, &[mask, value, tensor])?;
                self.bind(&o.out, val)
            }
            Base::Equal(o) => self.emit(Op::Compare(Cmp::Equal), &[&o.lhs, &o.rhs], &o.out),
            Base::NotEqual(o) => self.emit(Op::Compare(Cmp::NotEqual), &[&o.lhs, &o.rhs], &o.out),
            Base::EqualElem(o) => self.compare(Cmp::Equal, o),
            Base::NotEqualElem(o) => self.compare(Cmp::NotEqual, o),
            Base::Cast(o) => self.cast(&o.input, &o.out),
            Base::Zeros(o) | Base::Empty(o) => self.filled(0.0, &o.out),
            Base::Ones(o) => self.filled(1.0, &o.out),
            other => self.unknown(other),
        }
    }

    pub(super) fn compare(&mut self, cmp: Cmp, o: &burn_ir::ScalarOpIr) -> Result<(), ImportError> {
        self.emit(Op::CompareScalar(cmp, real(o.rhs)), &[&o.lhs], &o.out)
    }

    pub(super) fn cast(&mut self, input: &TensorIr, out: &TensorIr) -> Result<(), ImportError> {
        self.emit(Op::Cast(logical(out.dtype)), &[input], out)
    }

    /// A tensor filled with one number.
    pub(super) fn filled(&mut self, c: f64, out: &TensorIr) -> Result<(), ImportError> {
        let val = self.full(c, shape(out), out)?;
        self.bind(out, val)
    }

    /// A value of this shape filled with `c`, with the element type of `like`.
    pub(super) fn full(
        &mut self,
        c: f64,
        shape: Vec<usize>,
        like: &TensorIr,
    ) -> Result<Val, ImportError> {
        let dtype = logical(like.dtype);
        // `full` makes `f32`, which has not all integers above 2²⁴.
        if dtype == DType::I32 && f64::from(c as f32) != c {
            let one = Constant {
                ty: TensorType::i32(vec![1; shape.len()]),
                values: Arc::from([c]),
            };
            let one = self.push(Op::Constant(one), &[])?;
            return self.push(Op::Expand(shape), &[one]);
        }
        let val = self.push(Op::Full(c, shape), &[])?;
        match dtype {
            DType::F32 => Ok(val),
            dtype => self.push(Op::Cast(dtype), &[val]),
        }
    }
}

/// A range `start..end` for each dimension, in which burn's omitted and negative bounds are resolved.
fn ranges(slices: &[Slice], t: &TensorIr) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = shape(t).iter().map(|&n| (0, n)).collect();
    for (range, s) in ranges.iter_mut().zip(slices) {
        let n = range.1;
        let wrap = |i: isize| if i < 0 { i + n as isize } else { i } as usize;
        *range = (wrap(s.start), s.end.map_or(n, wrap));
    }
    ranges
}
