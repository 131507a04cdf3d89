//! Plain models trained by plain SGD, to measure how hard a dataset is.

#![allow(clippy::expect_used, reason = "images in memory can be gathered")]

use fedround_data::Examples;
use fedround_random::{Purpose, StreamKey, permutation, uniform};

/// A layer: weights `[inputs, outputs]`, biases, and their gradients.
struct Layer {
    outputs: usize,
    weights: Vec<f32>,
    biases: Vec<f32>,
    weight_grads: Vec<f32>,
    bias_grads: Vec<f32>,
}

struct Net(Vec<Layer>);

impl Net {
    fn new(sizes: &[usize]) -> Self {
        let layer = |(at, pair): (usize, &[usize])| {
            let (inputs, outputs) = (pair[0], pair[1]);
            let bound = (inputs as f64).powf(-0.5);
            let key = StreamKey::new(1, Purpose::Init).with(at);
            Layer {
                outputs,
                weights: uniform(inputs * outputs, bound, key.with(0)),
                biases: uniform(outputs, bound, key.with(1)),
                weight_grads: vec![0.0; inputs * outputs],
                bias_grads: vec![0.0; outputs],
            }
        };
        Self(sizes.windows(2).enumerate().map(layer).collect())
    }

    /// The inputs of every layer, and the logits.
    fn forward(&self, x: &[f32]) -> Vec<Vec<f32>> {
        let mut values = vec![x.to_vec()];
        for (at, layer) in self.0.iter().enumerate() {
            let mut out = layer.biases.clone();
            for (&v, row) in values[at]
                .iter()
                .zip(layer.weights.chunks_exact(layer.outputs))
            {
                // Most inputs are 0: paper, or units that are off.
                if v != 0.0 {
                    out.iter_mut().zip(row).for_each(|(o, w)| *o += v * w);
                }
            }
            if at + 1 < self.0.len() {
                out.iter_mut().for_each(|o| *o = o.max(0.0));
            }
            values.push(out);
        }
        values
    }

    /// Adds the gradient of the cross-entropy of one example.
    fn backward(&mut self, x: &[f32], label: usize) {
        let mut values = self.forward(x);
        let Some(mut delta) = values.pop() else {
            return;
        };
        let most = delta.iter().copied().fold(f32::MIN, f32::max);
        delta.iter_mut().for_each(|d| *d = (*d - most).exp());
        let total: f32 = delta.iter().sum();
        delta.iter_mut().for_each(|d| *d /= total);
        delta[label] -= 1.0;
        for (layer, input) in self.0.iter_mut().zip(values).rev() {
            layer
                .bias_grads
                .iter_mut()
                .zip(&delta)
                .for_each(|(g, d)| *g += d);
            let rows = layer.weights.chunks_exact(layer.outputs);
            let grads = layer.weight_grads.chunks_exact_mut(layer.outputs);
            let mut before = vec![0.0; input.len()];
            for (((&v, row), grad), b) in input.iter().zip(rows).zip(grads).zip(&mut before) {
                // A unit that is off passes no gradient and receives none.
                if v != 0.0 {
                    grad.iter_mut().zip(&delta).for_each(|(g, d)| *g += v * d);
                    *b = row.iter().zip(&delta).map(|(w, d)| w * d).sum();
                }
            }
            delta = before;
        }
    }

    fn step(&mut self, rate: f32) {
        for layer in &mut self.0 {
            let weights = layer.weights.iter_mut().zip(&mut layer.weight_grads);
            for (w, g) in weights.chain(layer.biases.iter_mut().zip(&mut layer.bias_grads)) {
                *w -= rate * *g;
                *g = 0.0;
            }
        }
    }

    fn accuracy(&self, data: &Examples) -> f64 {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let right = (0..data.len()).filter(|&i| {
            data.gather(&[i], &mut x, &mut y).expect("images in memory");
            let values = self.forward(&x);
            let logits = &values[values.len() - 1];
            let best = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
            best == Some(y[0] as usize)
        });
        right.count() as f64 / data.len() as f64
    }
}

/// Trains a perceptron of these layer sizes in batches of 10 and returns its
/// test accuracy after each epoch.
pub fn train(
    sizes: &[usize],
    rate: f32,
    epochs: usize,
    train: &Examples,
    test: &Examples,
) -> Vec<f64> {
    const BATCH: usize = 10;
    let mut net = Net::new(sizes);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let epoch = |epoch: usize| {
        let order = permutation(
            train.len(),
            StreamKey::new(1, Purpose::ExampleOrder).with(epoch),
        );
        for batch in order.chunks(BATCH) {
            train
                .gather(batch, &mut x, &mut y)
                .expect("images in memory");
            for (x, &label) in x.chunks_exact(train.features()).zip(&y) {
                net.backward(x, label as usize);
            }
            net.step(rate / batch.len() as f32);
        }
        net.accuracy(test)
    };
    (1..=epochs).map(epoch).collect()
}
