//! The part of a report on noise of differential privacy: the (ε, δ) that runs spent.

use fedround::privacy::{NoiseSource, Spent, delta_text};
use maud::{Markup, html};

use super::charts::Group;
use super::page::{section, table};
use crate::compare::Record;

/// What stands in place of an ε that nobody knows.
const NO_BOUND: &str = "no bound";

/// The ε of a run among its first numbers.
pub(super) fn fact(record: &Record) -> Option<(String, String)> {
    let spent = record.privacy.as_ref()?;
    let delta = delta_text(spent.delta);
    Some((format!("ε at δ = {delta}"), epsilon(spent.epsilon)))
}

/// The noise of a run, place by place.
pub(super) fn of_run(record: &Record) -> Option<Markup> {
    let spent = record.privacy.as_ref()?;
    let rows = spent.guarantees.iter().map(|place| {
        let why = place.no_bound.clone().unwrap_or_default();
        let [at, epsilon] = [place.at.clone(), epsilon(place.epsilon)];
        vec![at, epsilon, delta_text(place.delta), why]
    });
    let rows: Vec<_> = rows.collect();
    let header: &[&str] = match rows.iter().all(|row| row[3].is_empty()) {
        true => &["noise added at", "ε", "δ"],
        false => &["noise added at", "ε", "δ", "why there is no bound"],
    };
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| row.into_iter().take(header.len()).collect())
        .collect();
    Some(section(
        "Privacy",
        html! {
            p.note { "What " (record.rounds) " rounds spent together, place by place. " (noise_source_note(spent)) }
            (table(header, &rows))
        },
    ))
}

/// The ε of each algorithm with noise: that of its run that spent most.
pub(super) fn of_groups(groups: &[Group]) -> Option<Markup> {
    let row = |group: &Group| {
        let spent = group.runs.iter().filter_map(|run| run.privacy.as_ref());
        // A run without a bound spent more than any with one.
        let most = spent.max_by(|a, b| bound(a).total_cmp(&bound(b)))?;
        let name = group.name.clone();
        let row = vec![name, epsilon(most.epsilon), delta_text(most.delta)];
        Some((row, noise_source_note(most)))
    };
    let (rows, notes): (Vec<_>, Vec<_>) = groups.iter().filter_map(row).unzip();
    let note = notes.first()?;
    Some(section(
        "Privacy",
        html! {
            p.note { "Spent over a whole run; of several seeds, the largest ε. " (note) }
            (table(&["algorithm", "ε", "δ"], &rows))
        },
    ))
}

fn bound(spent: &Spent) -> f64 {
    spent.epsilon.unwrap_or(f64::INFINITY)
}

fn epsilon(epsilon: Option<f64>) -> String {
    epsilon.map_or_else(|| NO_BOUND.to_owned(), |epsilon| epsilon.to_string())
}

/// Where the noise came from.
fn noise_source_note(spent: &Spent) -> &'static str {
    match spent.noise {
        NoiseSource::Reproducible => {
            "The noise came from the seed, so these runs can be repeated and keep nothing private; ε is that of the same runs with noise from the system."
        }
        NoiseSource::System => "The noise came from the system's generator.",
    }
}
