//! What a party of ADCOL sends.

use fedround::prelude::*;

/// Noise on the representations that a party of ADCOL sends, for a server that is not trusted.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepresentationNoise {
    /// None.
    None,
    /// Of a Laplace distribution.
    Laplace,
}

/// A share of a party's representations, drawn anew in each round; with noise where the server is not
/// trusted: rows with an L1 norm of at most 1 differ by 2, so that `2/ε` gives each of them ε.
pub(crate) fn sent(
    k: &ClientCx,
    w: &Params,
    (rows, sample): (Index, Scalar),
    (noise, epsilon): (RepresentationNoise, Scalar),
) -> Tensor {
    let r = k.collect(rows, |b| k.apply("represent", w, &b.x));
    let r = k.sample_row_fraction(sample, r);
    match noise {
        RepresentationNoise::Laplace => r.l1_rows().clip_rows(1.0).laplace(2.0 / epsilon),
        RepresentationNoise::None => r,
    }
}
