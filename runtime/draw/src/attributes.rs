//! What a tensor op carries besides its operands, for labels and for JSON.

use fedround_ir::tensor::{Conv2d, Op, Pool2d};
use serde_json::{Value, json};

type Attributes = Vec<(&'static str, Value)>;

/// Names and values, in the order of the op's fields.
pub(crate) fn attributes(op: &Op) -> Attributes {
    match op {
        Op::Full(value, shape) => vec![("value", json!(value)), ("shape", json!(shape))],
        Op::AddScalar(c) | Op::MulScalar(c) | Op::Axpy(c) | Op::MatMulAdd(c) => {
            vec![("c", json!(c))]
        }
        Op::Reshape(shape) | Op::Expand(shape) => vec![("shape", json!(shape))],
        Op::Permute(axes) => vec![("axes", json!(axes))],
        Op::Slice(ranges) | Op::SliceAssign(ranges) => vec![("ranges", json!(ranges))],
        Op::Cat(dim)
        | Op::SumDim(dim)
        | Op::MeanDim(dim)
        | Op::MaxDim(dim)
        | Op::LogSoftmax(dim)
        | Op::Gather(dim)
        | Op::ScatterAdd(dim) => vec![("dim", json!(dim))],
        Op::Conv2d(options) => conv(options),
        Op::Conv2dInputGrad(options, shape) | Op::Conv2dWeightGrad(options, shape) => {
            let mut all = conv(options);
            all.push(("shape", json!(shape)));
            all
        }
        Op::MaxPool2d(options)
        | Op::MaxPool2dGrad(options)
        | Op::AvgPool2d(options)
        | Op::AvgPool2dGrad(options) => pool(options),
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::Div
        | Op::Neg
        | Op::Exp
        | Op::Log
        | Op::Sqrt
        | Op::Relu
        | Op::ReluGrad
        | Op::Sum
        | Op::Dot
        | Op::Mean
        | Op::MatMul => vec![],
    }
}

fn conv(o: &Conv2d) -> Attributes {
    vec![
        ("stride", json!(o.stride)),
        ("padding", json!(o.padding)),
        ("dilation", json!(o.dilation)),
        ("groups", json!(o.groups)),
    ]
}

fn pool(o: &Pool2d) -> Attributes {
    vec![
        ("kernel", json!(o.kernel)),
        ("stride", json!(o.stride)),
        ("padding", json!(o.padding)),
        ("dilation", json!(o.dilation)),
        ("count_include_pad", json!(o.count_include_pad)),
    ]
}

/// The op's name and the attributes that say what its result's type does not: `sum_dim 1`.
pub(crate) fn label(op: &Op) -> String {
    let mut text = op.name().to_owned();
    for (name, value) in attributes(op) {
        let told = match (name, &value) {
            ("shape", _) => continue,
            ("padding", v) if *v == json!([0, 0]) => continue,
            ("dilation", v) if *v == json!([1, 1]) => continue,
            ("groups", v) if *v == json!(1) => continue,
            ("count_include_pad", _) => continue,
            ("value" | "c", Value::Number(c)) => match c.as_f64() {
                Some(c) if c.fract() == 0.0 && c.abs() < 100.0 => format!("{c}"),
                Some(c) => format!("{c:.3e}"),
                None => continue,
            },
            ("dim", v) => v.to_string(),
            ("kernel" | "stride" | "padding" | "dilation", Value::Array(pair)) => {
                let [a, b] = pair.as_slice() else { continue };
                format!("{name} {a}×{b}")
            }
            (_, v) => v.to_string(),
        };
        text += if text.len() == op.name().len() {
            " "
        } else {
            ", "
        };
        text += &told;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_tells_what_the_type_does_not() {
        let conv = Conv2d {
            stride: [1, 1],
            padding: [2, 2],
            dilation: [1, 1],
            groups: 1,
        };
        assert_eq!(label(&Op::Conv2d(conv)), "conv2d stride 1×1, padding 2×2");
        assert_eq!(label(&Op::SumDim(1)), "sum_dim 1");
        assert_eq!(label(&Op::Full(0.0, vec![3])), "full 0");
        assert_eq!(label(&Op::MulScalar(0.1)), "mul_scalar 1.000e-1");
        assert_eq!(label(&Op::Reshape(vec![3])), "reshape");
    }
}
