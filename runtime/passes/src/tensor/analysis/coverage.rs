//! `coverage`: for each op of the dialect, whether it can be differentiated and how it is batched over
//! clients. The answers come from the passes themselves.

use std::sync::Arc;

use fedround_ir::Loc;
use fedround_ir::tensor::{
    Cmp, Constant, Conv2d, DType, Distribution, Fused, Graph, Op, Pool2d, TensorType, TypeError,
};

use crate::autodiff::{GradError, rules};
use crate::tensor::transform::batch;

/// An op and what is known of it.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// A graph of one node, the op, whose operands are the inputs.
    pub example: Graph,
    /// Whether it can be differentiated.
    pub gradient: Gradient,
    /// How it runs for several clients at once.
    pub batching: batch::Rule,
}

impl Coverage {
    /// The op.
    pub fn op(&self) -> &Op {
        &self.example.nodes[0].op
    }
}

/// What the gradient pass makes of an op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gradient {
    /// The gradient of its result flows to these operands.
    To(Vec<usize>),
    /// It flows nowhere: the op is flat, reads no floats, or stops gradients.
    Flat,
    /// The op cannot be differentiated.
    None,
}

/// Every op of the dialect, in the order of its declaration.
///
/// # Errors
///
/// An example or a rule is ill-typed: a bug in fedround.
pub fn coverage() -> Result<Vec<Coverage>, TypeError> {
    examples().into_iter().map(covered).collect()
}

fn covered((op, operands): (Op, Vec<TensorType>)) -> Result<Coverage, TypeError> {
    let mut example = Graph::default();
    let ins: Vec<_> = ('a'..)
        .zip(operands)
        .map(|(name, ty)| example.input(name, ty))
        .collect();
    let outs = example.push_multi(op.clone(), &ins, Loc::caller())?;
    for (i, out) in outs.into_iter().enumerate() {
        example.outputs.push((format!("y{i}"), out));
    }
    Ok(Coverage {
        gradient: gradient(&example)?,
        batching: batch::rule(&op),
        example,
    })
}

fn gradient(example: &Graph) -> Result<Gradient, TypeError> {
    let (mut graph, node) = (example.clone(), &example.nodes[0]);
    let result = graph.type_of(node.outs[0]).clone();
    if result.dtype != DType::F32 {
        return Ok(Gradient::Flat);
    }
    let g = graph.input("g", result);
    match rules::apply(&mut graph, node, g, &vec![true; node.ins.len()]) {
        Err(GradError::Type(error)) => Err(error),
        Err(_) => Ok(Gradient::None),
        Ok(parts) => {
            let to = (0..parts.len()).filter(|&i| parts[i].is_some());
            let to: Vec<usize> = to.collect();
            Ok(if to.is_empty() {
                Gradient::Flat
            } else {
                Gradient::To(to)
            })
        }
    }
}

/// Lists an example for each pattern, which together must match every op: one that is missing is
/// an error of the compiler.
macro_rules! examples {
    ($($pattern:pat => $op:expr, [$($operand:expr),*];)*) => {
        fn examples() -> Vec<(Op, Vec<TensorType>)> {
            vec![$(($op, vec![$($operand),*])),*]
        }

        const _: fn(&Op) = |op| match op { $($pattern => {})* };
    };
}

examples! {
    Op::Full(..) => Op::Full(1.0, vec![2, 3]), [];
    Op::Constant(_) => Op::Constant(constant()), [];
    Op::Random(..) => Op::Random(Distribution::Uniform(0.0, 1.0), 0, vec![2, 3]), [];
    Op::Add => Op::Add, [f32([2, 3]), f32([1, 3])];
    Op::Sub => Op::Sub, [f32([2, 3]), f32([1, 3])];
    Op::Mul => Op::Mul, [f32([2, 3]), f32([1, 3])];
    Op::Div => Op::Div, [f32([2, 3]), f32([1, 3])];
    Op::Pow => Op::Pow, [f32([2, 3]), f32([1, 3])];
    Op::AddScalar(_) => Op::AddScalar(0.5), [f32([2, 3])];
    Op::MulScalar(_) => Op::MulScalar(0.5), [f32([2, 3])];
    Op::Axpy(_) => Op::Axpy(-1.0), [f32([2, 3]), f32([1]), f32([2, 3])];
    Op::MatMulAdd(_) => Op::MatMulAdd(-1.0), [f32([2, 3]), f32([1]), f32([2, 4]), f32([4, 3])];
    Op::Fused(_) => Op::Fused(fused()), [f32([2, 3]), f32([1, 3])];
    Op::Neg => Op::Neg, [f32([2, 3])];
    Op::Exp => Op::Exp, [f32([2, 3])];
    Op::Log => Op::Log, [f32([2, 3])];
    Op::Log1p => Op::Log1p, [f32([2, 3])];
    Op::Sqrt => Op::Sqrt, [f32([2, 3])];
    Op::PowScalar(_) => Op::PowScalar(2.5), [f32([2, 3])];
    Op::Abs => Op::Abs, [f32([2, 3])];
    Op::Sign => Op::Sign, [f32([2, 3])];
    Op::Floor => Op::Floor, [f32([2, 3])];
    Op::Sin => Op::Sin, [f32([2, 3])];
    Op::Cos => Op::Cos, [f32([2, 3])];
    Op::Tanh => Op::Tanh, [f32([2, 3])];
    Op::Sigmoid => Op::Sigmoid, [f32([2, 3])];
    Op::Erf => Op::Erf, [f32([2, 3])];
    Op::Clamp(..) => Op::Clamp(0.0, 1.0), [f32([2, 3])];
    Op::Relu => Op::Relu, [f32([2, 3])];
    Op::ReluGrad => Op::ReluGrad, [f32([2, 3]), f32([2, 3])];
    Op::Compare(_) => Op::Compare(Cmp::Less), [f32([2, 3]), f32([1, 3])];
    Op::CompareScalar(..) => Op::CompareScalar(Cmp::Less, 0.5), [f32([2, 3])];
    Op::And => Op::And, [mask([2, 3]), mask([2, 3])];
    Op::Or => Op::Or, [mask([2, 3]), mask([2, 3])];
    Op::Not => Op::Not, [mask([2, 3])];
    Op::Where => Op::Where, [mask([2, 3]), f32([2, 3]), f32([1, 3])];
    Op::Cast(_) => Op::Cast(DType::F32), [f32([2, 3])];
    Op::StopGradient => Op::StopGradient, [f32([2, 3])];
    Op::Reshape(_) => Op::Reshape(vec![3, 2]), [f32([2, 3])];
    Op::Permute(_) => Op::Permute(vec![1, 0]), [f32([2, 3])];
    Op::Flip(_) => Op::Flip(vec![1]), [f32([2, 3])];
    Op::Expand(_) => Op::Expand(vec![2, 3]), [f32([1, 3])];
    Op::Slice(_) => Op::Slice(vec![(0, 2), (1, 3)]), [f32([2, 3])];
    Op::SliceAssign(_) => Op::SliceAssign(vec![(0, 2), (1, 3)]), [f32([2, 3]), f32([2, 2])];
    Op::Cat(_) => Op::Cat(1), [f32([2, 3]), f32([2, 1])];
    Op::Sum => Op::Sum, [f32([2, 3])];
    Op::Dot => Op::Dot, [f32([2, 3]), f32([2, 3])];
    Op::SumDim(_) => Op::SumDim(1), [f32([2, 3])];
    Op::Mean => Op::Mean, [f32([2, 3])];
    Op::MeanDim(_) => Op::MeanDim(1), [f32([2, 3])];
    Op::MaxDim(_) => Op::MaxDim(1), [f32([2, 3])];
    Op::CumSum { .. } => Op::CumSum { dim: 1, reverse: false }, [f32([2, 3])];
    Op::MatMul => Op::MatMul, [f32([2, 3]), f32([3, 4])];
    Op::LogSoftmax(_) => Op::LogSoftmax(1), [f32([2, 3])];
    Op::Gather(_) => Op::Gather(1), [f32([2, 3]), i32([2, 4])];
    Op::ScatterAdd(_) => Op::ScatterAdd(1), [f32([2, 3]), i32([2, 4]), f32([2, 4])];
    Op::Select(_) => Op::Select(1), [f32([2, 3]), i32([4])];
    Op::SelectAdd(_) => Op::SelectAdd(1), [f32([2, 3]), i32([4]), f32([2, 4])];
    Op::Conv2d(_) => Op::Conv2d(CONV), [f32([2, 3, 5, 5]), f32([4, 3, 3, 3]), f32([4])];
    Op::Conv2dInputGrad(..) => Op::Conv2dInputGrad(CONV, vec![2, 3, 5, 5]),
        [f32([4, 3, 3, 3]), f32([2, 4, 3, 3])];
    Op::Conv2dWeightGrad(..) => Op::Conv2dWeightGrad(CONV, vec![4, 3, 3, 3]),
        [f32([2, 3, 5, 5]), f32([2, 4, 3, 3])];
    Op::MaxPool2d(_) => Op::MaxPool2d(POOL), [f32([2, 3, 4, 4])];
    Op::MaxPool2dGrad(_) => Op::MaxPool2dGrad(POOL),
        [f32([2, 3, 4, 4]), f32([2, 3, 2, 2]), i32([2, 3, 2, 2])];
    Op::AvgPool2d(_) => Op::AvgPool2d(POOL), [f32([2, 3, 4, 4])];
    Op::AvgPool2dGrad(_) => Op::AvgPool2dGrad(POOL), [f32([2, 3, 4, 4]), f32([2, 3, 2, 2])];
}

const CONV: Conv2d = Conv2d {
    stride: [1, 1],
    padding: [0, 0],
    dilation: [1, 1],
    groups: 1,
};

const POOL: Pool2d = Pool2d {
    kernel: [2, 2],
    stride: [2, 2],
    padding: [0, 0],
    dilation: [1, 1],
    count_include_pad: true,
};

fn f32<const N: usize>(shape: [usize; N]) -> TensorType {
    TensorType::f32(shape)
}

fn i32<const N: usize>(shape: [usize; N]) -> TensorType {
    TensorType::i32(shape)
}

fn mask<const N: usize>(shape: [usize; N]) -> TensorType {
    TensorType::new(DType::Bool, shape)
}

/// `(tanh(a + b), Σ (a + b), Σ tanh(a + b) over the rows)`, and the sums of both over each column.
fn fused() -> Arc<Fused> {
    Arc::new(Fused {
        shape: vec![2, 3],
        steps: vec![(Op::Add, vec![0, 1]), (Op::Tanh, vec![2])],
        outputs: vec![3],
        sums: vec![2],
        leading_sums: vec![3],
        channel_sums: vec![2, 3],
    })
}

fn constant() -> Constant {
    Constant {
        ty: f32([3]),
        values: [1.0, 2.0, 4.0].into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_op_has_one_example() {
        let all = coverage().unwrap();
        let mut names: Vec<&str> = all.iter().map(|c| c.op().name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
        for c in &all {
            c.example.verify().unwrap();
        }
    }

    #[test]
    fn a_gradient_has_the_type_of_its_operand() {
        for c in coverage().unwrap() {
            let Gradient::To(to) = &c.gradient else {
                continue;
            };
            let (mut graph, node) = (c.example.clone(), &c.example.nodes[0]);
            let g = graph.input("g", graph.type_of(node.outs[0]).clone());
            // Each operand alone, and all at once.
            let alone = |i| (0..node.ins.len()).map(|j| i == j).collect();
            let mut masks: Vec<Vec<bool>> = to.iter().map(|&i| alone(i)).collect();
            masks.push(vec![true; node.ins.len()]);
            for wanted in masks {
                let parts = rules::apply(&mut graph, node, g, &wanted).unwrap();
                for ((part, &operand), wanted) in parts.iter().zip(&node.ins).zip(wanted) {
                    let (name, fits) = (node.op.name(), |v| {
                        graph.type_of(v) == graph.type_of(operand)
                    });
                    assert!(part.is_none_or(fits), "{name}");
                    assert!(
                        wanted || part.is_none(),
                        "{name} gives a gradient that is not wanted"
                    );
                }
            }
            graph.verify().unwrap();
        }
    }

    /// Each op that models and losses are traced to can be differentiated, and each that gradients are made
    /// of.
    #[test]
    fn only_what_fusion_makes_has_no_gradient() {
        let all = coverage().unwrap();
        let lacking = all.iter().filter(|c| c.gradient == Gradient::None);
        let lacking: Vec<&str> = lacking.map(|c| c.op().name()).collect();
        assert_eq!(lacking, ["axpy", "matmul_add", "fused", "dot"]);
    }
}
