//! Reading graphs: what is printed comes back, what is wrong is said.

use super::super::{Cmp, Constant, Distribution, equal};
use super::*;
use crate::text::header;

const TEXT: &str = r#"// fedround tensor v1
tensor.graph @step(
    %x: f32[2x1x4x4], %conv.0.weight: f32[3x1x3x3], %"a b": f32[1],
    %i: i32[2], %s: f32[],
) {
  %0 = tensor.conv2d[stride [1, 1], padding [1, 1]] %x, %conv.0.weight : f32[2x3x4x4]
  %1, %2 = tensor.max_pool2d[kernel [2, 2], stride [2, 2]] %0 : f32[2x3x2x2], i32[2x3x2x2]
  %3 = tensor.reshape %1 : f32[2x12]
  %4 = tensor.slice[0..2, 3..7] %3 : f32[2x4]
  %5 = tensor.permute[1, 0] %4 : f32[4x2]
  %6 = tensor.mul_scalar[0.1] %5 : f32[4x2]
  %7 = tensor.cumsum[dim 1, reverse] %6 : f32[4x2]
  %8 = tensor.compare_scalar[gt, -1e-30] %7 : bool[4x2]
  %9 = tensor.cast %8 : f32[4x2]
  %10 = tensor.random[normal, 0, 0.5, stream 3] : f32[4x2]
  %11 = tensor.constant[1, 2.5, inf, -0] : f32[2x2]
  %12 = tensor.fused[add($0, $1); mul_scalar[0.1]($2); give $3] %10, %10 : f32[4x2]
  %13 = tensor.fused[exp($0); over [4, 2]; sum $1] %12 : f32[1]
  return out.0.w = %10
  return "a b" = %9
  return loss = %"a b"
}

tensor.graph @empty(
) {
}
"#;

#[test]
fn what_is_printed_comes_back() {
    let graphs = parse(TEXT).unwrap();
    let texts = graphs.iter().map(|(name, graph)| graph.exact_text(name));
    let texts: Vec<String> = texts.collect();
    let text = header("tensor", TENSOR_VERSION) + "\n" + &texts.join("\n");
    assert_eq!(text, TEXT);
    assert_eq!(graphs[0].1.inputs[2].0, "a b");
    let ops: Vec<&Op> = graphs[0].1.nodes.iter().map(|node| &node.op).collect();
    assert!(ops.contains(&&Op::CompareScalar(Cmp::Greater, -1e-30)));
    assert!(ops.contains(&&Op::Random(Distribution::Normal(0.0, 0.5), 3, vec![4, 2])));
    assert!(
        ops.iter().any(
            |op| matches!(op, Op::Constant(Constant { values, .. }) if values[2].is_infinite())
        )
    );
}

#[test]
fn locations_and_numbers_do_not_matter_for_equality() {
    let graphs = parse(TEXT).unwrap();
    let moved = TEXT
        .replace("%11 =", "\n\n  %eleven =")
        .replace("%3", "%three");
    let moved = parse(&moved).unwrap();
    assert!(equal(&graphs[0].1, &moved[0].1));
    let other = parse(&TEXT.replace("0.1]", "0.2]")).unwrap();
    assert!(!equal(&graphs[0].1, &other[0].1));
}

/// What is said about the text in which `from` is `to`.
fn error(from: &str, to: &str) -> String {
    assert!(TEXT.contains(from), "{from}");
    parse(&TEXT.replacen(from, to, 1)).unwrap_err().to_string()
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    let cases = [
        (
            "tensor v1",
            "tensor v9",
            "1:1: version 9 of the tensor dialect is newer",
        ),
        (
            "tensor v1",
            "tensor 1",
            "1:1: expected `// fedround tensor v1`, found `// fedround tensor 1`",
        ),
        (
            "tensor.reshape",
            "tensor.rehsape",
            "8:8: unknown op `tensor.rehsape` (did you mean `tensor.reshape`?)",
        ),
        ("tensor.reshape", "reshape", "8:8: unknown op `reshape`"),
        ("f32[2x12]", "f32[2x13]", "8:8: `tensor.reshape` expected"),
        (
            "f32[2x12]",
            "i32[2x12]",
            "8:28: expected `f32[2x12]`, the type of the result, found `i32[2x12]`",
        ),
        (
            "f32[2x12]",
            "f33[2x12]",
            "8:28: unknown element type `f33` (did you mean `f32`?)",
        ),
        (
            "f32[2x12]",
            "f32[2y12]",
            "8:32: expected a shape of less than 2^31 elements",
        ),
        (
            "f32[2x12]",
            "f32[99999x99999]",
            "8:32: expected a shape of less than 2^31 elements",
        ),
        (
            "f32[2x12]",
            "f32[99999999999999999999]",
            "8:32: expected a shape of less than 2^31 elements",
        ),
        (
            "f32[2x3x2x2], i32[2x3x2x2]",
            "f32[2x3x2x2]",
            "7:65: expected a type for each of 2 results, found 1 types",
        ),
        (
            "[2, 2], stride [2, 2]",
            "[2, 2]",
            "7:12: expected `stride [vertical, horizontal]` for `tensor.max_pool2d`, found nothing",
        ),
        (
            "kernel [2, 2]",
            "kernel [2]",
            "7:30: expected `kernel [vertical, horizontal]` for `tensor.max_pool2d`, found `kernel [2]`",
        ),
        (
            "dim 1, reverse",
            "dim 1, revers",
            "12:29: expected no further attribute for `tensor.cumsum`, found `revers`",
        ),
        (
            "dim 1, reverse",
            "axis 1",
            "12:22: expected `dim` and a number for `tensor.cumsum`, found `axis 1`",
        ),
        (
            "[0.1]",
            "[_]",
            "11:8: expected a number (snapshots leave it out, `--exact` prints it) for `tensor.mul_scalar`",
        ),
        (
            "[0.1]",
            "",
            "11:8: expected a number for `tensor.mul_scalar`, found nothing",
        ),
        (
            "gt,",
            "bigger,",
            "13:30: expected one of eq, ne, gt, ge, lt, le for `tensor.compare_scalar`, found `bigger`",
        ),
        ("3..7", "7..3", "9:8: `tensor.slice` expected"),
        ("%3 :", "%33 :", "9:33: value `%33` is not defined here"),
        (
            "%2 = tensor.max",
            "%1 = tensor.max",
            "7:7: value `%1` is defined twice",
        ),
        (
            "%i: i32[2]",
            "%x: i32[2]",
            "4:5: value `%x` is defined twice",
        ),
        (
            "[1, 2.5, inf, -0]",
            "[1, 2.5]",
            "16:9: `tensor.constant` expected as many values as elements",
        ),
        (
            "  return loss",
            "  retrun loss",
            "21:3: expected an op, `return` or `}`, found `retrun`",
        ),
        (
            "out.0.w = %10\n",
            "out.0.w = %22\n",
            "19:20: value `%22` is not defined here",
        ),
        (
            "add($0, $1)",
            "matmul($0, $1)",
            "17:22: expected an elementwise op instead of `matmul` for `tensor.fused`, found `matmul; mul_scalar`",
        ),
        (
            "mul_scalar[0.1]($2)",
            "mul_scalar[_]($2)",
            "expected a number (snapshots leave it out, `--exact` prints it) for `mul_scalar` for `tensor.fused`",
        ),
        (
            "exp($0)",
            "exp(%10)",
            "18:26: expected `$` and the number of a value, found `%10`",
        ),
        (
            "give $3",
            "give $9",
            "17:9: `tensor.fused` expected operands that broadcast to [4, 2]",
        ),
        (
            "tensor.graph @empty(",
            "tensor.grph @empty(",
            "24:1: expected `tensor.graph`, found `tensor.grph`",
        ),
    ];
    let wrong = cases.into_iter().filter_map(|(from, to, message)| {
        let error = error(from, to);
        (!error.contains(message)).then(|| format!("{from} -> {to}\nexpected {message}\n{error}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn snapshots_lack_literals() {
    let (name, graph) = parse(TEXT).unwrap().remove(0);
    let text = graph.text(&name);
    assert!(text.contains("mul_scalar[_]") && text.contains("random[normal, 0, _, stream 3]"));
    assert!(text.contains("constant[_]"), "{text}");
}
