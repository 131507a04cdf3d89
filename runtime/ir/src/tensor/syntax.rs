//! The text form of ops: the table of their names and attributes.
//!
//! A new op needs a row here. A shape that follows from the type of the result is not an attribute of
//! the text.

use super::Op;
use super::codecs::{
    Body, Comparison, Conv, Dims, Distribution, Flag, Labelled, Literal, Pool, Ranges, ResultDType,
    ResultShape, ResultValues,
};
use crate::text::ops;

ops! { Op {
    "full" = Full [value: Literal, shape: ResultShape];
    "constant" = Constant [values: ResultValues];
    "random" = Random [distribution: Distribution, stream: Labelled, shape: ResultShape];
    "add" = Add [];
    "sub" = Sub [];
    "mul" = Mul [];
    "div" = Div [];
    "pow" = Pow [];
    "add_scalar" = AddScalar [value: Literal];
    "mul_scalar" = MulScalar [value: Literal];
    "axpy" = Axpy [factor: Literal];
    "matmul_add" = MatMulAdd [factor: Literal];
    "fused" = Fused [body: Body];
    "neg" = Neg [];
    "exp" = Exp [];
    "log" = Log [];
    "log1p" = Log1p [];
    "sqrt" = Sqrt [];
    "pow_scalar" = PowScalar [exponent: Literal];
    "abs" = Abs [];
    "sign" = Sign [];
    "floor" = Floor [];
    "sin" = Sin [];
    "cos" = Cos [];
    "tanh" = Tanh [];
    "sigmoid" = Sigmoid [];
    "erf" = Erf [];
    "clamp" = Clamp [low: Literal, high: Literal];
    "relu" = Relu [];
    "relu_grad" = ReluGrad [];
    "compare" = Compare [order: Comparison];
    "compare_scalar" = CompareScalar [order: Comparison, value: Literal];
    "and" = And [];
    "or" = Or [];
    "not" = Not [];
    "where" = Where [];
    "cast" = Cast [to: ResultDType];
    "stop_gradient" = StopGradient [];
    "reshape" = Reshape [shape: ResultShape];
    "permute" = Permute [axes: Dims];
    "flip" = Flip [axes: Dims];
    "expand" = Expand [shape: ResultShape];
    "slice" = Slice [ranges: Ranges];
    "slice_assign" = SliceAssign [ranges: Ranges];
    "cat" = Cat [dim: Labelled];
    "sum" = Sum [];
    "dot" = Dot [];
    "sum_dim" = SumDim [dim: Labelled];
    "mean" = Mean [];
    "mean_dim" = MeanDim [dim: Labelled];
    "max_dim" = MaxDim [dim: Labelled];
    "cumsum" = CumSum {dim: Labelled, reverse: Flag};
    "matmul" = MatMul [];
    "log_softmax" = LogSoftmax [dim: Labelled];
    "gather" = Gather [dim: Labelled];
    "scatter_add" = ScatterAdd [dim: Labelled];
    "select" = Select [dim: Labelled];
    "select_add" = SelectAdd [dim: Labelled];
    "conv2d" = Conv2d [options: Conv];
    "conv2d_input_grad" = Conv2dInputGrad [options: Conv, shape: ResultShape];
    "conv2d_weight_grad" = Conv2dWeightGrad [options: Conv, shape: ResultShape];
    "max_pool2d" = MaxPool2d [options: Pool];
    "max_pool2d_grad" = MaxPool2dGrad [options: Pool];
    "avg_pool2d" = AvgPool2d [options: Pool];
    "avg_pool2d_grad" = AvgPool2dGrad [options: Pool];
} }

impl Op {
    /// Name in the text form, without the dialect.
    pub fn name(&self) -> &'static str {
        self.table_name()
    }
}
