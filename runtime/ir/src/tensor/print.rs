//! Text form of a graph.

use std::fmt::{self, Write as _};

use super::{Conv2d, Distribution, Graph, Op, Pool2d, Val};

impl Graph {
    /// The graph's text, with values renumbered in order of definition. Float literals print as
    /// `_` unless they are small whole numbers, so that a snapshot does not depend on `1/N`.
    pub fn text(&self, name: &str) -> String {
        let mut names = vec![String::new(); self.types.len()];
        for (input, val) in &self.inputs {
            names[val.0 as usize] = format!("%{input}");
        }
        let mut next = 0;
        let mut out = String::new();
        let arg =
            |v: &Val, names: &[String]| format!("{}: {}", names[v.0 as usize], self.type_of(*v));
        let args: Vec<String> = self.inputs.iter().map(|(_, v)| arg(v, &names)).collect();
        _ = writeln!(out, "tensor.graph @{name}(");
        for chunk in args.chunks(3) {
            _ = writeln!(out, "    {},", chunk.join(", "));
        }
        out.push_str(") {\n");
        for node in &self.nodes {
            for v in &node.outs {
                names[v.0 as usize] = format!("%{next}");
                next += 1;
            }
            let list = |vals: &[Val]| {
                let names: Vec<&str> = vals.iter().map(|v| names[v.0 as usize].as_str()).collect();
                names.join(", ")
            };
            let ins = list(&node.ins);
            _ = writeln!(
                out,
                "  {} = tensor.{}{}{}{} : {}",
                list(&node.outs),
                node.op.name(),
                Attributes(&node.op),
                if ins.is_empty() { "" } else { " " },
                ins,
                self.type_of(node.outs[0]),
            );
        }
        for (label, val) in &self.outputs {
            _ = writeln!(out, "  return {label} = {}", names[val.0 as usize]);
        }
        out.push_str("}\n");
        out
    }
}

/// What an op carries besides operands, printed between its name and them.
pub(crate) struct Attributes<'a>(pub &'a Op);

impl fmt::Display for Attributes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Op::Full(c, _)
            | Op::AddScalar(c)
            | Op::MulScalar(c)
            | Op::Axpy(c)
            | Op::MatMulAdd(c) => {
                if c.fract() == 0.0 && c.abs() < 100.0 {
                    write!(f, "[{c}]")
                } else {
                    f.write_str("[_]")
                }
            }
            Op::PowScalar(c) if c.fract() == 0.0 => write!(f, "[{c}]"),
            Op::PowScalar(_) | Op::Clamp(..) | Op::Constant(_) => f.write_str("[_]"),
            Op::Random(d, stream, _) => {
                let name = match d {
                    Distribution::Uniform(..) => "uniform",
                    Distribution::Normal(..) => "normal",
                    Distribution::Bernoulli(_) => "bernoulli",
                };
                write!(f, "[{name}, stream {stream}]")
            }
            Op::Compare(cmp) => write!(f, "[{}]", cmp.name()),
            Op::CompareScalar(cmp, c) if c.fract() == 0.0 => write!(f, "[{} {c}]", cmp.name()),
            Op::CompareScalar(cmp, _) => write!(f, "[{} _]", cmp.name()),
            Op::CumSum { dim, reverse } => {
                write!(f, "[dim {dim}{}]", if *reverse { ", reverse" } else { "" })
            }
            Op::Permute(axes) | Op::Flip(axes) => write!(f, "{axes:?}"),
            Op::Slice(ranges) | Op::SliceAssign(ranges) => {
                let ranges: Vec<String> = ranges.iter().map(|(a, b)| format!("{a}..{b}")).collect();
                write!(f, "[{}]", ranges.join(", "))
            }
            Op::Cat(d)
            | Op::SumDim(d)
            | Op::MeanDim(d)
            | Op::MaxDim(d)
            | Op::LogSoftmax(d)
            | Op::Gather(d)
            | Op::ScatterAdd(d)
            | Op::Select(d)
            | Op::SelectAdd(d) => write!(f, "[dim {d}]"),
            Op::Conv2d(o) | Op::Conv2dInputGrad(o, _) | Op::Conv2dWeightGrad(o, _) => conv(f, o),
            Op::MaxPool2d(o) | Op::MaxPool2dGrad(o) | Op::AvgPool2d(o) | Op::AvgPool2dGrad(o) => {
                pool(f, o)
            }
            Op::Fused(fused) => {
                let steps = fused.steps.iter().map(|(op, ins)| {
                    let ins: Vec<String> = ins.iter().map(|v| format!("${v}")).collect();
                    format!("{}{}({})", op.name(), Attributes(op), ins.join(", "))
                });
                let steps: Vec<String> = steps.collect();
                write!(f, "[{}", steps.join("; "))?;
                if !fused.sums.is_empty() {
                    let sums: Vec<String> = fused.sums.iter().map(|v| format!("${v}")).collect();
                    write!(f, "; sum {}", sums.join(", "))?;
                }
                let outs: Vec<String> = fused.outputs.iter().map(|v| format!("${v}")).collect();
                write!(f, "; give {}]", outs.join(", "))
            }
            _ => Ok(()),
        }
    }
}

fn conv(f: &mut fmt::Formatter<'_>, o: &Conv2d) -> fmt::Result {
    write!(f, "[stride {:?}, padding {:?}", o.stride, o.padding)?;
    if o.dilation != [1, 1] {
        write!(f, ", dilation {:?}", o.dilation)?;
    }
    if o.groups != 1 {
        write!(f, ", groups {}", o.groups)?;
    }
    f.write_str("]")
}

fn pool(f: &mut fmt::Formatter<'_>, o: &Pool2d) -> fmt::Result {
    write!(f, "[kernel {:?}, stride {:?}", o.kernel, o.stride)?;
    if o.padding != [0, 0] {
        write!(f, ", padding {:?}", o.padding)?;
    }
    f.write_str("]")
}
