use fedround_ir::tensor::parse;

use super::*;
use crate::tensor::optimize;

/// Two clients' convolutions with a bias, and both gradients.
const TEXT: &str = "// fedround tensor v1
tensor.graph @f(
    %x: f32[2x6x5x4], %w: f32[8x3x3x2], %b: f32[8], %g: f32[2x8x3x5],
) {
  %0 = tensor.conv2d[stride [2, 1], padding [1, 1], groups 2] %x, %w, %b : f32[2x8x3x5]
  %1 = tensor.conv2d_input_grad[stride [2, 1], padding [1, 1], groups 2] %w, %g : f32[2x6x5x4]
  %2 = tensor.conv2d_weight_grad[stride [2, 1], padding [1, 1], groups 2] %x, %g : f32[8x3x3x2]
  return y = %0
  return x = %1
  return w = %2
}
";

fn lowered(to: ConvAlgorithm) -> Graph {
    let graph = parse(TEXT).unwrap().remove(0).1;
    let lowered = convolutions(&graph, |_, _| to).unwrap();
    lowered.verify().unwrap();
    optimize(lowered).unwrap()
}

fn count(graph: &Graph, name: &str) -> usize {
    graph
        .nodes
        .iter()
        .filter(|node| node.op.name() == name)
        .count()
}

#[test]
fn a_grouped_convolution_stays() {
    let graph = parse(TEXT).unwrap().remove(0).1;
    assert_eq!(
        lowered(ConvAlgorithm::Grouped).exact_text("f"),
        graph.exact_text("f")
    );
}

#[test]
fn unfolding_gives_one_product_each_and_shares_the_columns_of_x() {
    let graph = lowered(ConvAlgorithm::Unfold);
    assert!(graph.nodes.iter().all(|node| options(&node.op).is_none()));
    assert_eq!(count(&graph, "matmul"), 3);
    // Of `x` for the result and the weight, and of `g` for `x`.
    assert_eq!(count(&graph, "select"), 2);
}

#[test]
fn splitting_gives_one_op_for_each_group() {
    let graph = lowered(ConvAlgorithm::Split);
    for name in ["conv2d", "conv2d_input_grad", "conv2d_weight_grad"] {
        assert_eq!(count(&graph, name), 2, "{name}");
    }
    let whole = |node: &Node| options(&node.op).is_none_or(|o| o.groups == 1);
    assert!(graph.nodes.iter().all(whole));
    assert_eq!(count(&graph, "cat"), 3);
}

#[test]
fn the_caller_is_asked_with_the_factors_shapes() {
    let graph = parse(TEXT).unwrap().remove(0).1;
    let mut asked = vec![];
    convolutions(&graph, |op, [a, b]| {
        asked.push((op.name(), a.to_vec(), b.to_vec()));
        ConvAlgorithm::Grouped
    })
    .unwrap();
    let (x, w, y) = (vec![2, 6, 5, 4], vec![8, 3, 3, 2], vec![2, 8, 3, 5]);
    let expected = [
        ("conv2d", x.clone(), w.clone()),
        ("conv2d_input_grad", w, y.clone()),
        ("conv2d_weight_grad", x, y),
    ];
    assert_eq!(asked, expected);
}
