//! The page of a comparison or a sweep.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fedround_metrics::progress::Point;
use maud::{Markup, html};

use super::algorithm::Algorithm;
use super::charts::{Group, chart, legend, over_rounds};
use super::page::{self, code, missing, section, table};
use super::{algorithm, measures, phases, privacy, tiles};
use crate::catalog::Catalog;
use crate::compare::{
    COMPARISON, CompareError, Comparison, Line, Quantity, Record, Row, RunRow, Spread, tables,
};
use crate::error::CliError;
use crate::plot::{Axis, Chart, Series};
use crate::reproduce::TABLE;
use crate::terminal::percent;
use crate::terminal::table::NOTHING;
use crate::trained::settings_of_run;

/// The page of the comparison in a folder.
pub(super) fn page(catalog: &Catalog, dir: &Path) -> Result<Markup, CliError> {
    let path = dir.join(COMPARISON);
    let text = fs::read_to_string(&path).map_err(CliError::io("read", &path))?;
    let numbers: Comparison = serde_json::from_str(&text).map_err(|error| {
        let (path, message) = (path.clone(), error.to_string());
        CompareError::Results { path, message }
    })?;
    let groups = groups(dir, &numbers)?;
    let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
    let title = format!("{} on {}", names.join(", "), numbers.data);
    let about = format!(
        "{}, {} clients by {}, {} rounds, {}",
        numbers.model,
        numbers.clients,
        numbers.partition,
        numbers.rounds,
        match numbers.seeds.len() {
            1 => "one seed".to_owned(),
            n => format!("{n} seeds"),
        },
    );
    let mut sections = vec![];
    // Of a paper's table there is more to say than of its runs alone.
    if let Ok(table) = fs::read_to_string(dir.join(TABLE)) {
        sections.push(section("Table of the paper", code(&table)));
    }
    sections.push(section("Table", all_tables(&numbers)));
    sections.push(section("Curves", curves(&groups, &numbers)?));
    sections.extend(measures::sections(&groups, Group::complete));
    sections.extend(privacy::of_groups(&groups));
    sections.extend(classes(&groups));
    sections.extend(clients(&groups, &numbers));
    sections.extend(algorithm::sections(
        catalog,
        &algorithms(dir, &numbers, &groups)?,
    ));
    sections.push(section("Runs", runs(&numbers)));
    sections.push(section(
        "Command",
        html! {
            p { "This command runs all of it again, or what is missing of it:" }
            (code(&numbers.command))
        },
    ));
    Ok(page::page(&title, &about, sections))
}

/// The runs that have ended, of the algorithms that are compared.
fn groups(dir: &Path, numbers: &Comparison) -> Result<Vec<Group>, CliError> {
    let group = |name: &Row| {
        let own = numbers
            .runs
            .iter()
            .filter(|row| row.algorithm == name.algorithm);
        let runs = own.map(|row| Record::read_to_report(&dir.join(&row.folder)));
        let runs: Vec<Option<Record>> = runs.collect::<Result<_, CliError>>()?;
        Ok(Group {
            name: name.algorithm.clone(),
            runs: runs.into_iter().flatten().collect(),
        })
    };
    numbers.algorithms.iter().map(group).collect()
}

/// The algorithms of which there is a run, each by its first one.
fn algorithms(
    dir: &Path,
    numbers: &Comparison,
    groups: &[Group],
) -> Result<Vec<Algorithm>, CliError> {
    let mut found = vec![];
    for Group { name, .. } in groups {
        let row = numbers.runs.iter().find(|row| row.algorithm == *name);
        let run = row.map(|row| dir.join(&row.folder));
        if let Some(run) = run.filter(|run| run.is_dir()) {
            found.push(Algorithm {
                name: name.clone(),
                settings: settings_of_run(&run, None)?,
                dir: run,
            });
        }
    }
    Ok(found)
}

/// The tables that the command prints.
fn all_tables(numbers: &Comparison) -> Markup {
    html! {
        @for (table, about) in tables(numbers, NOTHING) {
            (page::of_table(&table))
            p.note { (about) }
        }
    }
}

fn curves(groups: &[Group], numbers: &Comparison) -> Result<Markup, CliError> {
    let phases = phases::of_groups(groups);
    let names: Vec<(usize, &str)> = groups
        .iter()
        .enumerate()
        .map(|(i, g)| (i, g.name.as_str()))
        .collect();
    let rounds = |y| Chart::rounds(y).with_phases(&phases);
    let share = Axis::Share("accuracy");
    let (loss, seconds) = (Axis::Number("loss"), Axis::Number("seconds"));
    let target_of = |of| numbers.target.filter(|_| numbers.target_of == of);
    let to_target = Chart {
        target: target_of(Quantity::Accuracy),
        ..rounds(share)
    };
    let over_bytes = Chart {
        x: Axis::Bytes("bytes"),
        phases: &[],
        ..to_target
    };
    let of_clients = Chart {
        target: target_of(Quantity::LocalAccuracy),
        ..rounds(share)
    };
    let accuracies = |x: fn(&Point) -> f64| -> Vec<Series> {
        groups.iter().map(|group| group.accuracy(x)).collect()
    };
    let by_round = accuracies(|point| point.round as f64);
    let by_bytes = accuracies(|point| point.bytes as f64);
    let local = |line: &Line| Some(line.local_accuracy.as_ref()?.mean);
    let charts = [
        chart("Accuracy of what is trained", to_target, &by_round, false)?,
        chart("The same over bytes sent", over_bytes, &by_bytes, false)?,
        over_rounds("Server's model, test set", rounds(share), groups, |l| {
            l.test_accuracy
        })?,
        over_rounds("Clients' own test data", of_clients, groups, local)?,
        over_rounds("Test loss", rounds(loss), groups, |l| l.test_loss)?,
        over_rounds(
            "Loss on clients' own test data",
            rounds(loss),
            groups,
            Line::client_loss,
        )?,
        over_rounds("Training loss", rounds(loss), groups, |l| l.train_loss)?,
        over_rounds("Virtual time of a round", rounds(seconds), groups, |l| {
            l.virtual_seconds
        })?,
    ];
    let further = measures::of_runs(groups).into_iter();
    let further = further.map(|m| over_rounds(&m.title, rounds(m.axis), groups, m.value));
    let further: Vec<_> = further.collect::<Result<_, _>>()?;
    let charts = charts.into_iter().chain(further).flatten();
    let bands = match numbers.seeds.len() {
        1 => "One seed: there are no bands.",
        _ => "Lines are means over seeds; bands are Student's 95 % intervals of the mean.",
    };
    Ok(html! {
        p.note { (bands) }
        (legend(&names))
        div.charts { @for chart in charts { (chart) } }
    })
}

/// The accuracy of each class after the last round.
fn classes(groups: &[Group]) -> Option<Markup> {
    let any = groups
        .iter()
        .flat_map(Group::complete)
        .find(|run| !run.class_accuracy.is_empty())?;
    let row = |class: &String| {
        let of = |group: &Group| {
            let runs = group.complete().into_iter();
            let accuracies = runs.filter_map(|run| run.class_accuracy.get(class)?.as_f64());
            Some(Spread::of(accuracies)?.mean)
        };
        (class.clone(), groups.iter().map(of).collect())
    };
    let rows: Vec<(String, Vec<Option<f64>>)> = any.class_accuracy.keys().map(row).collect();
    let about = "Test accuracy of each class after the last round, means over seeds.";
    Some(section(
        "Classes",
        html! { p.note { (about) } (tiles::table("class", groups, &rows)) },
    ))
}

/// The accuracy of each client with the first seed: with others, clients have other data.
fn clients(groups: &[Group], numbers: &Comparison) -> Option<Markup> {
    let seed = numbers.seeds.first().copied();
    let runs: Vec<Option<&Record>> = groups.iter().map(|group| with_seed(group, seed)).collect();
    let accuracies = |run: &Record| run.client_accuracy.clone();
    let all: Vec<Vec<Option<f64>>> = runs
        .iter()
        .map(|run| run.map(accuracies).unwrap_or_default())
        .collect();
    let most = all.iter().map(Vec::len).max().filter(|most| *most > 0)?;
    let row = |client: usize| {
        let own = all.iter().map(|own| own.get(client).copied().flatten());
        (client.to_string(), own.collect())
    };
    let rows: Vec<(String, Vec<Option<f64>>)> = (0..most).map(row).collect();
    let about = format!(
        "Accuracy of each client on its own test examples with seed {}, after the last round.",
        seed.unwrap_or_default(),
    );
    let losses = all_client_losses(&runs);
    let body = html! {
        p.note { (about) }
        (tiles::table("client", groups, &rows))
        @if !losses.is_empty() {
            p.note { "The loss of the same, in nats." }
            (measures::losses_table("client", groups, &losses))
        }
    };
    Some(section("Clients", body))
}

/// The complete run of an algorithm with a seed, if there is one.
fn with_seed(group: &Group, seed: Option<u64>) -> Option<&Record> {
    let mut complete = group.complete().into_iter();
    complete.find(|run| run.seed == seed)
}

/// The loss of each client in a run of each algorithm, where one of them knows it.
fn all_client_losses(runs: &[Option<&Record>]) -> Vec<(String, Vec<Option<f64>>)> {
    let of = |run: &Option<&Record>| run.map(Record::client_losses).unwrap_or_default();
    let all: Vec<_> = runs.iter().map(of).collect();
    let clients: BTreeSet<usize> = all.iter().flat_map(|own| own.keys().copied()).collect();
    let row = |client: usize| {
        let own = all.iter().map(|own| own.get(&client).copied());
        (client.to_string(), own.collect())
    };
    clients.into_iter().map(row).collect()
}

fn runs(numbers: &Comparison) -> Markup {
    let fraction = |value: Option<f64>| value.map_or("-".to_owned(), percent);
    let row = |run: &RunRow| {
        vec![
            run.algorithm.clone(),
            run.seed.to_string(),
            run.status.clone(),
            fraction(run.accuracy),
            fraction(run.best_accuracy),
            run.folder.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = numbers.runs.iter().map(row).collect();
    let failed = numbers.runs.iter().filter_map(|run| {
        let error = run.error.as_ref()?;
        Some(format!("{}, seed {}: {error}", run.algorithm, run.seed))
    });
    html! {
        (table(&["algorithm", "seed", "status", "accuracy", "best", "folder"], &rows))
        @for error in failed { (missing(&error)) }
        p.note { "Each folder has a config.toml: " code { "fedround run --config FOLDER/config.toml --out again" } " repeats that run." }
    }
}

#[cfg(test)]
mod tests {
    use fedround::experiment::Status;

    use super::*;

    #[test]
    fn clients_are_those_of_one_seed_in_complete_runs() {
        let run = |seed: u64, status: Status, accuracy: f64| Record {
            seed: Some(seed),
            status,
            client_accuracy: vec![Some(accuracy)],
            ..Record::of_lines(vec![])
        };
        let group = Group {
            name: "a".to_owned(),
            runs: vec![
                run(2, Status::Complete, 0.5),
                run(3, Status::Failed, 0.25),
                run(4, Status::Complete, 0.75),
            ],
        };
        // The run of the first seed is not there, and another one has other clients.
        let found = |seed| with_seed(&group, Some(seed)).map(|run| run.client_accuracy[0]);
        assert_eq!(found(1), None);
        assert_eq!(found(3), None);
        assert_eq!(found(4), Some(Some(0.75)));
        let classes = |accuracy: f64| serde_json::json!({ "zero": accuracy });
        let mut groups = [group];
        for (run, accuracy) in groups[0].runs.iter_mut().zip([0.5, 0.0, 1.0]) {
            let serde_json::Value::Object(own) = classes(accuracy) else {
                panic!("expected an object");
            };
            run.class_accuracy = own;
        }
        let text = super::classes(&groups).unwrap().into_string();
        assert!(text.contains("75.0 %"), "{text}");
    }
}
