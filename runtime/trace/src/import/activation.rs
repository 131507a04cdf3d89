//! Imports burn's activations. Those that the tensor dialect lacks become several ops.

use std::f64::consts::SQRT_2;

use burn_ir::{ActivationOperationIr as Act, DimOpIr};
use fedround_ir::tensor::{Cmp, Op, Val};

use super::{Import, ImportError, real, shape};

impl Import<'_> {
    pub(super) fn activation(&mut self, op: &Act) -> Result<(), ImportError> {
        match op {
            Act::Relu(o) => self.unary(Op::Relu, o),
            Act::Sigmoid(o) => self.unary(Op::Sigmoid, o),
            Act::LogSoftmax(o) => self.emit(Op::LogSoftmax(o.axis), &[&o.input], &o.out),
            Act::Softmax(o) => self.softmax(o, []),
            Act::Softmin(o) => self.softmax(o, [Op::Neg]),
            Act::LeakyRelu(o) => {
                let x = self.value(&o.lhs)?;
                let slope = self.push(Op::MulScalar(real(o.rhs)), &[x])?;
                let val = self.where_positive(x, slope)?;
                self.bind(&o.out, val)
            }
            Act::PRelu(o) => {
                let (x, alpha) = (self.value(&o.lhs)?, self.value(&o.rhs)?);
                let slope = self.push(Op::Mul, &[x, alpha])?;
                let val = self.where_positive(x, slope)?;
                self.bind(&o.out, val)
            }
            // x / 2 · (1 + erf(x / √2))
            Act::Gelu(o) => {
                let x = self.value(&o.input)?;
                let ops = [Op::MulScalar(1.0 / SQRT_2), Op::Erf, Op::AddScalar(1.0)];
                let gate = self.chain(x, ops)?;
                let half = self.push(Op::MulScalar(0.5), &[x])?;
                let val = self.push(Op::Mul, &[half, gate])?;
                self.bind(&o.out, val)
            }
            Act::HardSigmoid(o) => {
                let x = self.value(&o.tensor)?;
                let ops = [
                    Op::MulScalar(real(o.alpha)),
                    Op::AddScalar(real(o.beta)),
                    Op::Clamp(0.0, 1.0),
                ];
                let val = self.chain(x, ops)?;
                self.bind(&o.out, val)
            }
            // min(x, 0) − ln(1 + e^−|x|), which neither over- nor underflows. One mask chooses the side of
            // both parts, so that their slopes at 0 are of one side: 1 − ½.
            Act::LogSigmoid(o) => {
                let x = self.value(&o.input)?;
                let positive = self.push(Op::CompareScalar(Cmp::Greater, 0.0), &[x])?;
                let zero = self.push(Op::Full(0.0, vec![1; shape(&o.input).len()]), &[])?;
                let below = self.push(Op::Where, &[positive, zero, x])?;
                let minus = self.push(Op::Neg, &[x])?;
                let far = self.push(Op::Where, &[positive, minus, x])?;
                let tail = self.chain(far, [Op::Exp, Op::Log1p])?;
                let val = self.push(Op::Sub, &[below, tail])?;
                self.bind(&o.out, val)
            }
            other => self.unknown(other),
        }
    }

    /// The softmax of a value, to which `prelude` is applied first.
    fn softmax<const N: usize>(
        &mut self,
        o: &DimOpIr,
        prelude: [Op; N],
    ) -> Result<(), ImportError> {
        let x = self.value(&o.input)?;
        let x = self.chain(x, prelude)?;
        let val = self.chain(x, [Op::LogSoftmax(o.axis), Op::Exp])?;
        self.bind(&o.out, val)
    }

    /// `x` where it is positive, and `otherwise` elsewhere.
    fn where_positive(&mut self, x: Val, otherwise: Val) -> Result<Val, ImportError> {
        let positive = self.push(Op::CompareScalar(Cmp::Greater, 0.0), &[x])?;
        self.push(Op::Where, &[positive, x, otherwise])
    }
}
