//! `synth-digits` is a task worth learning: a perceptron does well, a linear
//! model clearly worse.

#[path = "../examples/synth_accuracy/net.rs"]
mod net;

use fedround_data::synth::SynthDigits;

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "training takes minutes without optimisation; run with --release"
)]
fn a_perceptron_learns_what_a_linear_model_cannot() {
    let data = SynthDigits::default().generate();
    let (linear, mlp) = rayon::join(
        || net::train(&[784, 10], 0.02, 10, &data.train, &data.test),
        || net::train(&[784, 200, 200, 10], 0.05, 10, &data.train, &data.test),
    );
    let (linear, mlp) = (linear[9], mlp[9]);
    assert!(mlp >= 0.96, "perceptron: {mlp}");
    assert!((0.80..0.90).contains(&linear), "linear: {linear}");
}
