//! AdFL: models weigh by how well they and the others read each other's adversarial images.

use fedround::prelude::*;

use crate::FedAvg;

/// What an image of [`Adfl`] begins as.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdflStart {
    /// Uniform noise between black and white.
    Noise,
    /// All pixels black.
    Black,
    /// All pixels white.
    White,
}

/// AdFL. Danilenka, Ganzha, Paprzycki and Mańdziuk 2022, "Using adversarial images to improve
/// outcomes of federated learning for non-IID data", Algorithm 2 and Eq. (1) to (3),
/// <https://arxiv.org/abs/2206.08124>.
///
/// A client whose model is confident of every class gains weight: it can lie its way up.
///
/// The server tells how much models read of each other's images as its numbers `q_mean` and `q_std`: the
/// mean and the standard deviation of `q` over all images that a model did not make itself. Where they do
/// not spread, all models weigh the same, and AdFL is a plain mean.
///
/// Departs:
/// - The paper gives neither number nor size of the steps towards an image, and no ball around its
///   start. Here the images of one class begin alike for all models, but each class begins as its own
///   noise. All stay between `black` and `white`, which are to be those of the data that clients train on.
/// - The step size of local training falls with every round, or stays. In the paper the loss of
///   validation clients says when it falls: `validated(adfl)`. It is the direction that becomes shorter, so
///   that the base's weight decay stays.
/// - Where nobody reads any image, the models weigh the same.
///
/// Defaults: noise to begin with, which the paper's text names first; the steps are ours.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "adfl")]
pub struct Adfl<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Steps towards an adversarial image.
    #[hyper(default = 50, range = 0..)]
    pub steps: usize,
    /// `ε`: size of such a step, as a share of the way from black to white.
    #[hyper(default = 0.01, range = 0.0..)]
    pub epsilon: f32,
    /// The number of a black pixel in the data: -2 where images are scaled to be between -2 and 2.
    #[hyper(default = 0.0)]
    pub black: f32,
    /// The number of a white pixel in the data, above that of a black one.
    #[hyper(default = 1.0)]
    pub white: f32,
    /// What an image begins as.
    #[hyper(default = AdflStart::Noise)]
    pub start: AdflStart,
    /// `γ`: local steps are `(t + 1)^−γ` of the base's in round `t`; ½ is the paper's root.
    #[hyper(default = 0.0, range = 0.0..)]
    pub decay: f32,
}

/// Tells the mean and the standard deviation of all `q[j][k][c]` with `j ≠ k`.
fn report_spread(server: &ServerCx, q_k: &Gathered<Tensor>, own_k: &Gathered<Tensor>) {
    let (sum, squares, count) = q_k.zip(own_k).map(|_, (q, own)| {
        let others = (-own).add_scalar(1.0);
        (loss("sum", &q), q.sq_norm(), loss("sum", &others))
    });
    let count = count.sum().max(1.0);
    let mean = sum.sum() / &count;
    let variance = squares.sum() / &count - &mean * &mean;
    server.set_state("q_mean", &mean);
    server.set_state("q_std", &variance.max(0.0).sqrt());
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Adfl<A> {
    /// `m ← Σ_k w_k m^k`, with weights `w_k` by what was read of the images `x_{k,c}`.
    fn aggregate(&self, server: &ServerCx, m_k: Clients<Params>) -> Server<Params> {
        let c = server.run(|s| s.classes());
        let range = self.white - self.black;
        let start = server.run(|s| {
            let zero = s.get(&c).zero_inputs();
            match self.start {
                AdflStart::Noise => (&range * function("uniform", &zero)).add_scalar(self.black),
                AdflStart::Black => zero.add_scalar(self.black),
                AdflStart::White => zero.add_scalar(self.white),
            }
        });
        let m_k = m_k.gather();
        // Targeted I-FGSM: an image of each class, as this model sees it.
        let (x_k, c_k, id_k) = m_k.map(|k, m| {
            let (mut x, c) = (k.get(&start), k.get(&c));
            for _ in 0..self.steps {
                let g = grad(&x, |x| cross_entropy(k.forward(&m, x), &c));
                x = (&x - self.epsilon * &range * g.sign()).clamp(self.black, self.white);
            }
            (x.clone(), c, k.labels(&x))
        });
        let (x, c, id) = (x_k.concat(), c_k.concat(), id_k.concat());
        // q[j][k][c] for all images, those of the model itself aside.
        let (q_k, own_k) = m_k.map(|k, m| {
            let (x, id) = (k.get(&x), k.get(&id));
            let q = function("correct", (&k.forward(&m, &x), &k.get(&c)));
            let own = function("same", (&id, &k.labels(&x)));
            (&q - q.mul(&own), own)
        });
        let was_read = q_k.sum();
        report_spread(server, &q_k, &own_k);
        // Eq. (1) to (3).
        let w_k = q_k
            .zip(&own_k)
            .map(|k, (q, own)| loss("sum", &q) + own.dot(&k.get(&was_read)));
        let sum = w_k.sum();
        let w_k = w_k.map(|k, w| k.get(&sum).select(w, 1.0));
        m_k.weighted_mean(&w_k)
    }

    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        1.0 / (k.round() + 1.0).pow(self.decay) * self.base.gradient(k, w, b)
    }
}
