//! Imports burn's arithmetic, comparisons and reductions.

use burn::tensor::Distribution as Dist;
use burn_ir::{
    BinaryOpIr, BoolOperationIr as Bool, FloatOperationIr as Float, IntOperationIr as Int,
    NumericOperationIr as Num, ReduceDimOpIr, TensorIr, UnaryOpIr,
};
use fedround_ir::tensor::{Cmp, Distribution, Op};

use super::{Import, ImportError, real, shape};

impl Import<'_> {
    pub(super) fn numeric(&mut self, op: &Num) -> Result<(), ImportError> {
        match op {
            Num::Add(o) => self.binary(Op::Add, o),
            Num::Sub(o) => self.binary(Op::Sub, o),
            Num::Mul(o) => self.binary(Op::Mul, o),
            Num::Div(o) => self.binary(Op::Div, o),
            Num::AddScalar(o) => self.emit(Op::AddScalar(real(o.rhs)), &[&o.lhs], &o.out),
            Num::SubScalar(o) => self.emit(Op::AddScalar(-real(o.rhs)), &[&o.lhs], &o.out),
            Num::MulScalar(o) => self.emit(Op::MulScalar(real(o.rhs)), &[&o.lhs], &o.out),
            Num::DivScalar(o) if o.lhs.dtype.is_float() => {
                self.emit(Op::MulScalar(1.0 / real(o.rhs)), &[&o.lhs], &o.out)
            }
            Num::PowiScalar(o) if o.lhs.dtype.is_float() => self.power(&o.lhs, real(o.rhs), &o.out),
            Num::Neg(o) => self.unary(Op::Neg, o),
            Num::Abs(o) => self.unary(Op::Abs, o),
            Num::Sign(o) => self.unary(Op::Sign, o),
            Num::Clamp(o) => self.emit(Op::Clamp(real(o.min), real(o.max)), &[&o.tensor], &o.out),
            Num::ClampMin(o) => self.emit(Op::Clamp(real(o.rhs), f64::INFINITY), &[&o.lhs], &o.out),
            Num::ClampMax(o) => {
                self.emit(Op::Clamp(f64::NEG_INFINITY, real(o.rhs)), &[&o.lhs], &o.out)
            }
            Num::Full(o) => self.filled(real(o.value), &o.out),
            Num::Greater(o) => self.binary(Op::Compare(Cmp::Greater), o),
            Num::GreaterEqual(o) => self.binary(Op::Compare(Cmp::GreaterEqual), o),
            Num::Lower(o) => self.binary(Op::Compare(Cmp::Less), o),
            Num::LowerEqual(o) => self.binary(Op::Compare(Cmp::LessEqual), o),
            Num::GreaterElem(o) => self.compare(Cmp::Greater, o),
            Num::GreaterEqualElem(o) => self.compare(Cmp::GreaterEqual, o),
            Num::LowerElem(o) => self.compare(Cmp::Less, o),
            Num::LowerEqualElem(o) => self.compare(Cmp::LessEqual, o),
            Num::Mean(o) => self.emit(Op::Mean, &[&o.input], &o.out),
            Num::Sum(o) => self.emit(Op::Sum, &[&o.input], &o.out),
            Num::Max(o) => self.extremum_of_all(&o.input, &o.out, false),
            Num::Min(o) => self.extremum_of_all(&o.input, &o.out, true),
            Num::MeanDim(o) => self.reduce(Op::MeanDim(o.axis), o),
            Num::SumDim(o) => self.reduce(Op::SumDim(o.axis), o),
            Num::SumDims(o) => {
                let input = self.value(&o.input)?;
                let sum = self.chain(input, o.axes.iter().map(|&axis| Op::SumDim(axis)))?;
                self.bind(&o.out, sum)
            }
            Num::MaxDim(o) => self.extremum(&o.input, o.axis, [Some(&o.out), None], false),
            Num::MinDim(o) => self.extremum(&o.input, o.axis, [Some(&o.out), None], true),
            Num::ArgMax(o) => self.extremum(&o.input, o.axis, [None, Some(&o.out)], false),
            Num::ArgMin(o) => self.extremum(&o.input, o.axis, [None, Some(&o.out)], true),
            Num::MaxDimWithIndices(o) => {
                let outs = [Some(&o.out), Some(&o.out_indices)];
                self.extremum(&o.tensor, o.dim, outs, false)
            }
            Num::MinDimWithIndices(o) => {
                let outs = [Some(&o.out), Some(&o.out_indices)];
                self.extremum(&o.tensor, o.dim, outs, true)
            }
            Num::CumSum(o) => {
                let op = Op::CumSum {
                    dim: o.axis,
                    reverse: false,
                };
                self.emit(op, &[&o.input], &o.out)
            }
            Num::Pad(o) => self.pad(o),
            other => self.unknown(other),
        }
    }

    pub(super) fn float(&mut self, op: &Float) -> Result<(), ImportError> {
        match op {
            Float::Exp(o) => self.unary(Op::Exp, o),
            Float::Log(o) => self.unary(Op::Log, o),
            Float::Log1p(o) => self.unary(Op::Log1p, o),
            Float::Sqrt(o) => self.unary(Op::Sqrt, o),
            Float::Erf(o) => self.unary(Op::Erf, o),
            Float::Sin(o) => self.unary(Op::Sin, o),
            Float::Cos(o) => self.unary(Op::Cos, o),
            Float::Tanh(o) => self.unary(Op::Tanh, o),
            Float::Floor(o) => self.unary(Op::Floor, o),
            Float::Recip(o) => self.unary(Op::PowScalar(-1.0), o),
            Float::PowfScalar(o) => self.power(&o.lhs, real(o.rhs), &o.out),
            Float::Powf(o) => self.binary(Op::Pow, o),
            Float::IntoInt(o) => self.cast(&o.input, &o.out),
            Float::Matmul(o) => self.emit(Op::MatMul, &[&o.lhs, &o.rhs], &o.out),
            Float::Random(o) => {
                let distribution = match o.distribution {
                    Dist::Default => Distribution::Uniform(0.0, 1.0),
                    Dist::Uniform(low, high) => Distribution::Uniform(low, high),
                    Dist::Normal(mean, std) => Distribution::Normal(mean, std),
                    Dist::Bernoulli(p) => Distribution::Bernoulli(p),
                };
                let stream = self.graph.random_streams();
                self.emit(Op::Random(distribution, stream, shape(&o.out)), &[], &o.out)
            }
            other => self.unknown(other),
        }
    }

    pub(super) fn int(&mut self, op: &Int) -> Result<(), ImportError> {
        match op {
            Int::IntoFloat(o) => self.cast(&o.input, &o.out),
            other => self.unknown(other),
        }
    }

    pub(super) fn bool(&mut self, op: &Bool) -> Result<(), ImportError> {
        match op {
            Bool::IntoFloat(o) | Bool::IntoInt(o) => self.cast(&o.input, &o.out),
            Bool::Not(o) => self.unary(Op::Not, o),
            Bool::And(o) => self.binary(Op::And, o),
            Bool::Or(o) => self.binary(Op::Or, o),
            other => self.unknown(other),
        }
    }

    pub(super) fn unary(&mut self, op: Op, o: &UnaryOpIr) -> Result<(), ImportError> {
        self.emit(op, &[&o.input], &o.out)
    }

    fn binary(&mut self, op: Op, o: &BinaryOpIr) -> Result<(), ImportError> {
        self.emit(op, &[&o.lhs, &o.rhs], &o.out)
    }

    fn reduce(&mut self, op: Op, o: &ReduceDimOpIr) -> Result<(), ImportError> {
        self.emit(op, &[&o.input], &o.out)
    }

    /// `a` to the power `c`. A square becomes a product, which is cheaper, and whose sum the passes turn into a
    /// `dot`.
    fn power(&mut self, a: &TensorIr, c: f64, out: &TensorIr) -> Result<(), ImportError> {
        if c == 2.0 {
            return self.emit(Op::Mul, &[a, a], out);
        }
        self.emit(Op::PowScalar(c), &[a], out)
    }

    /// The largest or the smallest element along the dimension `d`. `outs` are the tensors for its value and for
    /// its index; `None` if the operation does not give it.
    fn extremum(
        &mut self,
        a: &TensorIr,
        d: usize,
        outs: [Option<&TensorIr>; 2],
        smallest: bool,
    ) -> Result<(), ImportError> {
        let mut a = self.value(a)?;
        if smallest {
            a = self.push(Op::Neg, &[a])?;
        }
        let mut results = self.push_multi(Op::MaxDim(d), &[a])?;
        if smallest {
            results[0] = self.push(Op::Neg, &[results[0]])?;
        }
        for (out, val) in outs.into_iter().zip(results) {
            if let Some(out) = out {
                self.bind(out, val)?;
            }
        }
        Ok(())
    }

    /// The largest or the smallest of all elements: that along the only dimension of the flattened tensor.
    fn extremum_of_all(
        &mut self,
        a: &TensorIr,
        out: &TensorIr,
        smallest: bool,
    ) -> Result<(), ImportError> {
        let n = shape(a).iter().product();
        let input = self.value(a)?;
        let flat = self.push(Op::Reshape(vec![n]), &[input])?;
        let negate = || smallest.then_some(Op::Neg);
        let mut val = self.chain(flat, negate())?;
        val = self.push(Op::MaxDim(0), &[val])?;
        val = self.chain(val, negate())?;
        self.bind(out, val)
    }
}
