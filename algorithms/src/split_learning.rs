//! Split learning: clients have the first layers, and the server has the others.

use fedround::prelude::*;

/// Split learning. Gupta and Raskar 2018, "Distributed learning of deep neural network over multiple agents",
/// Algorithms 1 and 2 (several agents, one after the other, with shared labels),
/// <https://arxiv.org/abs/1810.06060>. The cut is between `features` and `head` of the model. For each batch a
/// client sends the outputs of its layers with their labels, and receives the gradient of these outputs;
/// its layers go to the next client when its turn ends.
///
/// Departs:
/// - A turn takes a number of batches, each drawn from all examples of the client.
/// - The client's layers go to the next client through the server (the paper's centralized mode).
/// - The outputs that are sent are those of inference, and the client computes them once more, in training, for its
///   gradient. Where a model drops units or normalises batches the two differ, and the steps are not those of
///   training the whole model.
/// - A run's training loss is not of the model: clients have only the gradient of their outputs.
///
/// Defaults: the paper gives no step sizes; these suit the bundled models.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "split-learning")]
pub struct SplitLearning {
    /// Batches of a turn.
    #[hyper(default = 10, range = 1..)]
    pub steps: usize,
    /// Examples in a batch.
    #[hyper(default = 10, range = 1..)]
    pub batch: usize,
    /// `η`: step size of both halves.
    #[hyper(default = 0.1, range = 0.0..=1000000.0)]
    pub lr: f32,
}

/// The layers that the server has. A client has zeros for them, which are not sent.
const SERVER: [&str; 1] = ["head"];

#[federated]
impl Algorithm for SplitLearning {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let mut w = w;
        for client in server.all_clients().in_turn() {
            let half = w.replace_parts(&SERVER, &(0.0 * &w));
            let sent = half.broadcast(&client);
            sent.map(|k, w| k.set_state("w", &w));
            for _ in 0..self.steps {
                let (z, y) = sent.map(|k, _| {
                    let b = k.batch(self.batch);
                    k.set_state("x", &b.x);
                    let z = k.apply("features", &k.state("w"), &b.x);
                    (
                        z.release("outputs of the cut layer, Alg. 1"),
                        b.y.release("labels, Alg. 1"),
                    )
                });
                let (z, y) = (z.gather().concat(), y.gather().concat());
                let (next, g) = server.run(|s| {
                    let (w, z, y) = (s.get(&w), s.get(&z).tensor(), s.get(&y));
                    let g_z = grad(&z, |z| cross_entropy(s.apply("head", &w, z), &y));
                    let g_w = grad(&w, |w| cross_entropy(s.apply("head", w, &z), &y));
                    (w - self.lr * g_w, g_z)
                });
                w = next;
                g.broadcast(&client).map(|k, g| {
                    let (w, x) = (k.state("w"), k.tensor_state("x"));
                    let g_w = grad(&w, |w| k.apply("features", w, &x).dot(&g));
                    k.set_state("w", &(w - self.lr * g_w));
                });
            }
            let w_k = sent.map(|k, w| k.state("w").replace_parts(&SERVER, &w));
            w = w_k.mean().replace_parts(&SERVER, &w);
        }
        w
    }
}
