//! What noise hides, in numbers: a section of `explain`.

use std::fmt::Write;

use fedround_ir::fed::Module;
use fedround_metrics::privacy::{gaussian_epsilon, laplace_epsilon};
use fedround_passes::fed::{Mechanism, NoiseKind, Unit, mechanisms};

/// `δ` of the statements.
const DELTA: f64 = 1e-5;

/// The ε of each mechanism of a phase, and what it rests on; nothing where there is no noise.
pub(super) fn statement(module: &Module) -> String {
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
            "  {}: {noise} of {} on {who} of norm at most {}\n    {}",
            mechanism.loc,
            mechanism.scale,
            mechanism.bound,
            epsilons(mechanism),
        );
    }
    text + "  For one release of what is noised there; more of them add up. Nothing is said of what\n  crosses without noise: see Wire.\n"
}

fn kind(mechanism: &Mechanism) -> &'static str {
    match mechanism.noise {
        NoiseKind::Gaussian => "Gaussian noise",
        NoiseKind::Laplace => "Laplace noise",
    }
}

fn subject(mechanism: &Mechanism) -> &'static str {
    match (mechanism.unit, mechanism.central) {
        (Unit::Row, _) => "examples",
        (Unit::Client, false) => "a client's value",
        (Unit::Client, true) => "the server's value",
    }
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
