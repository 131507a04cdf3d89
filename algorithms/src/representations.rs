//! The representations that a party of ADCOL sends to the server.

use fedround::prelude::*;

/// Noise on the representations that a party of ADCOL sends, for a server that is not trusted.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepresentationNoise {
    /// None.
    None,
    /// Of a Laplace distribution.
    Laplace,
}

/// Rows of the same size, if they are to be.
fn scaled(r: &Tensor, normalised: bool) -> Tensor {
    match normalised {
        true => function("unit_rows", r),
        false => r.clone(),
    }
}

/// Representations as the discriminator sees them where a party trains: as large as those that it was
/// trained on, which have an L1 norm of 1 under noise.
pub(crate) fn judged(r: &Tensor, normalised: bool, noise: RepresentationNoise) -> Tensor {
    let r = scaled(r, normalised);
    match noise {
        RepresentationNoise::Laplace => r.l1_rows(),
        RepresentationNoise::None => r,
    }
}

/// A share of a party's representations, drawn anew in each round; with noise where the server is not
/// trusted: rows with an L1 norm of at most 1 differ by 2, so that `2/ε` gives each of them ε.
pub(crate) fn sent(
    k: &ClientCx,
    w: &Params,
    (rows, sample, normalised): (Index, Scalar, bool),
    (noise, epsilon): (RepresentationNoise, Scalar),
) -> Tensor {
    let r = k.collect(rows, |b| scaled(&k.apply("represent", w, &b.x), normalised));
    let r = k.sample_row_fraction(sample, r);
    match noise {
        RepresentationNoise::Laplace => r.l1_rows().clip_rows(1.0).laplace(2.0 / epsilon),
        RepresentationNoise::None => r,
    }
}
