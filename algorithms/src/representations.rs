//! What a party of ADCOL sends.

use fedround::prelude::*;

/// A share of a party's representations, drawn anew in each round; with noise where the server is not
/// trusted: rows with an L1 norm of at most 1 differ by 2, so that `2/ε` gives each of them ε.
pub(crate) fn sent(
    k: &ClientCx,
    w: &Params,
    (rows, sample): (Index, Scalar),
    (noise, epsilon): (&str, Scalar),
) -> Tensor {
    let r = k.collect(rows, |b| k.apply("represent", w, &b.x));
    let r = k.draw_share(sample, r);
    match noise {
        "laplace" => r.l1_rows().clip_rows(1.0).laplace(2.0 / epsilon),
        _ => r,
    }
}
