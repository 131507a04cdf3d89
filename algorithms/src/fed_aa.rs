//! FedAA: models inverted on the server, and identifiers that representations are to fool.

use fedround::optim::{Adam, Lbfgs};
use fedround::prelude::*;

use crate::FedAvg;

/// What clients of [`FedAa`] reveal.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FedAaModality {
    /// The names of their classes.
    Classes,
    /// One of their captions.
    Caption,
}

/// FedAA. "FedAA: Using Non-sensitive Modality to Solve Non-IID Puzzles in Federated Learning",
/// anonymous submission, Algorithms 1 to 4, <https://openreview.net/>.
///
/// Clients reveal the names of their classes or, for captions, the one that their model fits best. The
/// server inverts each client's model to inputs of those, and fine-tunes it on the inputs from the others.
/// For each client it trains an identifier, a network that knows the client's representations. In a second
/// local pass the client's model learns to fool it. The server holds every client's model, so that hiding
/// the classes' examples from it needs more than this.
///
/// The server tells as its number `identifier_accuracy` how often identifiers are right of the images that
/// they were trained on: the mean over clients, and of a client over its own and the others' images, so
/// that ½ is chance.
///
/// Departs:
/// - The averages of Eq. (6) and of Algorithm 4 are one, weighted by examples of the cohort.
/// - L-BFGS halves its steps until the loss falls enough, and takes none otherwise, where PyTorch's
///   looks for strong Wolfe conditions.
/// - Every identifier begins with the same values, in each round.
/// - Batch normalisation, where a model has it, sees all images while it is fine-tuned.
/// - With one client in a round there are no others: nothing is fine-tuned but running statistics, and its
///   identifier is trained on its own images alone.
/// - The second local pass is plain steps of `η`: plug-ins of the base that change gradients or add
///   regularizers, its momentum and its weight decay act on the first alone.
/// - Eq. (3) is of images as they are in training, where `--augment` changes them.
/// - The identifier of captions judges the mean of an image's places; the paper does not say.
///
/// Defaults: the paper's rates and identifier; what it does not give, the counts of steps, is ours.
/// The first local pass is the base's, in the paper with `epochs = 10`, `batch = 256` and
/// `lr = 0.0025`.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "fedaa")]
pub struct FedAa<A = FedAvg> {
    /// What trains in the first local pass.
    pub base: A,
    /// What clients reveal: the names of their classes, or one of their captions (Eq. (3)).
    #[hyper(default = FedAaModality::Classes)]
    pub modality: FedAaModality,
    /// `C`: share of the clients that train in a round.
    #[hyper(default = 0.5, range = 0.0..=1.0)]
    pub share: f32,
    /// Epochs of the second local pass.
    #[hyper(default = 1, range = 0..)]
    pub second: usize,
    /// Examples in a batch of the second pass.
    #[hyper(default = 256, range = 1..)]
    pub second_batch: usize,
    /// `η₁`, `η₂`: step size of the second pass and of fine-tuning.
    #[hyper(default = 0.0025, range = 0.0..)]
    pub eta: f32,
    /// `σ` of the noise that inversion begins with.
    #[hyper(default = 1.0, range = 0.0..)]
    pub sigma: f32,
    /// Iterations of L-BFGS.
    #[hyper(default = 20, range = 1..)]
    pub iterations: usize,
    /// Steps of fine-tuning; none is the ablation Non-F.
    #[hyper(default = 10, range = 0..)]
    pub fine_tune: usize,
    /// Steps of an identifier.
    #[hyper(default = 20, range = 1..)]
    pub identifier_steps: usize,
    /// Step size of an identifier.
    #[hyper(default = 4e-4, range = 0.0..=1000000.0)]
    pub identifier_lr: f32,
    /// `η₃/η₁`: weight of `L_adv`; at 0 it is the ablation Non-I.
    #[hyper(default = 1.0, range = 0.0..)]
    pub adversarial: f32,
}

/// `y_c`: the names of the client's classes, or the caption that fits its image best, Eq. (3).
fn modality(k: &ClientCx, w: &Params, kind: FedAaModality) -> Released<Labels> {
    if kind == FedAaModality::Classes {
        let y = k.classes();
        return y.release("names of classes, the non-sensitive modality");
    }
    let (fit, y) = k.collect(64, |b| (k.loss_each(w, b), b.labels("tokens")));
    let y = k.smallest(1, &fit, y);
    y.release("the caption that fits best, the non-sensitive modality")
}

/// Tells how often identifiers are right of the images `x` that they were trained on.
fn report_accuracy(
    server: &ServerCx,
    i_k: &Gathered<Params>,
    (x, id): (&Server<Tensor>, &Server<Labels>),
) {
    let accuracy_k = i_k.map(|k, w| {
        let (x, id) = (k.get(x), k.get(id));
        let is_own = function("same", (&id, &k.labels(&x)));
        let features = k.apply("features", &w, &x);
        loss("identified", (&k.apply("identify", &w, &features), &is_own))
    });
    server.set_state("identifier_accuracy", &accuracy_k.mean());
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for FedAa<A> {
    /// Algorithm 4.
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.sample(self.share);
        let (w_k, y_k, n_k) = w.broadcast(&s_t).map(|k, w| {
            // Algorithm 1, Eq. (2): the first local pass.
            let w = self.client_update(k, w.replace_parts(&["identifier"], &w.zeros_like()));
            let y = modality(k, &w, self.modality);
            let w = w.replace_parts(&["identifier"], &k.global_params());
            (w, y, k.num_examples())
        });
        let (w_k, y_k, n_k) = (w_k.gather(), y_k.gather(), n_k.gather());
        // Eq. (4): each model is inverted, from noise to images `x_k` of what its client revealed.
        let (x_k, id_k) = w_k.zip(&y_k).map(|k, (w, y)| {
            let (noise, inverse) = (y.zero_inputs().noise(self.sigma), Lbfgs::new(5).armijo(10));
            let task_loss = |x: &Tensor| k.loss(&w, x, &y);
            let x = inverse.minimize(&noise, self.iterations, task_loss);
            (x.clone(), k.labels(&x))
        });
        // All images `X_adv` with what they show, `Y_c`, and whose model they were made of.
        let (x, y, id) = (x_k.concat(), y_k.concat(), id_k.concat());
        // Eq. (5): each model is fine-tuned on all images but its own.
        let w_k = w_k.map(|k, w| {
            let (mut w, x, y, id) = (w, k.get(&x), k.get(&y), k.get(&id));
            let is_others = (-function("same", (&id, &k.labels(&x)))).add_scalar(1.0);
            let task_loss = |w: &Params| k.loss_of(w, &x, &y, &is_others);
            for _ in 0..self.fine_tune {
                w -= self.eta * grad(&w, task_loss);
            }
            w
        });
        // F_avg and T_avg.
        let w_avg = w_k.weighted_mean(&n_k);
        // Eq. (6), Algorithm 2: `I_k` learns to tell F_avg's features of the client's images from those of others.
        let i_k = id_k.map(|k, _| {
            let (mut w, x, id) = (k.get(&w_avg), k.get(&x), k.get(&id));
            let is_own = function("same", (&id, &k.labels(&x)));
            let features = k.apply("features", &w, &x);
            let mut opt = Adam::new(self.identifier_lr).betas(0.5, 0.9).start(&w);
            let identify = |w: &Params| k.apply("identify", w, &features);
            let identifier_loss = |w: &Params| loss("identification", (&identify(w), &is_own));
            for _ in 0..self.identifier_steps {
                let g = grad(&w, identifier_loss);
                opt.step(&mut w, g);
            }
            w
        });
        report_accuracy(server, &i_k, (&x, &id));
        // Eq. (7), Algorithm 3: in the second local pass the model learns to fool `I_k`, which stays as it is.
        let w_k = i_k.scatter().map(|k, i| {
            let mut w = i.clone();
            for b in k.batches(self.second, self.second_batch) {
                let fools = |w: &Params| k.apply("identify", &i, &k.apply("features", w, &b.x));
                let of = |w: &Params| {
                    self.loss(k, w, &b) + self.adversarial * loss("softplus", &fools(w))
                };
                w -= self.eta * grad(&w, of);
            }
            w.replace_parts(&["identifier"], &k.global_params())
        });
        self.aggregate(server, w_k)
            .replace_parts(&["identifier"], &w)
    }
}
