//! FedFed: the features by which classes are told apart are distilled from images, protected by noise and
//! shared once.

use fedround::optim::Adam;
use fedround::prelude::*;

use crate::FedAvg;
use crate::distilled::{FedFedNoise, FedFedRecipe, protected, released_as, report_snr, weights};

/// FedFed. Yang et al. 2023, "FedFed: Feature Distillation against Data Heterogeneity in Federated
/// Learning", Algorithms 1 and 2 and Eq. (9) to (11), <https://arxiv.org/abs/2310.05077>.
///
/// For `distill` rounds a generator learns `q(x)`, which is to look like `x` and to leave what a
/// classifier needs in `x − q(x)`. In the round after them every client sends that, clipped and
/// noised, with its labels, and gets all clients'. The base then trains on both. The noise hides
/// one client's image in what is shared, not in the models, and no label.
///
/// Generator and judge are parts of the model that the base trains: they do not cross in its rounds
/// where it trains by `client_update`.
///
/// The pixels of the data must be between 0 and 1, because those of the generator's images are: CIFAR-10 and
/// other datasets with another range need `--normalize none`.
///
/// The server tells the signal-to-noise ratio of the pool as its number `snr_db`, in decibels from -100
/// to 100. It computes it of what is shared and the noise's size, so nothing more is sent for it.
///
/// Departs:
/// - A base with steps of its own, as SCAFFOLD and FedNova have, sends up what it made of them, and
///   SCAFFOLD's control variate has them both ways: zeros all, which no op names as such.
/// - The bound of Eq. (9) is a regularizer on `x − q(x)`, as in the authors' code, and a clip of each
///   image, as in the text; with `recipe = "code"` it is the regularizer alone, and no bound on privacy
///   is known.
/// - The judge learns from `x_p`, clipped and noised as it will be shared; in the code it does so, too, and in
///   Eq. (9) from `x − q(x)`.
/// - Shared images are of inputs as they are in training, where `--augment` changes them; they are not changed
///   again in each epoch, as they are in the code.
/// - The loss of private and shared examples is a sum of two means, as in Eq. (10); the code has one mean
///   over both.
/// - In one pass (`joint = true`), the private examples' loss is cross-entropy, whatever the base's
///   is: a base with a loss of its own, such as MOON, needs `joint = false`.
/// - Shared examples are drawn anew for every step, all alike; the code draws as many as a client has
///   once an epoch, equally many of each class.
/// - One protected copy, as in the text; the code has two, of different noise.
/// - The code's mixed and masked images, and its weights by a client's data, are left out.
///
/// Defaults: the text's rounds and noise. It gives no weights: they are the numbers of the code after its
/// first ten rounds. `λ_kl` weighs three times as much here, because the code divides the divergence by
/// three times the size of a code; `recipe = "code"` does as well. `ρ` has no value in either. The code's
/// distillation is `recipe = "code"` with `keep_adam = true`. After distillation, `fedfed` alone trains as
/// FedAvg does by default, with `lr = 0.1`, batches of 10 private and 64 shared examples, and neither momentum
/// nor weight decay; the paper has `lr = 0.01`, `momentum = 0.9`, `weight_decay = 1e-4`, and batches of 64 or
/// 32 with as many shared examples (`shared_batch`) as private ones (`batch`).
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "fedfed")]
pub struct FedFed<A = FedAvg> {
    /// What trains on private and shared examples.
    pub base: A,
    /// Whose distillation it is: the text's, or that of the authors' code.
    #[hyper(default = FedFedRecipe::Paper)]
    pub recipe: FedFedRecipe,
    /// `T_d`: rounds of distillation; as many come before the base's as these and one.
    #[hyper(default = 15, range = 1..)]
    pub distill: usize,
    /// Share of the clients in a round of distillation.
    #[hyper(default = 0.5, range = 0.0..=1.0)]
    pub distill_share: f32,
    /// Examples in a batch of distillation, where clients go over their data once.
    #[hyper(default = 64, range = 1..)]
    pub distill_batch: usize,
    /// Step size of distillation, by AdamW.
    #[hyper(default = 0.001, range = 0.0..=1000000.0)]
    pub distill_lr: f32,
    /// Whether a client's AdamW goes on from its last round of distillation, as in the code; the text
    /// does not say.
    #[hyper(default = false)]
    pub keep_adam: bool,
    /// `λ_re`: weight of the distance from `x` to `q(x)`.
    #[hyper(default = 5.0, range = 0.0..)]
    pub reconstruct: f32,
    /// `λ_ce`: weight of classifying what is shared.
    #[hyper(default = 2.0, range = 0.0..)]
    pub classify: f32,
    /// `λ_kl`: weight of the divergence of the generator's codes, a mean over their entries; with
    /// `recipe = "code"` a third of it.
    #[hyper(default = 0.005, range = 0.0..)]
    pub kl: f32,
    /// `λ_x`: weight of classifying `x`.
    #[hyper(default = 0.4, range = 0.0..)]
    pub direct: f32,
    /// `ρ`: bound on the norm of what one image shares; the code has none.
    #[hyper(default = 3.0, range = 0.0001..)]
    pub rho: f32,
    /// `σ_s`, or the scale of Laplace noise: of each pixel that is shared.
    #[hyper(default = 0.15, range = 0.0..)]
    pub sigma: f32,
    /// The noise.
    #[hyper(default = FedFedNoise::Gaussian)]
    pub noise: FedFedNoise,
    /// Share of the pool that clients download.
    #[hyper(default = 1.0, range = 0.0..=1.0)]
    pub download: f32,
    /// Shared examples in a step.
    #[hyper(default = 64, range = 1..)]
    pub shared_batch: usize,
    /// Weight of the shared examples' loss; at 0, without `joint`, the base's rounds are its own.
    #[hyper(default = 1.0, range = 0.0..)]
    pub shared: f32,
    /// Whether private and shared examples go through the network as one batch, as in the code: batch
    /// normalisation then sees both.
    #[hyper(default = true)]
    pub joint: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for FedFed<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        // x_p = clip(x_s) + n, of x_s = x − q(x).
        let (how, size) = ((self.recipe, self.noise), (self.rho, self.sigma));
        let protect = |x_s: Tensor| protected(x_s, how, &size);
        if server.phase("distill", self.distill) {
            // Algorithm 1: clients train the generator q and the judge, whose mean the server takes.
            let s_t = server.sample(self.distill_share);
            let w_k = w.broadcast(&s_t).map(|k, w| {
                let mut w = w.replace_parts(&["Model"], &w.zeros_like());
                let adam = Adam::new(self.distill_lr).weight_decay(1e-6).decoupled();
                let mut opt = match self.keep_adam {
                    true => adam.resume(k, "adam", &w),
                    false => adam.start(&w),
                };
                let (reconstruct, kl) = weights(k, self.recipe, (self.reconstruct, self.kl));
                for b in k.batches(1, self.distill_batch) {
                    // Eq. (9), its bound as a penalty: λ_re ‖q(x) − x‖² + λ_ce CE(x_p) + λ_kl KL + λ_x CE(x).
                    let g = grad(&w, |w| {
                        let x_r = k.apply("generate", w, &b.x);
                        let judged = |x: &Tensor| cross_entropy(k.apply("judge", w, x), &b.y);
                        &reconstruct * loss("image_mse", (&x_r, &b.x))
                            + self.classify * judged(&protect(&b.x - &x_r))
                            + &kl * loss("kl_to_normal", &k.apply("code", w, &b.x))
                            + self.direct * judged(&b.x)
                    });
                    opt.step(&mut w, g);
                }
                if self.keep_adam {
                    opt.keep(k, "adam");
                }
                w.replace_parts(&["Model"], &k.global_params())
            });
            w_k.weighted_mean(|k| k.num_examples())
        } else if server.phase("share", 1) {
            // Algorithm 1, its end: every client sends x_p of its examples once, and gets all clients'.
            let all = server.all_clients();
            let (x_k, y_k) = w.broadcast(&all).map(|k, w| {
                let w = w.replace_parts(&["Model", "judge"], &w.zeros_like());
                let (x, y) = k.collect(self.distill_batch, |b| {
                    let x_s = &b.x - k.apply("generate", &w, &b.x);
                    (protect(x_s), b.y.clone())
                });
                (
                    x.release(released_as(self.recipe)),
                    y.release("labels, Alg. 1"),
                )
            });
            // D_s
            let (x, y) = (x_k.gather().concat(), y_k.gather().concat());
            report_snr(server, &x, self.noise, &self.sigma);
            let (x, y) =
                server.run(|s| s.sample_row_fraction(self.download, (s.get(&x), s.get(&y))));
            x.broadcast(&all).zip(&y.broadcast(&all)).map(|k, (x, y)| {
                k.set_state("x", &x);
                k.set_state("y", &y);
            });
            w
        } else {
            // Algorithm 2: the base's round. Clients need no generator and no judge any more, whatever it reads.
            let used = w.replace_parts(&["generator", "judge"], &w.zeros_like());
            let next = self.base.round(server, used);
            next.replace_parts(&["generator", "judge"], &w)
        }
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let w = self.base.client_update(k, w);
        w.replace_parts(&["generator", "judge"], &k.global_params())
    }

    /// Eq. (10): the loss of the private batch, and that of a batch of `D_s`.
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let pool = (k.tensor_state("x"), k.labels_state("y"));
        let (x, y) = k.sample_rows(self.shared_batch, pool);
        if self.joint {
            let z = k.forward(w, &function("stacked", (&b.x, &x)));
            loss("cross_entropy_of_two", (&z, &b.y, &y, &self.shared))
        } else {
            self.base.loss(k, w, b) + self.shared * cross_entropy(k.forward(w, &x), &y)
        }
    }
}
