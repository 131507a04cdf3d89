//! `mixed-bf16`, `mixed-f16`: matrix products and convolutions read 16-bit floats and return `f32`.
//!
//! Each operand is rounded once, even if several products read it. If it is a view, the tensor behind the
//! view is rounded, so that a weight and its transpose share one rounding, and so do a layer's input in
//! the forward pass and in the gradient of the weight. Everything else stays `f32`: parameters, updates,
//! sums, losses, statistics (Micikevicius et al. 2018, "Mixed Precision Training", section 3).

use std::collections::HashMap;

use fedround_ir::Loc;
use fedround_ir::tensor::{DType, Graph, GraphError, Node, Op, TypeError, Val};

use super::dce::dce;
use super::rewrite::Rewrite;

/// Rounds the operands of products to `to`, a 16-bit float. For graphs whose gradients are taken.
///
/// # Errors
///
/// The graph is not well formed.
pub fn mixed_precision(graph: &Graph, to: DType) -> Result<Graph, GraphError> {
    let mut rounded = HashMap::new();
    let mixed = Rewrite::run(graph, |rewrite, mut node| {
        for i in factors(&node.op) {
            if let Some(v) = node.ins.get_mut(i) {
                *v = round(rewrite, &mut rounded, *v, to, node.loc)?;
            }
        }
        rewrite.keep(node)
    })?;
    Ok(dce(&mixed))
}

/// Which operands of an op are multiplied with one another and summed.
fn factors(op: &Op) -> std::ops::Range<usize> {
    match op {
        Op::MatMul | Op::Conv2d(_) | Op::Conv2dInputGrad(..) | Op::Conv2dWeightGrad(..) => 0..2,
        Op::MatMulAdd(_) => 2..4,
        _ => 0..0,
    }
}

fn round(
    rewrite: &mut Rewrite,
    rounded: &mut HashMap<Val, Val>,
    v: Val,
    to: DType,
    loc: Loc,
) -> Result<Val, TypeError> {
    if rewrite.new.type_of(v).dtype != DType::F32 {
        return Ok(v);
    }
    if let Some(known) = rounded.get(&v) {
        return Ok(*known);
    }
    let view = rewrite.new.producer(v);
    let view = view.filter(|node| is_view(node, &rewrite.new));
    let new = match view.cloned() {
        Some(mut view) => {
            view.ins[0] = round(rewrite, rounded, view.ins[0], to, loc)?;
            rewrite.new.push(view.op, &view.ins, view.loc)?
        }
        None => rewrite.new.push(Op::Cast(to), &[v], loc)?,
    };
    rounded.insert(v, new);
    Ok(new)
}

/// Whether a node gives elements of its first operand in other places, no fewer than there are.
fn is_view(node: &Node, graph: &Graph) -> bool {
    match node.op {
        Op::Reshape(_) | Op::Permute(_) | Op::Expand(_) => true,
        Op::Select(_) => graph.type_of(node.ins[0]).len() <= graph.type_of(node.outs[0]).len(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use fedround_ir::tensor::parse;

    use super::*;

    fn graph(text: &str) -> Graph {
        let text = format!("// fedround tensor v1\n{text}");
        parse(&text).unwrap().remove(0).1
    }

    fn is(text: &str, to: DType, expected: &str) {
        let mixed = mixed_precision(&graph(text), to).unwrap();
        mixed.verify().unwrap();
        assert_eq!(mixed.exact_text("f"), expected);
        // What is printed reads back, and a second run has nothing to do.
        assert_eq!(graph(expected).exact_text("f"), expected);
        let again = mixed_precision(&mixed, to).unwrap();
        assert_eq!(again.exact_text("f"), expected);
    }

    #[test]
    fn a_weight_is_rounded_once_for_both_directions() {
        is(
            "tensor.graph @f(
    %x: f32[2x3], %w: f32[3x4], %g: f32[2x4],
) {
  %0 = tensor.matmul %x, %w : f32[2x4]
  %1 = tensor.permute[1, 0] %w : f32[4x3]
  %2 = tensor.matmul %g, %1 : f32[2x3]
  %3 = tensor.permute[1, 0] %x : f32[3x2]
  %4 = tensor.matmul %3, %g : f32[3x4]
  %5 = tensor.sub %w, %4 : f32[3x4]
  return y = %0
  return x = %2
  return w = %5
}
",
            DType::BF16,
            "tensor.graph @f(
    %x: f32[2x3], %w: f32[3x4], %g: f32[2x4],
) {
  %0 = tensor.cast %x : bf16[2x3]
  %1 = tensor.cast %w : bf16[3x4]
  %2 = tensor.matmul %0, %1 : f32[2x4]
  %3 = tensor.cast %g : bf16[2x4]
  %4 = tensor.permute[1, 0] %1 : bf16[4x3]
  %5 = tensor.matmul %3, %4 : f32[2x3]
  %6 = tensor.permute[1, 0] %0 : bf16[3x2]
  %7 = tensor.matmul %6, %3 : f32[3x4]
  %8 = tensor.sub %w, %7 : f32[3x4]
  return y = %2
  return x = %5
  return w = %8
}
",
        );
    }

    #[test]
    fn a_bias_is_added_in_full() {
        is(
            "tensor.graph @f(
    %x: f32[2x3x5x5], %w: f32[4x3x3x3], %b: f32[4],
) {
  %0 = tensor.conv2d[stride [1, 1], padding [0, 0]] %x, %w, %b : f32[2x4x3x3]
  %1 = tensor.sum %0 : f32[1]
  return y = %1
}
",
            DType::F16,
            "tensor.graph @f(
    %x: f32[2x3x5x5], %w: f32[4x3x3x3], %b: f32[4],
) {
  %0 = tensor.cast %x : f16[2x3x5x5]
  %1 = tensor.cast %w : f16[4x3x3x3]
  %2 = tensor.conv2d[stride [1, 1], padding [0, 0]] %0, %1, %b : f32[2x4x3x3]
  %3 = tensor.sum %2 : f32[1]
  return y = %3
}
",
        );
    }

    #[test]
    fn what_is_no_product_stays() {
        let text = "tensor.graph @f(
    %x: f32[2x3],
) {
  %0 = tensor.mul %x, %x : f32[2x3]
  %1 = tensor.sum %0 : f32[1]
  return y = %1
}
";
        is(text, DType::BF16, text);
    }

    #[test]
    fn arithmetic_on_short_floats_is_ill_typed() {
        let mut g = Graph::default();
        let at = Loc::caller();
        let x = g.input("x", fedround_ir::tensor::TensorType::f32([2, 2]));
        let x = g.push(Op::Cast(DType::BF16), &[x], at).unwrap();
        let y = g.push(Op::Cast(DType::F32), &[x], at).unwrap();
        for op in [Op::Add, Op::Mul, Op::Div, Op::MatMul] {
            let error = g.push(op, &[x, y], at).unwrap_err().to_string();
            assert!(error.contains("found (bf16[2x2], f32[2x2])"), "{error}");
        }
        for op in [
            Op::Neg,
            Op::Relu,
            Op::Sum,
            Op::Cast(DType::F16),
            Op::Cast(DType::I32),
        ] {
            g.push(op, &[x], at).unwrap_err();
        }
        g.push(Op::MatMul, &[x, x], at).unwrap();
    }
}
