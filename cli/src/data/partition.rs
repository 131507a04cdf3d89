//! The subcommand `fedround data partition`: how many examples of each class every client gets.

use std::collections::BTreeSet;

use fedround_data::partition::class_counts;
use fedround_data::{DatasetInfo, Partition, PartitionError};
use serde::Serialize;

use super::args::PartitionArgs;
use super::client_names::{self, client_names};
use super::error::DataCommandError;
use crate::drawing;
use crate::error::CliError;
use crate::files::json;
use crate::plot::HeatMap;
use crate::settings::CLIENTS;
use crate::terminal::table::{is_narrow, numbers};
use crate::terminal::tell;

/// Who has what.
#[derive(Serialize)]
struct Dealt<'a> {
    data: String,
    partition: String,
    seed: u64,
    /// How many examples the training set has.
    examples: usize,
    /// How many of them clients hold, each counted once.
    held: usize,
    /// Names.
    classes: &'a [String],
    /// In the order of their numbers.
    clients: Vec<Client<'a>>,
}

/// How many examples a client has.
#[derive(Serialize)]
struct Client<'a> {
    /// As the data calls it, where it names clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a String>,
    training: usize,
    test: usize,
    /// Training examples of each class.
    of_class: &'a [usize],
}

pub(super) fn partition(args: &PartitionArgs) -> Result<String, CliError> {
    let partition: Partition = args.partition.parse().map_err(DataCommandError::from)?;
    let data = args.dataset.load()?;
    let named = data.clients().filter(|_| partition == Partition::Natural);
    let clients = args.clients.or(named).unwrap_or(CLIENTS);
    let splits = partition.deal(&data, clients, args.seed);
    let splits = splits.map_err(|error| match error {
        PartitionError::NoGroups { .. } if DatasetInfo::find(&data.name).is_ok() => {
            DataCommandError::Ungrouped(error)
        }
        error => error.into(),
    })?;
    let tests: Vec<usize> = splits.iter().map(|split| split.test.len()).collect();
    let parts: Vec<Vec<usize>> = splits.into_iter().map(|split| split.train).collect();
    let names = client_names(&data, &partition, &parts);
    let unnamed = client_names::note(&args.dataset.reading, &data, &partition);
    if let Some(note) = unnamed {
        tell!("note: {note}");
    }
    let labels = data.train.labels();
    let counts = class_counts(&parts, labels, data.classes);
    if let Some(out) = &args.out {
        let title = format!("{}, {partition}", data.name);
        drawing::write(out, &holdings(&title, &counts, &data.class_names)?)?;
    }
    let sizes = || parts.iter().map(Vec::len);
    // Clients may share examples.
    let held = parts.iter().flatten().collect::<BTreeSet<_>>().len();
    if args.json {
        let own = counts.iter().zip(&tests).zip(sizes()).enumerate();
        return json(&Dealt {
            data: data.name.to_string(),
            partition: partition.to_string(),
            seed: args.seed,
            examples: labels.len(),
            held,
            classes: &data.class_names,
            clients: own
                .map(|(client, ((counts, &test), training))| Client {
                    name: names.get(client),
                    training,
                    test,
                    of_class: counts,
                })
                .collect(),
        });
    }
    let mut text = format!(
        "{}\n{held} of {} training examples held by {} clients, {} to {} each\n",
        rows(&counts, &tests, (&data.class_names, &names)),
        labels.len(),
        parts.len(),
        sizes().min().unwrap_or(0),
        sizes().max().unwrap_or(0),
    );
    if let Some(out) = &args.out {
        text += &format!("drawn in {}\n", out.display());
    }
    Ok(text)
}

/// Draws how many examples of each class, by row, each client has, `[clients][classes]`.
pub(crate) fn holdings(
    title: &str,
    counts: &[Vec<usize>],
    classes: &[String],
) -> Result<String, CliError> {
    let most = counts.iter().flatten().copied().max().unwrap_or(0).max(1);
    let share = |n: usize| (n > 0).then(|| n as f64 / most as f64);
    let clients: Vec<String> = (0..counts.len()).map(|client| client.to_string()).collect();
    let of_class = |class: usize| counts.iter().map(move |own| share(own[class])).collect();
    let map = HeatMap {
        title,
        columns_are: "client",
        rows: classes,
        columns: &clients,
        values: &(0..classes.len()).map(of_class).collect::<Vec<_>>(),
        ends: ("1", &format!("{most} examples")),
    };
    map.text()
}

/// A row for each client: its name, if it has one, its training and test examples, its classes, and how many training
/// examples of each class. If that is wider than a terminal, the classes that it has most of.
fn rows(
    counts: &[Vec<usize>],
    tests: &[usize],
    (names, clients): (&[String], &[String]),
) -> String {
    let named = (!clients.is_empty()).then_some("name");
    let about = ["client"].into_iter().chain(named);
    let about = about.chain(["train", "test", "classes"]);
    let about: Vec<String> = about.map(str::to_owned).collect();
    let row = |client: usize| {
        let counts = &counts[client];
        let held = counts.iter().filter(|&&n| n > 0).count();
        let sizes = [counts.iter().sum::<usize>(), tests[client], held];
        let name = clients.get(client).cloned();
        let who = [client.to_string()].into_iter().chain(name);
        who.chain(sizes.map(|n| n.to_string()))
    };
    let clients = || 0..counts.len();
    let each = clients().map(|client| {
        let of_class = counts[client].iter().map(usize::to_string);
        row(client).chain(of_class).collect()
    });
    let header = about.iter().chain(names).cloned().collect();
    let text = numbers(header, each.collect(), 0);
    if is_narrow(&text) {
        return text;
    }
    let each = clients().map(|client| {
        let most = most(&counts[client], names);
        row(client).chain([most]).collect()
    });
    let header = about.into_iter().chain(["most of".to_owned()]).collect();
    numbers(header, each.collect(), 1)
}

/// The four classes of which there is most.
fn most(counts: &[usize], names: &[String]) -> String {
    let mut held: Vec<_> = counts.iter().zip(names).filter(|(n, _)| **n > 0).collect();
    held.sort_by(|a, b| b.0.cmp(a.0));
    let said = held.iter().take(4).map(|(n, name)| format!("{name} {n}"));
    said.collect::<Vec<_>>().join(", ")
}
