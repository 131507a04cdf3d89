//! Oort's pacer: how long a round should take.

use fedround::prelude::*;

/// Lai et al. 2021, Algorithm 1, lines 6 to 8: `T ← T + Δ` if a window of rounds brought less utility than
/// the window before. `limit` is the `T` of this round.
pub(crate) fn pace(
    server: &ServerCx,
    limit: &Server<Scalar>,
    utility: Server<Scalar>,
    step: Scalar,
    window: Index,
) {
    let (gained, before) = (
        server.scalar_state("gained") + utility,
        server.scalar_state("before"),
    );
    let windows = ((server.round() + 1.0) / window.clone()).floor();
    // 1 in the last round of a window, else 0 or less.
    let ends = windows * window - server.round();
    let next = (&before - &gained).select(limit + step, limit);
    server.set_state("T", &ends.select(next, limit));
    server.set_state("before", &ends.select(&gained, &before));
    server.set_state("gained", &ends.select(0.0, &gained));
}
