//! Measures how hard `synth-digits` is: draws it, then trains a linear model and a 784-200-200-10
//! perceptron by plain SGD and prints their test accuracies.
//!
//! `cargo run --release -p fedround-data --example synth_accuracy [EPOCHS [TRAIN [rgb]]]`

mod net;

use std::time::Instant;

use fedround_data::synth::SynthDigits;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default| {
        let given = arguments.get(at).and_then(|a| a.parse().ok());
        given.unwrap_or(default)
    };
    let (epochs, count) = (number(0, 15), number(1, 10_000));
    let base = match arguments.iter().any(|a| a == "rgb") {
        true => SynthDigits::rgb(),
        false => SynthDigits::default(),
    };
    let start = Instant::now();
    let data = SynthDigits {
        train: count,
        ..base
    }
    .generate();
    let (examples, seconds) = (
        data.train.len() + data.test.len(),
        start.elapsed().as_secs_f64(),
    );
    println!("drew {examples} examples in {seconds:.2} s");
    let inputs = data.train.features();
    let (linear, mlp) = rayon::join(
        || net::train(&[inputs, 10], 0.02, epochs, &data.train, &data.test),
        || {
            net::train(
                &[inputs, 200, 200, 10],
                0.05,
                epochs,
                &data.train,
                &data.test,
            )
        },
    );
    println!(
        "test accuracy after each epoch\n{:>5} {:>8} {:>8}",
        "epoch", "linear", "mlp"
    );
    for (epoch, (linear, mlp)) in linear.iter().zip(&mlp).enumerate() {
        println!("{:>5} {linear:>8.4} {mlp:>8.4}", epoch + 1);
    }
}
