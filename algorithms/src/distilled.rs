//! Distillation and sharing on the clients of FedFed: whose recipe is followed, the noise that is added,
//! and the share of signal in what is sent.

use fedround::prelude::*;

/// The noise on what clients of [`FedFed`](crate::FedFed) share.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FedFedNoise {
    /// Gaussian noise.
    Gaussian,
    /// Laplace noise.
    Laplace,
}

/// Whose distillation [`FedFed`](crate::FedFed) follows: the paper's text or the authors' code.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FedFedRecipe {
    /// The text's: what an image shares is clipped to `ρ`, with noise of its own.
    Paper,
    /// The authors' code's: nothing is clipped, all images of a batch have one image of noise, `λ_re` is
    /// ten times as large in the first ten rounds, and the divergence is a third of the mean over codes.
    Code,
}

/// Features as they are shared: clipped to `ρ` and noised by the text, noised alone by the code.
pub(crate) fn protected(
    x_s: Tensor,
    (recipe, noise): (FedFedRecipe, FedFedNoise),
    (rho, sigma): &(Scalar, Scalar),
) -> Tensor {
    match (recipe, noise) {
        (FedFedRecipe::Paper, FedFedNoise::Gaussian) => x_s.clip_rows(rho).noise(sigma),
        (FedFedRecipe::Paper, FedFedNoise::Laplace) => x_s.clip_rows(rho).laplace(sigma),
        (FedFedRecipe::Code, FedFedNoise::Gaussian) => {
            let n = function("one_normal", &x_s);
            x_s + sigma * n
        }
        (FedFedRecipe::Code, FedFedNoise::Laplace) => {
            let n = function("one_laplace", &x_s);
            x_s + sigma * n
        }
    }
}

/// Why features may leave their client.
pub(crate) fn released_as(recipe: FedFedRecipe) -> &'static str {
    match recipe {
        FedFedRecipe::Paper => "clipped and noised, Alg. 1",
        FedFedRecipe::Code => "noised and not clipped, as in the authors' code",
    }
}

/// `λ_re` and `λ_kl` in a round: the text's are constant.
pub(crate) fn weights(
    k: &ClientCx,
    recipe: FedFedRecipe,
    (reconstruct, kl): (Scalar, Scalar),
) -> (Scalar, Scalar) {
    match recipe {
        FedFedRecipe::Paper => (reconstruct, kl),
        FedFedRecipe::Code => {
            let times = (k.round() - 9.5).select(1.0, 10.0);
            (times * reconstruct, kl / 3.0)
        }
    }
}

/// Tells the signal-to-noise ratio of the images that all clients share.
pub(crate) fn report_snr(
    server: &ServerCx,
    x: &Server<Released<Tensor>>,
    noise: FedFedNoise,
    sigma: &Scalar,
) {
    let snr = server.run(|s| snr_db(&s.get(x).tensor(), noise, sigma));
    server.set_state("snr_db", &snr);
}

/// The signal-to-noise ratio of noised images, in decibels from -100 to 100: their mean square less the
/// noise's, over the noise's.
fn snr_db(x: &Tensor, noise: FedFedNoise, sigma: &Scalar) -> Scalar {
    let variance = match noise {
        FedFedNoise::Gaussian => sigma * sigma,
        FedFedNoise::Laplace => 2.0 * (sigma * sigma),
    };
    let signal = loss("image_mse", (x, &x.zeros_like())) - &variance;
    let ratio = (signal / (variance + 1e-30)).max(1e-10).min(1e10);
    10.0 / std::f64::consts::LN_10 * ratio.ln()
}
