//! Translates a fused op of the tensor dialect to a [`FusedProgram`], which fedround's CPU kernels run
//! block by block.

use std::sync::Arc;

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_ir::tensor::{Cmp, Fused, Op};
use fedround_kernels::fused::{Binary, FusedError, FusedProgram, Reductions, Step, Unary};

use crate::ops::scaled_product;
use crate::tensor::from_floats;
use crate::tensor::host::{into_flex_float, wrap_float};

/// A fused op that is ready to run on the CPU.
#[derive(Clone, Debug)]
pub struct Kernel {
    program: Arc<FusedProgram>,
    /// The shape over which the steps run, to which operands are broadcast.
    shape: Vec<usize>,
    /// The factor of a matrix product `factor · s · (a b)` that is added to the first result; `None` if none is
    /// added. `s`, `a` and `b` are three more operands at the end.
    pub(super) product: Option<f64>,
}

impl Kernel {
    /// Translates the steps of `fused`. Gives `None` if a step has no CPU kernel.
    pub(crate) fn new(fused: &Fused, operands: usize) -> Option<Self> {
        let mut steps: Vec<Step> = (0..operands).map(Step::Operand).collect();
        // The kernel step that computes each value of the op. One op may become several kernel steps, so
        // the two numberings differ.
        let mut step_of: Vec<usize> = (0..operands).collect();
        for (op, ins) in &fused.steps {
            let ins: Vec<usize> = ins.iter().map(|&v| step_of[v]).collect();
            step_of.push(match (op, &ins[..]) {
                // The kernels store masks as 1.0 and 0.0, so a cast of a mask computes nothing.
                (Op::Cast(_), &[mask]) => mask,
                _ => push_steps(&mut steps, op, &ins)?,
            });
        }
        let values = |of: &[usize]| of.iter().map(|&v| step_of[v]).collect();
        let reductions = Reductions {
            all: values(&fused.sums),
            leading: values(&fused.leading_sums),
            channels: values(&fused.channel_sums),
        };
        let program = FusedProgram::with_reductions(steps, values(&fused.outputs), reductions);
        let program = program.ok()?;
        Some(Self {
            program: Arc::new(program),
            shape: fused.shape.clone(),
            product: None,
        })
    }

    /// The update `y + c · s · x` (an `axpy` op) as a fused op of one step.
    pub(crate) fn update(axpy: &Op, shape: &[usize]) -> Option<Self> {
        let fused = Fused {
            shape: shape.to_vec(),
            steps: vec![(axpy.clone(), vec![0, 1, 2])],
            outputs: vec![3],
            sums: vec![],
            leading_sums: vec![],
            channel_sums: vec![],
        };
        Self::new(&fused, 3)
    }

    /// Computes the op's results: the element-wise outputs, then the full sums, then the sums over leading
    /// dimensions and those per channel. Gives `None` if an operand is not in host memory, and the error of
    /// the kernel if it cannot read one.
    pub(crate) fn run(
        &self,
        mut operands: Vec<DispatchTensor>,
        device: &DispatchDevice,
    ) -> Option<Result<Vec<DispatchTensor>, FusedError>> {
        let product = match self.product {
            Some(factor) => {
                let [s, a, b] = operands
                    .split_off(operands.len().checked_sub(3)?)
                    .try_into()
                    .ok()?;
                Some(scaled_product(factor, &s, &a, &b)?)
            }
            None => None,
        };
        let operands = operands.into_iter().map(into_flex_float);
        let operands = operands.collect::<Option<Vec<_>>>()?;
        let results = match &product {
            Some(product) => self.program.run_and_add(operands, &self.shape, product),
            None => self.program.run(operands, &self.shape),
        };
        let results = match results {
            Ok(results) => results,
            Err(error) => return Some(Err(error)),
        };
        let outputs = results.outputs.into_iter().map(wrap_float);
        let sums = results.sums.into_iter();
        let sums = sums.map(|sum| from_floats(vec![sum], &[1], device));
        let partial_sums = results.leading_sums.into_iter();
        let partial_sums = partial_sums.chain(results.channel_sums).map(wrap_float);
        Some(Ok(outputs.chain(sums).chain(partial_sums).collect()))
    }
}

/// Appends the kernel steps of one op, and gives the number of the last one, which holds the op's value.
fn push_steps(steps: &mut Vec<Step>, op: &Op, ins: &[usize]) -> Option<usize> {
    let mut constant = |c: f64| {
        steps.push(Step::Constant(c as f32));
        steps.len() - 1
    };
    let step = match (op, ins) {
        (Op::AddScalar(c), &[a]) => Step::Binary(Binary::Add, a, constant(*c)),
        (Op::MulScalar(c), &[a]) => Step::Binary(Binary::Mul, a, constant(*c)),
        (Op::CompareScalar(cmp, c), &[a]) => Step::Binary(compare(*cmp), a, constant(*c)),
        (Op::Axpy(c), &[y, s, x]) => {
            let c = constant(*c);
            steps.push(Step::Binary(Binary::Mul, s, c));
            steps.push(Step::Binary(Binary::Mul, steps.len() - 1, x));
            Step::Binary(Binary::Add, y, steps.len() - 1)
        }
        (Op::Compare(cmp), &[a, b]) => Step::Binary(compare(*cmp), a, b),
        (Op::Where, &[mask, a, b]) => Step::Select(mask, a, b),
        (op, &[a, b]) => Step::Binary(binary(op)?, a, b),
        (op, &[a]) => Step::Unary(unary(op)?, a),
        _ => return None,
    };
    steps.push(step);
    Some(steps.len() - 1)
}

fn compare(cmp: Cmp) -> Binary {
    match cmp {
        Cmp::Equal => Binary::Equal,
        Cmp::NotEqual => Binary::NotEqual,
        Cmp::Greater => Binary::Greater,
        Cmp::GreaterEqual => Binary::GreaterEqual,
        Cmp::Less => Binary::Less,
        Cmp::LessEqual => Binary::LessEqual,
    }
}

fn binary(op: &Op) -> Option<Binary> {
    Some(match op {
        Op::Add => Binary::Add,
        Op::Sub => Binary::Sub,
        Op::Mul => Binary::Mul,
        Op::Div => Binary::Div,
        Op::Pow => Binary::Pow,
        Op::And => Binary::And,
        Op::Or => Binary::Or,
        Op::ReluGrad => Binary::ReluGrad,
        _ => return None,
    })
}

fn unary(op: &Op) -> Option<Unary> {
    Some(match op {
        Op::Neg => Unary::Neg,
        Op::Exp => Unary::Exp,
        Op::Log => Unary::Log,
        Op::Log1p => Unary::Log1p,
        Op::Sqrt => Unary::Sqrt,
        Op::PowScalar(c) => Unary::Powf(*c as f32),
        Op::Abs => Unary::Abs,
        Op::Sign => Unary::Sign,
        Op::Floor => Unary::Floor,
        Op::Sin => Unary::Sin,
        Op::Cos => Unary::Cos,
        Op::Tanh => Unary::Tanh,
        Op::Sigmoid => Unary::Sigmoid,
        Op::Erf => Unary::Erf,
        Op::Relu => Unary::Relu,
        Op::Not => Unary::Not,
        Op::Clamp(low, high) => Unary::Clamp {
            min: *low as f32,
            max: *high as f32,
        },
        _ => return None,
    })
}
