//! Costs of a local step of the bundled models, by hand.

use fedround::algorithms::FedAvg;
use fedround::exec::Program;
use fedround::models::{Losses, Task, find};
use fedround::passes::tensor::{Cost, cost};
use fedround::trace::TracedModel;

/// Costs of FedAvg's local step on 28x28 grey images of ten classes.
fn step(model: &str, batch: usize) -> Cost {
    let task = Task {
        input: [1, 28, 28],
        classes: 10,
    };
    let built = find(model)
        .unwrap()
        .build(task, &Default::default())
        .unwrap();
    let tracer = TracedModel::new(model, built, task, Losses::default());
    let program = Program::compile(&FedAvg::default(), tracer).unwrap();
    let graphs = program.graphs(batch).unwrap();
    assert_eq!(graphs.len(), 1);
    cost(&graphs[0])
}

/// Cross entropy of `n` examples and ten classes, and its gradient with respect to the logits.
fn cross_entropy(n: u64) -> u64 {
    // Log-softmax, the mean of what is gathered, its sign.
    let forward = 5 * 10 * n + n + 1;
    // Labels scattered; softmax by an exponential, a scale and a difference.
    let backward = n + 3 * 10 * n;
    forward + backward
}

/// A product of `[n, i]` and `[i, o]`.
fn matmul(n: u64, i: u64, o: u64) -> u64 {
    2 * n * i * o
}

/// A dense layer's output with its bias, its bias's gradient, and both updates `y + c·s·x`, the
/// weight's with the product of its gradient.
fn dense(n: u64, i: u64, o: u64) -> u64 {
    let forward = matmul(n, i, o) + n * o;
    let updates = (matmul(i, n, o) + 2 * i * o) + 2 * o;
    forward + n * o + updates
}

#[test]
fn the_2nn() {
    let n = 10;
    let layers = dense(n, 784, 200) + dense(n, 200, 200) + dense(n, 200, 10);
    let relus = 2 * (2 * n * 200);
    let input_gradients = matmul(n, 10, 200) + matmul(n, 200, 200);
    let cost = step("2nn", 10);
    assert_eq!(
        cost.flops,
        layers + relus + input_gradients + cross_entropy(n)
    );
    assert_eq!(cost.flops, 9_207_441);
    // Parameters, the batch and the learning rate at least; a few activations on top.
    let inputs = 4 * (199_210 + 7840 + 10 + 1);
    assert!(
        cost.peak > inputs && cost.peak < inputs + 4 * 10 * 1000,
        "{}",
        cost.peak
    );
}

#[test]
fn mcmahans_cnn() {
    let n = 20;
    // Outputs of the convolutions: 24x24x32 of 5x5x1 products, 8x8x64 of 5x5x32.
    let (y1, y2) = (n * 24 * 24 * 32, n * 8 * 8 * 64);
    let (k1, k2) = (25, 25 * 32);
    // Output, weight's gradient; the input's gradient of the second alone.
    let products = 2 * 2 * y1 * k1 + 3 * 2 * y2 * k2;
    let parameters = 32 * k1 + 32 + 64 * k2 + 64;
    // Biases and their gradients, pools of four elements to one and back to it, relus of what was
    // pooled and theirs.
    let elementwise = |y: u64| 2 * y + (y + y / 4) + 2 * (y / 4);
    let elementwise = elementwise(y1) + elementwise(y2);
    // A bias's gradient is summed over the plane, then over the examples.
    let convolutions = products + elementwise + n * (32 + 64) + 2 * parameters;
    let head = dense(n, 1024, 512) + dense(n, 512, 10);
    let relu = 2 * n * 512;
    let input_gradients = matmul(n, 512, 1024) + matmul(n, 10, 512);
    let expected = convolutions + head + relu + input_gradients + cross_entropy(n);
    assert_eq!(step("cnn", 20).flops, expected);
}

#[test]
fn costs_grow_with_the_batch() {
    let (small, large) = (step("logistic", 10), step("logistic", 20));
    assert!(small.flops < large.flops && large.flops < 2 * small.flops);
    assert!(small.peak < large.peak && small.read < large.read);
}

/// What the backward pass reads is what batch norms centred; the activations are computed again from it.
#[test]
fn a_residual_networks_activations_are_not_kept() {
    let bytes = |channels: u64, side: u64| 4 * 50 * channels * side * side;
    let largest = bytes(64, 28);
    // Five convolutions of each size, those of shortcuts among them.
    let maps = [largest, bytes(128, 14), bytes(256, 7), bytes(512, 4)];
    let centred: u64 = maps.iter().map(|map| 5 * map).sum();
    let parameters = 4 * 11_172_810;
    let peak = step("resnet18", 50).peak;
    assert!(
        peak > parameters + centred - largest && peak < parameters + centred + 2 * largest,
        "{peak}"
    );
}
