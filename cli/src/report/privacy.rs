//! The part of a report on noise of differential privacy: the (ε, δ) that runs spent.

use fedround::privacy::{NoiseSource, Spent, delta_text};
use maud::{Markup, html};

use super::charts::Group;
use super::page::{section, table};
use crate::compare::Record;

/// What stands in place of an ε that nobody knows.
const NO_BOUND: &str = "no bound";
/// What stands in place of the ε of noise that no round has added.
const NO_NOISE: &str = "no noise yet";

/// The ε of a run among its first numbers.
pub(super) fn fact(record: &Record) -> Option<(String, String)> {
    let spent = record.privacy.as_ref()?;
    let delta = delta_text(spent.delta);
    Some((format!("ε at δ = {delta}"), epsilon(spent)))
}

/// The noise of a run, place by place.
pub(super) fn of_run(record: &Record) -> Option<Markup> {
    let spent = record.privacy.as_ref()?;
    let rows = spent.guarantees.iter().map(|place| {
        let why = place.no_bound.clone().unwrap_or_default();
        let epsilon = match place.rounds {
            0 => NO_NOISE.to_owned(),
            _ => known(place.epsilon),
        };
        let neighbours = place
            .neighbours
            .map_or_else(String::new, |it| it.to_string());
        let delta = delta_text(place.delta);
        vec![place.at.clone(), epsilon, delta, neighbours, why]
    });
    let rows: Vec<_> = rows.collect();
    let header: &[&str] = match rows.iter().all(|row| row[4].is_empty()) {
        true => &["noise added at", "ε", "δ", "neighbours"],
        false => &[
            "noise added at",
            "ε",
            "δ",
            "neighbours",
            "why there is no bound",
        ],
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
        // A run without a bound spent more than any with one, unless it has added no noise.
        let most = spent.max_by(|a, b| bound(a).total_cmp(&bound(b)))?;
        let name = group.name.clone();
        let row = vec![name, epsilon(most), delta_text(most.delta)];
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

/// What a run is compared by with those of other seeds.
fn bound(spent: &Spent) -> f64 {
    let unknown = match spent.has_noise() {
        true => f64::INFINITY,
        false => 0.0,
    };
    spent.epsilon.unwrap_or(unknown)
}

/// The ε of a run. A run of no round has spent nothing, and one without noise in its rounds has no ε.
fn epsilon(spent: &Spent) -> String {
    match (spent.epsilon, spent.totals()) {
        (None, _) if !spent.has_noise() => NO_NOISE.to_owned(),
        (None, Some(totals)) => {
            let of_each = totals.iter();
            let of_each = of_each.map(|total| format!("{} ({})", total.epsilon, total.neighbours));
            of_each.collect::<Vec<String>>().join(" and ")
        }
        (epsilon, _) => known(epsilon),
    }
}

fn known(epsilon: Option<f64>) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A run with noise at one place, after so many rounds with it.
    fn run(rounds: usize, epsilon: Option<f64>) -> Record {
        let place = match rounds {
            0 => Some(0.0),
            _ => epsilon,
        };
        let privacy = serde_json::json!({
            "noise": "system",
            "epsilon": epsilon,
            "delta": 0.5,
            "mechanisms": [{ "at": "a.rs:1", "rounds": rounds, "epsilon": place, "delta": 0.5 }],
        });
        Record {
            privacy: Some(serde_json::from_value(privacy).unwrap()),
            ..Record::of_lines(vec![])
        }
    }

    fn groups(runs: Vec<Record>) -> String {
        let name = "dp".to_owned();
        of_groups(&[Group { name, runs }]).unwrap().into_string()
    }

    #[test]
    fn a_run_without_noise_so_far_is_not_one_without_a_bound() {
        let fact = |run: &Record| fact(run).unwrap().1;
        assert_eq!(fact(&run(0, None)), NO_NOISE);
        assert_eq!(fact(&run(3, None)), NO_BOUND);
        assert_eq!(fact(&run(3, Some(1.5))), "1.5");
        let page = of_run(&run(0, None)).unwrap().into_string();
        assert!(
            page.contains(NO_NOISE) && !page.contains(NO_BOUND),
            "{page}"
        );
    }

    #[test]
    fn of_several_seeds_the_one_that_spent_most_counts() {
        let page = groups(vec![run(3, Some(1.5)), run(0, None)]);
        assert!(page.contains("1.5") && !page.contains(NO_NOISE), "{page}");
        let page = groups(vec![run(3, Some(1.5)), run(3, None)]);
        assert!(page.contains(NO_BOUND), "{page}");
        assert!(groups(vec![run(0, None)]).contains(NO_NOISE));
    }
}
