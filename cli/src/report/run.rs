//! The page of a run.

use std::fs;
use std::path::Path;

use maud::{Markup, html};
use serde_json::Value as Json;

use super::algorithm::Algorithm;
use super::charts::{Group, chart, plot};
use super::page::{self, code, facts, missing, section, table};
use super::tiles;
use super::{algorithm, measures, phases, privacy};
use crate::catalog::Catalog;
use crate::compare::{Line, Record};
use crate::error::CliError;
use crate::plot::{Axis, Chart, HeatMap, Series};
use crate::run::{CONFIG, Models, SUMMARY};
use crate::terminal::command_line::quoted;
use crate::terminal::{bytes, percent};
use crate::trained::settings_of_run;

/// The page of the run in a folder.
pub(super) fn page(catalog: &Catalog, dir: &Path) -> Result<Markup, CliError> {
    let Some(record) = Record::read_to_report(dir)? else {
        return Err(CliError::NothingToReport {
            dir: dir.to_owned(),
        });
    };
    let settings = settings_of_run(dir, None)?;
    let title = format!("{} on {}", settings.spec, settings.data.name());
    let about = format!(
        "{}, {} clients by {}, seed {}, {} of {} rounds",
        settings.model,
        settings.run.clients,
        settings.run.partition,
        settings.run.seed,
        record.rounds,
        settings.rounds,
    );
    let mut sections = vec![facts(&numbers(&record))];
    if let Some(error) = &record.error {
        sections.push(missing(&format!("The run failed: {error}")));
    }
    let group = Group {
        name: "this run".to_owned(),
        runs: vec![record.clone()],
    };
    let groups = [group];
    sections.push(section("Curves", curves(&groups)?));
    sections.extend(measures::sections(&groups, Group::all));
    sections.extend(privacy::of_run(&record));
    sections.extend(classes(&record)?);
    if record.client_accuracy.iter().any(Option::is_some) {
        let losses = record.client_losses();
        let about = match losses.is_empty() {
            true => {
                "Accuracy of each client on its own test examples, with its own model if it has one. --track-clients tells the losses, too."
            }
            false => {
                "Accuracy of each client on its own test examples, with its own model if it has one, and below it the loss in nats."
            }
        };
        let body = html! { p.note { (about) } (tiles::clients(&record.client_accuracy, &losses)) };
        sections.push(section("Clients", body));
    }
    let own = Algorithm {
        name: settings.spec.clone(),
        dir: dir.to_owned(),
        settings,
    };
    sections.extend(algorithm::sections(catalog, &[own]));
    sections.push(section("Results", results(dir)?));
    sections.push(section("Configuration", configuration(dir)?));
    Ok(page::page(&title, &about, sections))
}

/// What one looks for first: accuracies, further measures, and costs.
fn numbers(record: &Record) -> Vec<(String, String)> {
    let fraction = |value: Option<f64>| value.map_or("-".to_owned(), percent);
    let of = match record.accuracy_of {
        Models::Server => "test accuracy",
        Models::Clients => "accuracy of clients' models",
    };
    let mut accuracies = vec![(of, fraction(record.accuracy))];
    match record.chosen_test_accuracy {
        Some(chosen) => accuracies.push(("chosen by validation", percent(chosen))),
        None => accuracies.push(("best, seen on test data", fraction(record.best_accuracy))),
    }
    if let Some(local) = &record.local_accuracy {
        accuracies.push(("on clients' own data", percent(local.mean)));
    }
    let mut costs = vec![
        ("sent up", bytes(record.bytes_up)),
        ("sent down", bytes(record.bytes_down)),
    ];
    if record.bytes_across > 0 {
        costs.push(("sent between clients", bytes(record.bytes_across)));
    }
    costs.push(("training", format!("{:.1} s", record.seconds)));
    let virtual_seconds = record.lines.iter().map(|line| line.virtual_seconds);
    // A run without rounds has no time.
    let sum = virtual_seconds.reduce(|sum, seconds| Some(sum? + seconds?));
    if let Some(seconds) = sum.flatten() {
        costs.push(("virtual time", format!("{seconds:.1} s")));
    }
    let owned = |(name, value): (&str, String)| (name.to_owned(), value);
    let accuracies = accuracies.into_iter().map(owned);
    accuracies
        .chain(measures::facts(record))
        .chain(privacy::fact(record))
        .chain(costs.into_iter().map(owned))
        .collect()
}

/// Accuracies, losses and costs over rounds.
fn curves(groups: &[Group; 1]) -> Result<Markup, CliError> {
    let [group] = groups;
    let phases = group.runs.first().map(phases::of_run).unwrap_or_default();
    let rounds = |y| Chart::rounds(y).with_phases(&phases);
    let of = |name: &str, value: fn(&Line) -> Option<f64>| {
        let mean = group.mean(|point| point.round as f64, value);
        Series::line(name, mean.points)
    };
    let sums = |name: &str, value: fn(&Line) -> Option<f64>| {
        let mut sum = 0.0;
        let line = of(name, value);
        let points = line.points.into_iter();
        let points = points.map(|(x, y)| {
            sum += y;
            (x, sum)
        });
        Series::line(name, points.collect())
    };
    let accuracies = vec![
        of("server's model", |line| line.test_accuracy),
        of("clients' own data", |line| {
            Some(line.local_accuracy.as_ref()?.mean)
        }),
        of("validation", |line| line.validation_accuracy),
    ];
    let losses = vec![
        of("server's model", |line| line.test_loss),
        of("clients' own data", Line::client_loss),
        of("training", |line| line.train_loss),
    ];
    let sent = vec![
        sums("up", |line| Some(line.bytes_up as f64)),
        sums("down", |line| Some(line.bytes_down as f64)),
        // Most algorithms have no such line.
        sums("between clients", |line| match line.bytes_across {
            0 => None,
            bytes => Some(bytes as f64),
        }),
    ];
    let clock = vec![sums("virtual seconds", |line| line.virtual_seconds)];
    let named = [
        ("Accuracy", Axis::Share("accuracy"), accuracies),
        ("Loss", Axis::Number("loss"), losses),
        ("Bytes sent, all clients", Axis::Bytes("bytes"), sent),
        ("Virtual time", Axis::Number("seconds"), clock),
    ];
    let named = named.into_iter();
    let named = named.map(|(title, axis, series)| chart(title, rounds(axis), &series, true));
    let further = measures::of_runs(groups).into_iter();
    let further = further.map(|measure| {
        let drawn = group.mean(|point| point.round as f64, measure.value);
        let drawn = [Series::line("", drawn.points)];
        chart(&measure.title, rounds(measure.axis), &drawn, false)
    });
    let charts: Vec<Option<Markup>> = named.chain(further).collect::<Result<_, _>>()?;
    Ok(html! { div.charts { @for chart in charts.into_iter().flatten() { (chart) } } })
}

/// The accuracy of each class over rounds.
fn classes(record: &Record) -> Result<Option<Markup>, CliError> {
    let names: Vec<String> = record.class_accuracy.keys().cloned().collect();
    let tested = record.lines.iter();
    let tested: Vec<(usize, &Vec<Option<f64>>)> = tested
        .filter_map(|line| Some((line.round, line.class_accuracy.as_ref()?)))
        .collect();
    if names.is_empty() || tested.is_empty() {
        return Ok(None);
    }
    let row = |class: usize| tested.iter().map(|(_, all)| *all.get(class)?).collect();
    let rows: Vec<Vec<Option<f64>>> = (0..names.len()).map(row).collect();
    let rounds: Vec<String> = tested.iter().map(|(round, _)| round.to_string()).collect();
    let map = HeatMap {
        title: "test accuracy of each class",
        columns_are: "round",
        rows: &names,
        columns: &rounds,
        values: &rows,
        ends: ("0 %", "100 %"),
    };
    let drawing = plot(&map.text()?);
    Ok(Some(section(
        "Classes",
        html! { figure { div.wide { (drawing) } } },
    )))
}

/// The numbers of the summary.
fn results(dir: &Path) -> Result<Markup, CliError> {
    let path = dir.join(SUMMARY);
    let text = fs::read_to_string(&path).map_err(CliError::io("read", &path))?;
    let summary: serde_json::Map<String, Json> = serde_json::from_str(&text)?;
    let rows = summary.iter().filter_map(|(name, value)| match value {
        Json::Number(number) => Some(vec![name.clone(), number.to_string()]),
        Json::String(text) => Some(vec![name.clone(), text.clone()]),
        Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => None,
    });
    Ok(table(&["quantity", "value"], &rows.collect::<Vec<_>>()))
}

/// The run's settings, and the command that repeats it.
fn configuration(dir: &Path) -> Result<Markup, CliError> {
    let path = dir.join(CONFIG);
    let text = fs::read_to_string(&path).map_err(CliError::io("read", &path))?;
    let command = format!(
        "fedround run --config {} --out again",
        quoted(&path.display().to_string())
    );
    Ok(html! {
        p { "This command repeats the run:" }
        (code(&command))
        p { "Its file, to be copied if the folder is not at hand:" }
        (code(&text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rounds_with_a_clock_have_a_virtual_time() {
        let time = |seconds: &[Option<f64>]| {
            let line = |&virtual_seconds: &Option<f64>| Line {
                virtual_seconds,
                ..Line::default()
            };
            let run = Record::of_lines(seconds.iter().map(line).collect());
            let mut found = numbers(&run).into_iter();
            found.find(|(name, _)| name == "virtual time")
        };
        assert_eq!(time(&[]), None);
        assert_eq!(time(&[None, None]), None);
        let found = time(&[Some(1.5), Some(2.0)]);
        assert_eq!(found.map(|(_, value)| value).as_deref(), Some("3.5 s"));
    }
}
