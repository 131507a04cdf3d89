//! Attributes of tensor ops, for labels and for JSON.

use fedround_ir::tensor::{Conv2d, Distribution, Op, Pool2d};
use serde_json::{Value, json};

type Attributes = Vec<(&'static str, Value)>;

/// Names and values, in the order of the op's fields.
pub(crate) fn attributes(op: &Op) -> Attributes {
    match op {
        Op::Full(value, shape) => vec![("value", json!(value)), ("shape", json!(shape))],
        Op::Constant(constant) => vec![("values", json!(&constant.values[..]))],
        Op::Random(distribution, stream, _) => random(*distribution, *stream),
        Op::AddScalar(c) | Op::MulScalar(c) | Op::Axpy(c) | Op::MatMulAdd(c) | Op::PowScalar(c) => {
            vec![("c", json!(c))]
        }
        Op::Clamp(low, high) => vec![("low", json!(low)), ("high", json!(high))],
        Op::Compare(order) => vec![("order", json!(order.name()))],
        Op::CompareScalar(order, c) => vec![("order", json!(order.name())), ("c", json!(c))],
        Op::Cast(dtype) => vec![("dtype", json!(dtype.name()))],
        Op::Reshape(shape) | Op::Expand(shape) => vec![("shape", json!(shape))],
        Op::Permute(axes) | Op::Flip(axes) => vec![("axes", json!(axes))],
        Op::Slice(ranges) | Op::SliceAssign(ranges) => vec![("ranges", json!(ranges))],
        Op::Cat(dim)
        | Op::SumDim(dim)
        | Op::MeanDim(dim)
        | Op::MaxDim(dim)
        | Op::LogSoftmax(dim)
        | Op::Gather(dim)
        | Op::ScatterAdd(dim)
        | Op::Select(dim)
        | Op::SelectAdd(dim) => vec![("dim", json!(dim))],
        Op::CumSum { dim, reverse } => vec![("dim", json!(dim)), ("reverse", json!(reverse))],
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
        Op::Fused(fused) => {
            let steps = fused.steps.iter().map(|(op, ins)| {
                let own: serde_json::Map<_, _> = attributes(op)
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect();
                json!({ "op": op.name(), "attributes": own, "operands": ins })
            });
            vec![
                ("shape", json!(fused.shape)),
                ("steps", json!(steps.collect::<Vec<_>>())),
                ("outputs", json!(fused.outputs)),
                ("sums", json!(fused.sums)),
                ("leading_sums", json!(fused.leading_sums)),
                ("channel_sums", json!(fused.channel_sums)),
            ]
        }
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::Div
        | Op::Pow
        | Op::Neg
        | Op::Exp
        | Op::Log
        | Op::Log1p
        | Op::Sqrt
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
        | Op::And
        | Op::Or
        | Op::Not
        | Op::Where
        | Op::StopGradient
        | Op::Sum
        | Op::Dot
        | Op::Mean
        | Op::MatMul => vec![],
    }
}

fn random(distribution: Distribution, stream: usize) -> Attributes {
    let (name, parameters) = match distribution {
        Distribution::Uniform(low, high) => ("uniform", vec![low, high]),
        Distribution::Normal(mean, deviation) => ("normal", vec![mean, deviation]),
        Distribution::Bernoulli(p) => ("bernoulli", vec![p]),
        Distribution::GaussianNoise => ("gaussian_noise", vec![]),
        Distribution::LaplaceNoise => ("laplace_noise", vec![]),
    };
    vec![
        ("distribution", json!(name)),
        ("parameters", json!(parameters)),
        ("stream", json!(stream)),
    ]
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

/// The op's name with the attributes that do not follow from the type of its result: `sum_dim 1`.
pub(crate) fn label(op: &Op) -> String {
    let mut text = op.name().to_owned();
    for (name, value) in attributes(op) {
        let told = match (name, &value) {
            ("steps", Value::Array(steps)) => {
                let names = steps.iter().filter_map(|step| step["op"].as_str());
                names.collect::<Vec<_>>().join(" ")
            }
            // Which results a fused op has is in their types.
            ("shape" | "values" | "parameters" | "dtype", _)
            | ("outputs" | "sums" | "leading_sums" | "channel_sums", _)
            | ("reverse", Value::Bool(false)) => {
                continue;
            }
            ("reverse", _) => "reverse".to_owned(),
            ("order" | "distribution", Value::String(text)) => text.clone(),
            ("stream", v) => format!("stream {v}"),
            ("padding", v) if *v == json!([0, 0]) => continue,
            ("dilation", v) if *v == json!([1, 1]) => continue,
            ("groups", v) if *v == json!(1) => continue,
            ("count_include_pad", _) => continue,
            ("value" | "c" | "low" | "high", Value::Number(c)) => match c.as_f64() {
                Some(c) if c.to_string().len() < 8 => c.to_string(),
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

/// Characters of a line of a label, of which a fused op may have many.
const LONGEST: usize = 44;

/// The [`label`] in lines that fit a box.
pub(crate) fn label_lines(op: &Op) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in label(op).split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= LONGEST => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fedround_ir::tensor::Fused;

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
        assert_eq!(label(&Op::MulScalar(0.1)), "mul_scalar 0.1");
        assert_eq!(label(&Op::MulScalar(1.0 / 3.0)), "mul_scalar 3.333e-1");
        assert_eq!(label(&Op::Reshape(vec![3])), "reshape");
    }

    fn fused(steps: usize) -> Op {
        Op::Fused(Arc::new(Fused {
            shape: vec![4],
            steps: (0..steps).map(|i| (Op::Add, vec![i, i])).collect(),
            outputs: vec![steps],
            sums: vec![],
            leading_sums: vec![],
            channel_sums: vec![],
        }))
    }

    #[test]
    fn a_fused_op_is_labelled_by_its_steps_in_lines_of_bounded_length() {
        assert_eq!(label(&fused(2)), "fused add add");
        assert_eq!(label_lines(&fused(2)), ["fused add add"]);
        let lines = label_lines(&fused(40));
        assert_eq!(lines.join(" "), label(&fused(40)));
        assert!(lines.len() > 2 && lines.iter().all(|line| line.len() <= LONGEST));
    }
}
