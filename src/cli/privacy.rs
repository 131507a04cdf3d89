//! What noise hides, in numbers: a section of `explain`.

use std::fmt::Write;

use fedround_ir::fed::Module;
use fedround_metrics::accountant::Steps;
use fedround_metrics::privacy::{gaussian_epsilon, laplace_epsilon};
use fedround_passes::fed::{Mechanism, NoiseKind, RowSteps, Unit, mechanisms};

use super::output::grouped;

/// `δ` of the statements.
const DELTA: f64 = 1e-5;

/// The other `δ` of training with noise: that of ADCOL's table.
const LOOSE: f64 = 1e-2;

/// After how many rounds the ε of training with noise is given.
const ROUNDS: [u64; 3] = [1, 10, 100];

/// What the ε of training with noise rests on.
const ASSUMED: &str = "    \
    By Rényi accounting of subsampled Gaussian noise (Mironov, Talwar and Zhang 2019), if
    - a neighbour has one row more or less in each round, and all others as they are: it hides a
      row, not the example behind it, which trained the models that made the others;
    - each step draws every row with probability q of its own. Batches are shuffled here, for which
      this is not proven;
    - how many rows there are is known to all;
    - the server is honest: it is about what others get of what is trained there, not about the
      server, which has the rows.
";

/// The ε of each mechanism of a phase, and what it rests on; nothing where there is no noise. `rows`
/// is how many the server gets in a round, where each client of the cohort sends one for each example.
pub(super) fn statement(module: &Module, rows: Option<u64>) -> String {
    let found = mechanisms(module);
    if found.is_empty() {
        return String::new();
    }
    let mut text = "\nPrivacy\n".to_owned();
    for mechanism in &found {
        let (who, noise) = (subject(mechanism), kind(mechanism));
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "  {}: {noise} of {} on {who} of norm at most {}",
            mechanism.loc, mechanism.scale, mechanism.bound,
        );
        text += &match mechanism.steps {
            Some(steps) => trained(mechanism, steps, rows),
            None => format!("    {}\n", epsilons(mechanism)),
        };
    }
    if found.iter().any(|mechanism| mechanism.steps.is_none()) {
        text += "  For one release of what is noised there; more of them add up.\n";
    }
    text + "  Nothing is said of what crosses without noise: see Wire.\n"
}

fn kind(mechanism: &Mechanism) -> &'static str {
    match mechanism.noise {
        NoiseKind::Gaussian => "Gaussian noise",
        NoiseKind::Laplace => "Laplace noise",
    }
}

fn subject(mechanism: &Mechanism) -> &'static str {
    match (mechanism.unit, mechanism.central) {
        _ if mechanism.steps.is_some() => "a batch's sum of values",
        (Unit::Row, _) => "examples",
        (Unit::Client, false) => "a client's value",
        (Unit::Client, true) => "the server's value",
    }
}

/// The ε of training with noise: over the steps of some rounds.
fn trained(mechanism: &Mechanism, steps: RowSteps, rows: Option<u64>) -> String {
    let RowSteps { batch, passes } = steps;
    let mut text = format!("    N rows a round in batches of {batch}, passes: {passes}");
    let Some(rows) = rows.filter(|rows| *rows > 0) else {
        return text + ": ε depends on N\n" + ASSUMED;
    };
    let noise = mechanism.scale / mechanism.bound;
    let rate = (batch as f64 / rows as f64).min(1.0);
    let count = passes as u64 * rows.div_ceil(batch.max(1) as u64);
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        text,
        "; here N = {}, one for each example\n    {count} steps a round at q = {rate:.4} and σ = {noise:.4}; fewer rows are more ε",
        grouped(rows),
    );
    for delta in [DELTA, LOOSE] {
        let of = |rounds: u64| {
            let count = rounds * count;
            let steps = Steps { rate, noise, count };
            let epsilon = steps.epsilon(delta);
            epsilon.map_or_else(|_| "∞".to_owned(), |e| format!("{e:.3}"))
        };
        let [one, ten, hundred] = ROUNDS.map(of);
        let _ = writeln!(
            text,
            "    after 1 round ε = {one}, after 10 ε = {ten}, after 100 ε = {hundred}; δ = {delta:e}"
        );
    }
    text + ASSUMED
}

/// A neighbour differs by one that is replaced, or by one more or less.
fn epsilons(mechanism: &Mechanism) -> String {
    let of = |sensitivity: f64| match mechanism.noise {
        NoiseKind::Gaussian => gaussian_epsilon(sensitivity, mechanism.scale, DELTA),
        NoiseKind::Laplace => laplace_epsilon(sensitivity, mechanism.scale),
    };
    let text =
        |sensitivity: f64| of(sensitivity).map_or_else(|_| "∞".to_owned(), |e| format!("{e:.3}"));
    let one = match mechanism.unit {
        Unit::Row => "one example",
        Unit::Client => "one client",
    };
    match mechanism.noise {
        NoiseKind::Laplace if !mechanism.l1 => format!(
            "{one} replaced: ε = {:.3} · √F of F entries; the bound is on the L2 norm, and Laplace noise hides the L1 norm",
            2.0 * mechanism.bound / mechanism.scale
        ),
        NoiseKind::Laplace => format!(
            "{one} replaced: ε = {}; added or removed: ε = {}; δ = 0",
            text(2.0),
            text(1.0)
        ),
        NoiseKind::Gaussian => format!(
            "{one} replaced: ε = {}; added or removed: ε = {}; δ = {DELTA:e}",
            text(2.0 * mechanism.bound),
            text(mechanism.bound)
        ),
    }
}
