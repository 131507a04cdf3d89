//! The cost of a graph, computed from its ops and shapes: arithmetic, memory traffic and peak memory.
//!
//! - *FLOPs*: a multiplication with the addition that follows counts 2, any other function of one
//!   element 1, exponentials and comparisons included; `log_softmax` counts 5 an element (largest,
//!   difference, exponential, sum, difference). Moving elements counts nothing.
//! - *Bytes*: what is read of the operands and written to the results, each once, as if no cache
//!   held them between two ops. Reshaping, permuting and expanding give views and move nothing.
//! - *Peak*: the most bytes that are alive at once in the graph's order, inputs included. A value
//!   dies with its last reader, an input too, as the caller gives its inputs away. A view keeps its
//!   operand's memory alive and has none of its own; an elementwise op whose operand dies with it
//!   writes in place. What a kernel allocates for itself is not counted.

mod liveness;

use fedround_ir::tensor::{DType, Fused, Graph, Node, Op, TensorType, Val};

use liveness::live;

/// The cost of one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCost {
    /// Floating-point operations.
    pub flops: u64,
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
    /// Bytes alive while it runs, its operands and results included.
    pub live: u64,
}

/// The cost of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The cost of each node, in the graph's order.
    pub nodes: Vec<NodeCost>,
    /// Floating-point operations in all.
    pub flops: u64,
    /// Bytes read in all.
    pub read: u64,
    /// Bytes written in all.
    pub written: u64,
    /// Most bytes alive at once.
    pub peak: u64,
}

/// Counts the costs of a graph.
pub fn cost(graph: &Graph) -> Cost {
    let live = live(graph);
    let nodes = graph.nodes.iter().zip(live).map(|(node, live)| {
        let (read, written) = traffic(graph, node);
        NodeCost {
            flops: flops(graph, node),
            read,
            written,
            live,
        }
    });
    let nodes: Vec<NodeCost> = nodes.collect();
    let inputs = graph.inputs.iter().map(|(_, v)| bytes(graph.type_of(*v)));
    Cost {
        flops: nodes.iter().map(|n| n.flops).sum(),
        read: nodes.iter().map(|n| n.read).sum(),
        written: nodes.iter().map(|n| n.written).sum(),
        peak: nodes.iter().map(|n| n.live).fold(inputs.sum(), u64::max),
        nodes,
    }
}

/// Bytes of a value.
fn bytes(ty: &TensorType) -> u64 {
    let element = match ty.dtype {
        DType::F32 | DType::I32 => 4,
        DType::BF16 | DType::F16 => 2,
        DType::Bool => 1,
    };
    element * ty.len() as u64
}

/// How an op's cost follows from shapes.
pub(super) enum Class {
    /// The result is another look at the operand.
    View,
    /// Elements are copied or made.
    Move,
    /// As [`Class::Move`], of the elements of the result alone.
    Pick,
    /// This number of FLOPs for each element of the result; may be written in place.
    Map(u64),
    /// As [`Class::Map`], of the first operand, to which something is added.
    Update,
    /// This number of FLOPs for each element of the first operand.
    Reduce(u64),
    /// Sums of products, a number of them for each result.
    Product,
}

pub(super) fn class(op: &Op) -> Class {
    match op {
        Op::Reshape(_) | Op::Permute(_) | Op::Expand(_) | Op::StopGradient => Class::View,
        Op::Full(..) | Op::Constant(_) | Op::Random(..) | Op::Flip(_) | Op::Cat(_) => Class::Move,
        Op::Slice(_) | Op::Gather(_) | Op::Select(_) => Class::Pick,
        Op::Cast(_) => Class::Map(0),
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::Div
        | Op::Pow
        | Op::AddScalar(_)
        | Op::MulScalar(_)
        | Op::Neg
        | Op::Exp
        | Op::Log
        | Op::Log1p
        | Op::Sqrt
        | Op::PowScalar(_)
        | Op::Abs
        | Op::Sign
        | Op::Floor
        | Op::Sin
        | Op::Cos
        | Op::Tanh
        | Op::Sigmoid
        | Op::Erf
        | Op::Relu
        | Op::ReluGrad
        | Op::Compare(_)
        | Op::CompareScalar(..)
        | Op::And
        | Op::Or
        | Op::Not
        | Op::Where => Class::Map(1),
        Op::Axpy(_) | Op::Clamp(..) => Class::Map(2),
        Op::Fused(fused) => Class::Map(fused_flops(fused)),
        Op::LogSoftmax(_) => Class::Map(5),
        Op::SliceAssign(_) | Op::ScatterAdd(_) | Op::SelectAdd(_) | Op::MatMulAdd(_) => {
            Class::Update
        }
        Op::Sum | Op::SumDim(_) | Op::Mean | Op::MeanDim(_) | Op::MaxDim(_) | Op::CumSum { .. } => {
            Class::Reduce(1)
        }
        Op::Dot => Class::Reduce(2),
        Op::MatMul
        | Op::Conv2d(_)
        | Op::Conv2dInputGrad(..)
        | Op::Conv2dWeightGrad(..)
        | Op::MaxPool2d(_)
        | Op::MaxPool2dGrad(_)
        | Op::AvgPool2d(_)
        | Op::AvgPool2dGrad(_) => Class::Product,
    }
}

/// FLOPs of all steps for one element, the sums included.
fn fused_flops(fused: &Fused) -> u64 {
    let step = |(op, _): &(Op, Vec<usize>)| match class(op) {
        Class::Map(each) => each,
        _ => 0,
    };
    let sums = fused.sums.len() + fused.leading_sums.len() + fused.channel_sums.len();
    fused.steps.iter().map(step).sum::<u64>() + sums as u64
}

fn flops(graph: &Graph, node: &Node) -> u64 {
    let len = |v: Option<&Val>| v.map_or(0, |v| graph.type_of(*v).len() as u64);
    let dim = |v: Option<&Val>, from_end: usize| {
        let shape = v.map_or(&[][..], |v| graph.shape(*v));
        let at = shape.len().checked_sub(from_end);
        at.and_then(|i| shape.get(i)).map_or(1, |n| *n as u64)
    };
    let (ins, out) = (&node.ins, len(node.outs.first()));
    match (class(&node.op), &node.op) {
        (Class::View | Class::Move | Class::Pick, _) => 0,
        // Its first result may be a sum.
        (Class::Map(each), Op::Fused(fused)) => each * fused.shape.iter().product::<usize>() as u64,
        (Class::Map(each), _) => each * out,
        (Class::Reduce(each), _) => each * len(ins.first()),
        (_, Op::ScatterAdd(_) | Op::SelectAdd(_)) => len(ins.get(2)),
        // `c · s` is one number.
        (_, Op::MatMulAdd(_)) => 2 * out * dim(ins.get(2), 1) + 2 * out,
        (_, Op::MatMul) => 2 * out * dim(ins.first(), 1),
        // A weight is `[out, in / groups, height, width]`: all but `out` are summed over.
        (_, Op::Conv2d(_)) => {
            let weight = ins.get(1);
            let sums = 2 * out * len(weight) / dim(weight, 4).max(1);
            sums + if ins.len() > 2 { out } else { 0 }
        }
        (_, Op::Conv2dInputGrad(..)) => {
            2 * len(ins.get(1)) * len(ins.first()) / dim(ins.first(), 4).max(1)
        }
        (_, Op::Conv2dWeightGrad(..)) => {
            2 * len(ins.get(1)) * out / dim(node.outs.first(), 4).max(1)
        }
        (_, Op::MaxPool2d(o) | Op::AvgPool2d(o)) => out * (o.kernel[0] * o.kernel[1]) as u64,
        (_, Op::MaxPool2dGrad(_)) => len(ins.get(1)),
        (_, Op::AvgPool2dGrad(o)) => len(ins.get(1)) * (o.kernel[0] * o.kernel[1]) as u64,
        (Class::Update | Class::Product, _) => 0,
    }
}

/// Bytes read and written.
fn traffic(graph: &Graph, node: &Node) -> (u64, u64) {
    let sum = |vals: &[Val]| vals.iter().map(|v| bytes(graph.type_of(*v))).sum::<u64>();
    let written = sum(&node.outs);
    match class(&node.op) {
        Class::View => (0, 0),
        Class::Pick => (
            written + sum(node.ins.get(1..).unwrap_or_default()),
            written,
        ),
        _ => (sum(&node.ins), written),
    }
}

#[cfg(test)]
mod tests;
