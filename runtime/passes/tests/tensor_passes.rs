//! Each pass on tensor graphs, applied to a small graph: its text before and after.

use fedround_ir::tensor::{Graph, parse};
use fedround_passes::{PassManager, PassTarget, Request};

/// A product, and a product of its result.
const STEP: &str = "tensor.graph @step(%w: f32[3x4], %x: f32[2x3], %g: f32[2x4]) {
  %0 = tensor.matmul %x, %w : f32[2x4]
  %1 = tensor.sub %0, %g : f32[2x4]
  %2 = tensor.permute[1, 0] %x : f32[3x2]
  %3 = tensor.matmul %2, %1 : f32[3x4]
  return y = %0
  return w = %3
}";

/// A graph for a pass, as `pass` or `pass=number`.
const CASES: [(&str, &str); 27] = [
    (
        "pool-first",
        "tensor.graph @forward(%x: f32[2x3x4x4]) {
  %0 = tensor.relu %x : f32[2x3x4x4]
  %1, %2 = tensor.max_pool2d[kernel [2, 2], stride [2, 2]] %0 : f32[2x3x2x2], i32[2x3x2x2]
  return y = %1
}",
    ),
    (
        "fold",
        "tensor.graph @step(%x: f32[2x3]) {
  %0 = tensor.full[2.0] : f32[2x3]
  %1 = tensor.mul %x, %0 : f32[2x3]
  %2 = tensor.mul_scalar[3.0] %1 : f32[2x3]
  %3 = tensor.reshape %2 : f32[6]
  %4 = tensor.reshape %3 : f32[3x2]
  %5 = tensor.full[0.0] : f32[3x2]
  %6 = tensor.add %4, %5 : f32[3x2]
  return y = %6
}",
    ),
    (
        "cse",
        "tensor.graph @step(%x: f32[2x3], %w: f32[3x4]) {
  %0 = tensor.matmul %x, %w : f32[2x4]
  %1 = tensor.relu %0 : f32[2x4]
  %2 = tensor.matmul %x, %w : f32[2x4]
  %3 = tensor.relu %2 : f32[2x4]
  %4 = tensor.add %1, %3 : f32[2x4]
  return y = %4
}",
    ),
    (
        "dce",
        "tensor.graph @step(%x: f32[2x3], %w: f32[3]) {
  %0 = tensor.exp %x : f32[2x3]
  %1 = tensor.sum %0 : f32[1]
  %2 = tensor.neg %w : f32[3]
  return y = %2
}",
    ),
    (
        "batch-clients=3",
        "tensor.graph @step(%w: f32[4x5], %x: f32[2x4], %lr: f32[1]) {
  %0 = tensor.matmul %x, %w : f32[2x5]
  %1 = tensor.log_softmax[dim 1] %0 : f32[2x5]
  %2 = tensor.permute[1, 0] %x : f32[4x2]
  %3 = tensor.matmul %2, %1 : f32[4x5]
  %4 = tensor.reshape %lr : f32[1x1]
  %5 = tensor.mul %3, %4 : f32[4x5]
  %6 = tensor.sub %w, %5 : f32[4x5]
  return w = %6
}",
    ),
    (
        "sink-views",
        "tensor.graph @step(%x: f32[2x3x4]) {
  %0 = tensor.permute[2, 0, 1] %x : f32[4x2x3]
  %1 = tensor.relu %0 : f32[4x2x3]
  %2 = tensor.permute[1, 2, 0] %1 : f32[2x3x4]
  return y = %2
}",
    ),
    (
        "unfold-convolutions",
        "tensor.graph @step(%x: f32[2x2x3x3], %w: f32[4x1x2x2], %b: f32[4]) {
  %0 = tensor.conv2d[stride [1, 1], padding [0, 0], groups 2] %x, %w, %b : f32[2x4x2x2]
  return y = %0
}",
    ),
    (
        "split-convolutions",
        "tensor.graph @step(%x: f32[2x2x3x3], %w: f32[4x1x2x2], %b: f32[4]) {
  %0 = tensor.conv2d[stride [1, 1], padding [0, 0], groups 2] %x, %w, %b : f32[2x4x2x2]
  return y = %0
}",
    ),
    (
        "parametrize-constants",
        "tensor.graph @step(%x: f32[2x3]) {
  %0 = tensor.constant[0.5, 1.5, 2.5] : f32[3]
  %1 = tensor.reshape %0 : f32[1x3]
  %2 = tensor.add %x, %1 : f32[2x3]
  %3 = tensor.random[bernoulli, 0.5, stream 0] : f32[2x3]
  %4 = tensor.mul %2, %3 : f32[2x3]
  return y = %4
}",
    ),
    ("mixed-bf16", STEP),
    ("mixed-f16", STEP),
    (
        "lift-expands",
        "tensor.graph @step(%x: f32[8x4x2x3], %mean: f32[1x4x1]) {
  %0 = tensor.expand %mean : f32[8x4x1]
  %1 = tensor.mul_scalar[0.25] %0 : f32[8x4x1]
  %2 = tensor.expand %1 : f32[8x4x6]
  %3 = tensor.reshape %2 : f32[8x4x2x3]
  %4 = tensor.add %x, %3 : f32[8x4x2x3]
  return y = %4
}",
    ),
    (
        "fuse",
        "tensor.graph @step(%w: f32[3x4], %x: f32[2x3], %g: f32[2x4], %lr: f32[1]) {
  %0 = tensor.permute[1, 0] %x : f32[3x2]
  %1 = tensor.matmul %0, %g : f32[3x4]
  %2 = tensor.reshape %lr : f32[1x1]
  %3 = tensor.mul %1, %2 : f32[3x4]
  %4 = tensor.sub %w, %3 : f32[3x4]
  return w = %4
}",
    ),
    (
        "fuse-elementwise",
        "tensor.graph @step(%x: f32[2x3], %y: f32[2x3]) {
  %0 = tensor.sub %x, %y : f32[2x3]
  %1 = tensor.mul %0, %0 : f32[2x3]
  %2 = tensor.sum %1 : f32[1]
  %3 = tensor.exp %1 : f32[2x3]
  return norm = %2
  return z = %3
}",
    ),
    (
        "early-updates",
        "tensor.graph @step(%w: f32[128x128], %v: f32[128x128], %g: f32[128x128], %lr: f32[1]) {
  %0 = tensor.exp %g : f32[128x128]
  %1 = tensor.mul %w, %g : f32[128x128]
  %2 = tensor.exp %1 : f32[128x128]
  %3 = tensor.axpy[-1.0] %w, %lr, %0 : f32[128x128]
  %4 = tensor.axpy[-1.0] %v, %lr, %2 : f32[128x128]
  return w = %3
  return v = %4
}",
    ),
    (
        "rematerialize",
        "tensor.graph @step(%x: f32[16x16x32x32], %s: f32[1x16x1x1], %w: f32[16x16x1x1]) {
  %0 = tensor.fused[mul($0, $1); relu($2); give $3] %x, %s : f32[16x16x32x32]
  %1 = tensor.conv2d[stride [1, 1], padding [0, 0]] %0, %w : f32[16x16x32x32]
  %2 = tensor.conv2d[stride [1, 1], padding [0, 0]] %1, %w : f32[16x16x32x32]
  %3 = tensor.conv2d_weight_grad[stride [1, 1], padding [0, 0]] %0, %2 : f32[16x16x1x1]
  %4 = tensor.mul %x, %2 : f32[16x16x32x32]
  return w = %3
  return y = %4
}",
    ),
    (
        "one-hot",
        "tensor.graph @step(%x: f32[2x3], %y: i32[2x1]) {
  %0 = tensor.gather[dim 1] %x, %y : f32[2x1]
  %1 = tensor.full[-0.5] : f32[2x1]
  %2 = tensor.full[0] : f32[2x3]
  %3 = tensor.scatter_add[dim 1] %2, %y, %1 : f32[2x3]
  return picked = %0
  return gradient = %3
}",
    ),
    (
        "scale-first",
        "tensor.graph @step(%x: f32[2x3]) {
  %0 = tensor.exp %x : f32[2x3]
  %1 = tensor.mean %0 : f32[1]
  %2 = tensor.neg %1 : f32[1]
  return loss = %2
}",
    ),
    (
        "join-products",
        "tensor.graph @step(%x: f32[2x8], %g: f32[2x8], %y: f32[1x8], %h: f32[1x8], %d: f32[8x8]) {
  %0 = tensor.permute[1, 0] %x : f32[8x2]
  %1 = tensor.matmul %0, %g : f32[8x8]
  %2 = tensor.permute[1, 0] %y : f32[8x1]
  %3 = tensor.matmul %2, %h : f32[8x8]
  %4 = tensor.add %1, %d : f32[8x8]
  %5 = tensor.add %4, %3 : f32[8x8]
  return w = %5
}",
    ),
    (
        "plane-sums",
        "tensor.graph @step(%x: f32[2x3x64x64], %m: f32[1x3x1x1]) {
  %0, %1, %2 = tensor.fused[sub($0, $1); mul($2, $2); relu($2); sum_leading $4; give $2, $3] %x, %m : f32[2x3x64x64], f32[2x3x64x64], f32[1x3x64x64]
  %3 = tensor.reshape %1 : f32[2x3x4096]
  %4 = tensor.mean_dim[dim 2] %3 : f32[2x3x1]
  %5 = tensor.mean_dim[dim 0] %4 : f32[1x3x1]
  %6 = tensor.sum_dim[dim 2] %2 : f32[1x3x1x64]
  %7 = tensor.sum_dim[dim 3] %6 : f32[1x3x1x1]
  return x = %0
  return variance = %5
  return sum = %7
}",
    ),
    (
        "join-sums",
        "tensor.graph @step(%w: f32[2x3], %b: f32[3], %l: f32[1]) {
  %0 = tensor.mul %w, %w : f32[2x3]
  %1 = tensor.sum %0 : f32[1]
  %2 = tensor.mul %b, %b : f32[3]
  %3 = tensor.sum %2 : f32[1]
  %4 = tensor.add %l, %1 : f32[1]
  %5 = tensor.add %4, %3 : f32[1]
  return loss = %5
}",
    ),
    (
        "channel-rows",
        "tensor.graph @step(%x: f32[2x3x6x6], %i: i32[2x3x3x3], %g: f32[2x3x3x3], %c: f32[3]) {
  %0 = tensor.max_pool2d_grad[kernel [2, 2], stride [2, 2]] %x, %g, %i : f32[2x3x6x6]
  %1 = tensor.reshape %0 : f32[2x3x36]
  %2 = tensor.mean_dim[dim 2] %1 : f32[2x3x1]
  %3 = tensor.mean_dim[dim 0] %2 : f32[1x3x1]
  %4 = tensor.reshape %3 : f32[1x3x1x1]
  %5 = tensor.sub %0, %4 : f32[2x3x6x6]
  %6 = tensor.reshape %c : f32[1x3x1x1]
  %7 = tensor.mul %5, %6 : f32[2x3x6x6]
  return y = %7
}",
    ),
    (
        "known-sums",
        "tensor.graph @step(%x: f32[8x4], %g: f32[8x4], %s: f32[1x4], %t: f32[1x4]) {
  %0 = tensor.sum_dim[dim 0] %g : f32[1x4]
  %1 = tensor.mean_dim[dim 0] %x : f32[1x4]
  %2 = tensor.sub %x, %1 : f32[8x4]
  %3 = tensor.mul %2, %t : f32[8x4]
  %4 = tensor.mul %g, %s : f32[8x4]
  %5 = tensor.add %4, %3 : f32[8x4]
  %6 = tensor.sum_dim[dim 0] %5 : f32[1x4]
  return shift = %0
  return mean = %6
}",
    ),
    (
        "channel-sums",
        "tensor.graph @step(%x: f32[2x3x6x6], %i: i32[2x3x3x3], %g: f32[2x3x3x3]) {
  %0 = tensor.max_pool2d_grad[kernel [2, 2], stride [2, 2]] %x, %g, %i : f32[2x3x6x6]
  %1 = tensor.reshape %0 : f32[2x3x36]
  %2 = tensor.sum_dim[dim 2] %1 : f32[2x3x1]
  %3 = tensor.sum_dim[dim 0] %2 : f32[1x3x1]
  %4 = tensor.reshape %3 : f32[3]
  return b = %4
}",
    ),
    (
        "recompute",
        "tensor.graph @step(%w: f32[2x3], %v: f32[2x3], %g: f32[2x2], %x: f32[2x3]) {
  %0 = tensor.sub %w, %v : f32[2x3]
  %1 = tensor.sum %0 : f32[1]
  %2 = tensor.matmul %g, %x : f32[2x3]
  %3 = tensor.add %0, %2 : f32[2x3]
  return norm = %1
  return g = %3
}",
    ),
    (
        "sink-reshapes",
        "tensor.graph @step(%b: f32[3], %g: f32[2x3], %lr: f32[1]) {
  %0 = tensor.sum_dim[dim 0] %g : f32[1x3]
  %1 = tensor.reshape %0 : f32[3]
  %2 = tensor.mul %1, %lr : f32[3]
  %3 = tensor.sub %b, %2 : f32[3]
  return b = %3
}",
    ),
    (
        "fusion-order",
        "tensor.graph @step(%w: f32[3x4], %b: f32[1x4], %c: f32[4], %x: f32[2x3], %g: f32[2x4], %v: f32[3x4]) {
  %0 = tensor.mul %w, %v : f32[3x4]
  %1 = tensor.matmul %x, %w : f32[2x4]
  %2 = tensor.sum_dim[dim 0] %g : f32[1x4]
  %3 = tensor.permute[1, 0] %x : f32[3x2]
  %4 = tensor.matmul %3, %g : f32[3x4]
  %5 = tensor.reshape %c : f32[1x4]
  %6 = tensor.add %1, %5 : f32[2x4]
  %7 = tensor.relu %6 : f32[2x4]
  %8 = tensor.sub %0, %4 : f32[3x4]
  %9 = tensor.sub %b, %2 : f32[1x4]
  return y = %7
  return w = %8
  return b = %9
}",
    ),
];

#[test]
fn no_pass_is_forgotten() {
    for pass in Graph::passes() {
        let of = |case: &str| case.split('=').next() == Some(pass.name);
        assert!(CASES.iter().any(|(case, _)| of(case)), "{}", pass.name);
    }
}

#[test]
fn each_pass() {
    for (pass, text) in CASES {
        let text = format!("// fedround tensor v1\n{text}\n");
        let read = parse(&text).unwrap_or_else(|error| panic!("{pass}: {error}"));
        let (name, mut graph) = read.into_iter().next().unwrap();
        let before = graph.text(&name);
        let request = Request::<Graph>::named(pass).unwrap();
        let changed = PassManager::new().run(&request, &name, &mut graph).unwrap();
        assert!(changed, "{pass}");
        let after = graph.text(&name);
        let pass = request.pass.name;
        let text = format!("// before {pass}\n{before}\n// after {pass}\n{after}");
        snapshot(&format!("tensor.{pass}"), &text);
    }
}

/// Compares with `snapshots/pass/<case>.snap`.
fn snapshot(case: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../snapshots/pass");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(case, text));
}

/// Graphs of rare shapes, which a pass leaves as they are or must not fail on.
#[test]
fn rare_shapes() {
    let run = |pass: &str, text: &str| {
        let read = parse(&format!("// fedround tensor v1\n{text}\n")).unwrap();
        let (name, mut graph) = read.into_iter().next().unwrap();
        let request = Request::<Graph>::named(pass).unwrap();
        PassManager::new().run(&request, &name, &mut graph).unwrap();
        graph
    };
    // Each sum is read by two others: as one sum of terms, the last would have 2⁴⁰ of them.
    let additions: String = (2..60)
        .map(|i| format!("  %{i} = tensor.add %{}, %{} : f32[1]\n", i - 1, i - 2))
        .collect();
    let fibonacci = format!(
        "tensor.graph @step(%x: f32[2x3]) {{\n  %0 = tensor.sum %x : f32[1]\n  \
         %1 = tensor.sum %x : f32[1]\n{additions}  return y = %59\n}}"
    );
    assert!(run("join-sums", &fibonacci).nodes.len() < 100);
    let empty = "tensor.graph @step(%x: f32[2x0x3x3]) {
  %0 = tensor.relu %x : f32[2x0x3x3]
  return y = %0
}";
    assert_eq!(run("channel-rows", empty).nodes.len(), 1);
    // What is scattered has fewer rows than what it is scattered into.
    let part = "tensor.graph @step(%v: f32[2x4], %i: i32[2x4]) {
  %0 = tensor.full[0.0] : f32[3x4]
  %1 = tensor.scatter_add[dim 1] %0, %i, %v : f32[3x4]
  %2 = tensor.sum_dim[dim 1] %1 : f32[3x1]
  return y = %2
}";
    assert_eq!(run("fold", part).nodes.len(), 3);
    // One operand has a row for each pixel, the other a single one.
    let row = "tensor.graph @step(%x: f32[2x3x6x6], %i: i32[2x3x3x3], %g: f32[2x3x3x3], %c: f32[1x3x1x1]) {
  %0 = tensor.max_pool2d_grad[kernel [2, 2], stride [2, 2]] %x, %g, %i : f32[2x3x6x6]
  %1 = tensor.relu %0 : f32[2x3x6x6]
  %2 = tensor.reshape %1 : f32[2x3x36]
  %3 = tensor.mean_dim[dim 2] %2 : f32[2x3x1]
  %4 = tensor.mean_dim[dim 0] %3 : f32[1x3x1]
  %5 = tensor.reshape %4 : f32[1x3x1x1]
  %6 = tensor.sub %5, %c : f32[1x3x1x1]
  %7 = tensor.expand %6 : f32[2x3x6x6]
  %8 = tensor.relu_grad %1, %7 : f32[2x3x6x6]
  return y = %8
}";
    let rows = run("channel-rows", row);
    assert!(rows.nodes.len() > 9, "{}", rows.text("step"));
}
