//! A text on the privacy of an algorithm: the noise of a round, and the ε that it gives. `fedround explain` prints it.

use std::fmt::Write;

use fedround_ir::fed::Module;
use fedround_metrics::accountant::{Sampling, Steps};
use fedround_metrics::privacy::{gaussian_epsilon, laplace_epsilon};
use fedround_passes::fed::{Mechanism, NoiseKind, RowSteps, Unit, mechanisms};
use fedround_passes::report::number_format::grouped;

use super::bound::{
    NoBound, after_rounds, delta_text, number, of_passes, replaced, rounds_of, usual_steps,
};
use super::cohort_passes::InPasses;
use super::grounds::{of_all, once};

/// The other `δ` of training with noise: that of ADCOL's table.
const LOOSE: f64 = 1e-2;

/// What the numbers of a [`statement`] are of.
#[derive(Clone, Copy, Debug)]
pub struct StatementInputs {
    /// The number of clients.
    pub clients: usize,
    /// Clients of a round, where that does not depend on the round.
    pub cohort: Option<usize>,
    /// Examples of each client.
    pub examples: u64,
    /// The δ of each ε.
    pub delta: f64,
}

/// The ε of each mechanism of a phase, and what they rest on; nothing where there is no noise.
pub fn statement(module: &Module, inputs: StatementInputs) -> String {
    let StatementInputs {
        clients,
        cohort,
        examples,
        delta,
    } = inputs;
    let found = mechanisms(module);
    let (known, unknown) = (&found.known, &found.unknown);
    if known.is_empty() && unknown.is_empty() {
        return String::new();
    }
    let mut text = "\nPrivacy\n".to_owned();
    for joint in found.joint() {
        text.extend(joint.iter().map(|mechanism| place(mechanism)));
        if let Some(passes) = InPasses::of(&joint, clients) {
            text += &passes.text(delta);
            continue;
        }
        text += &match (joint.as_slice(), rounds_of(&joint, clients, 1)) {
            (_, Some(one)) => of_clients(joint.len(), one, clients, delta),
            ([mechanism, ..], None) => match mechanism.steps {
                Some(steps) => {
                    let rows = cohort.and_then(|clients| steps.rows(clients, examples));
                    trained(mechanism, steps, rows, delta)
                }
                None => added(mechanism, examples, delta),
            },
            ([], None) => String::new(),
        };
    }
    for loc in unknown {
        let _ = writeln!(
            text,
            "  {loc}: noise of which the graph tells no ε: {}",
            NoBound::Unclipped
        );
    }
    text + &of_all(known)
}

/// Where the noise is, and on what.
fn place(mechanism: &Mechanism) -> String {
    let (who, noise) = (subject(mechanism), kind(mechanism));
    let Mechanism {
        loc, scale, bound, ..
    } = mechanism;
    match mechanism.adaptive {
        true => format!(
            "  {loc}: {noise} of {scale:.4} C on {who} of norm at most C, which rounds compute\n"
        ),
        false => format!(
            "  {loc}: {noise} of {} on {who} of norm at most {bound}\n",
            *scale as f32
        ),
    }
}

fn kind(mechanism: &Mechanism) -> &'static str {
    match mechanism.noise {
        NoiseKind::Gaussian if mechanism.cohort.is_some_and(|sum| sum.tree) => {
            "Gaussian noise of a tree, each node's"
        }
        NoiseKind::Gaussian => "Gaussian noise",
        NoiseKind::Laplace => "Laplace noise",
    }
}

fn subject(mechanism: &Mechanism) -> &'static str {
    match (mechanism.unit, mechanism.central) {
        _ if mechanism.steps.is_some() => "a batch's sum of values",
        _ if mechanism.cohort.is_some_and(|sum| sum.mean) => "a cohort's mean of values",
        _ if mechanism.cohort.is_some() => "a cohort's sum of values",
        (Unit::Row, _) => "rows",
        (Unit::Client, false) => "a client's value",
        (Unit::Client, true) => "the server's value",
    }
}

/// The ε of training with noise, over the steps of some rounds: what is proven, and, of a server that
/// trains, what is usually said.
fn trained(mechanism: &Mechanism, steps: RowSteps, rows: Option<u64>, delta: f64) -> String {
    let RowSteps { batch, passes, .. } = steps;
    let deltas = [delta, LOOSE];
    let mut text =
        format!("    proven of shuffled batches, passes over the rows in a round: {passes}\n");
    text += &after_rounds(&deltas, |rounds, delta| {
        of_passes(mechanism, steps, rounds, delta)
    });
    if !mechanism.central {
        return text;
    }
    let round = rows.and_then(|rows| Some((rows, usual_steps(mechanism, steps, rows)?)));
    let Some((rows, round)) = round else {
        return text
            + &format!(
                "    the usual figure, no bound of shuffled batches: ε depends on the N rows of a round, in batches of {batch}\n"
            );
    };
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        text,
        "    the usual figure, no bound of shuffled batches: {} steps at q = {:.4} and σ = {:.4}, as\n    N = {} rows a round here, in batches of {batch}; fewer rows are more ε",
        round.count,
        round.rate,
        round.noise,
        grouped(rows),
    );
    text + &after_rounds(&deltas, |rounds, delta| {
        let count = rounds * round.count;
        Steps { count, ..round }.epsilon(delta)
    })
}

/// The ε of noise on so many sums over a cohort, of a federation with so many clients.
fn of_clients(sums: usize, one: Steps, clients: usize, delta: f64) -> String {
    let mut text = match sums {
        1 => String::new(),
        _ => "    sums over one cohort are one vector: σ = (Σ 1/σᵢ²)^(-1/2)\n".to_owned(),
    };
    text += &match one.sampling {
        Sampling::Poisson => format!(
            "    each client takes part with probability {:.4}; one is there or not, σ = {:.4}\n",
            one.rate, one.noise
        ),
        Sampling::Fixed => format!(
            "    {} of {clients} clients take part; one is replaced, σ = {:.4} of what it moves\n",
            (one.rate * clients as f64).round(),
            one.noise
        ),
    };
    let steps = |rounds| Steps {
        count: rounds,
        ..one
    };
    text += "    RDP:\n";
    text += &after_rounds(&[delta], |rounds, delta| steps(rounds).epsilon(delta));
    let by_losses = |rounds, delta| steps(rounds).epsilon_by_losses(delta);
    if by_losses(1, delta).is_ok_and(f64::is_infinite) {
        // Its probabilities are those of doubles, on a grid of limited size.
        return text + "    PLD: no bound, as δ or the noise is too small for its precision\n";
    }
    text += "    PLD:\n";
    text + &after_rounds(&[delta], by_losses)
}

/// The ε of noise on a value, as often as a round adds it.
fn added(mechanism: &Mechanism, examples: u64, delta: f64) -> String {
    if once(mechanism) {
        return format!("    {}\n", epsilons(mechanism, delta));
    }
    let Some(loops) = &mechanism.repetitions else {
        return format!(
            "    of one repetition, {}; of a round no ε is known: {}\n",
            epsilons(mechanism, delta),
            NoBound::Loop
        );
    };
    let times = loops.count(examples);
    if let Err(reason) = replaced(mechanism, 1.0, delta) {
        let each = epsilons(mechanism, delta);
        return format!(
            "    of one repetition of {times}, {each}; of a round no ε is known: {reason}\n"
        );
    }
    let one = match mechanism.unit {
        Unit::Row => "one row",
        Unit::Client => "one client",
    };
    let delta = match mechanism.noise {
        NoiseKind::Gaussian => delta,
        NoiseKind::Laplace => 0.0,
    };
    let text = format!(
        "    added {} times a round, of {} examples of a client; {one} replaced each time:\n",
        grouped(times),
        grouped(examples)
    );
    text + &after_rounds(&[delta], |rounds, delta| {
        replaced(mechanism, rounds as f64 * times as f64, delta)
    })
}

/// A neighbour has another value in its place, or zeros.
fn epsilons(mechanism: &Mechanism, at: f64) -> String {
    let delta = match mechanism.noise {
        NoiseKind::Gaussian => delta_text(at),
        NoiseKind::Laplace => delta_text(0.0),
    };
    let text = |sensitivity: f64| {
        number(match mechanism.noise {
            NoiseKind::Gaussian => gaussian_epsilon(sensitivity, mechanism.scale, at),
            NoiseKind::Laplace => laplace_epsilon(sensitivity, mechanism.scale),
        })
    };
    let (one, bound) = match (mechanism.unit, mechanism.noise) {
        (Unit::Row, NoiseKind::Laplace) if mechanism.l1 => ("one row", 1.0),
        (Unit::Row, _) => ("one row", mechanism.bound),
        (Unit::Client, _) => ("one client", mechanism.bound),
    };
    let replaced = text(2.0 * bound);
    if mechanism.noise == NoiseKind::Laplace && !mechanism.l1 {
        return format!(
            "{one} replaced: ε = {replaced} · √F of F entries, δ = 0; the bound is on the L2 norm, and Laplace noise hides the L1 norm"
        );
    }
    match (mechanism.unit, mechanism.central) {
        // Without one of them, what the server makes of all may be any other.
        (Unit::Client, true) => format!("{one} replaced or left out: ε = {replaced}; δ = {delta}"),
        _ => format!(
            "{one} replaced: ε = {replaced}; set to zero: ε = {}; δ = {delta}",
            text(bound)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delta_too_small_for_privacy_losses_has_no_infinite_epsilon() {
        let one = Steps {
            sampling: Sampling::Poisson,
            rate: 0.1,
            noise: 1.0,
            count: 1,
        };
        let said = |delta| of_clients(1, one, 10, delta);
        assert!(said(1e-5).contains("    PLD:\n      after 1 round"));
        let small = said(1e-18);
        assert!(small.contains("    PLD: no bound, as δ"), "{small}");
        assert!(small.contains("    RDP:\n      after 1 round"), "{small}");
        assert!(!small.contains("inf") && !small.contains('∞'), "{small}");
    }
}
