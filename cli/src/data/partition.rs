//! The subcommand `fedround data partition`: how many examples of each class every client gets.

use std::path::Path;

use comfy_table::{Cell, CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use fedround_data::Partition;
use fedround_data::partition::class_counts;
use serde::Serialize;

use super::args::PartitionArgs;
use super::error::DataCommandError;
use crate::error::CliError;
use crate::files::{json, write_text};
use crate::plot::HeatMap;
use crate::settings::CLIENTS;

/// The classes that get a column of their own.
const COLUMNS: usize = 12;

/// Who has what.
#[derive(Serialize)]
struct Dealt<'a> {
    data: String,
    partition: String,
    seed: u64,
    /// Of the training set, and those of them that clients hold.
    examples: usize,
    held: usize,
    /// Names.
    classes: &'a [String],
    /// In the order of their numbers.
    clients: Vec<Client<'a>>,
}

/// How many examples a client has.
#[derive(Serialize)]
struct Client<'a> {
    training: usize,
    test: usize,
    /// Training examples of each class.
    of_class: &'a [usize],
}

/// Runs the subcommand.
pub(super) fn partition(args: &PartitionArgs) -> Result<String, CliError> {
    let partition: Partition = args.partition.parse().map_err(DataCommandError::from)?;
    let data = args.dataset.load()?;
    let named = data.clients().filter(|_| partition == Partition::Natural);
    let clients = args.clients.or(named).unwrap_or(CLIENTS);
    let splits = partition.deal(&data, clients, args.seed);
    let splits = splits.map_err(DataCommandError::from)?;
    let tests: Vec<usize> = splits.iter().map(|split| split.test.len()).collect();
    let parts: Vec<Vec<usize>> = splits.into_iter().map(|split| split.train).collect();
    let labels = data.train.labels();
    let counts = class_counts(&parts, labels, data.classes);
    if let Some(out) = &args.out {
        let title = format!("{}, {partition}", data.name);
        write_text(out, &holdings(out, &title, &counts, &data.class_names)?)?;
    }
    let sizes = || parts.iter().map(Vec::len);
    let held: usize = sizes().sum();
    if args.json {
        let own = counts.iter().zip(&tests).zip(sizes());
        return json(&Dealt {
            data: data.name.to_string(),
            partition: partition.to_string(),
            seed: args.seed,
            examples: labels.len(),
            held,
            classes: &data.class_names,
            clients: own
                .map(|((counts, &test), training)| Client {
                    training,
                    test,
                    of_class: counts,
                })
                .collect(),
        });
    }
    let mut text = format!(
        "{}\n{held} of {} training examples held by {} clients, {} to {} each\n",
        rows(&counts, &tests, &data.class_names),
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

/// Draws how many examples of each class, by row, each client has, `[clients][classes]`; `path` is where
/// the drawing will be.
pub(crate) fn holdings(
    path: &Path,
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
    map.text(path)
}

/// A row for each client: its training and test examples, its classes, and how
/// many training examples of each class, where there are few classes; else of
/// those that it has most of.
fn rows(counts: &[Vec<usize>], tests: &[usize], names: &[String]) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED);
    let wide = names.len() <= COLUMNS;
    let mut header = vec!["client", "train", "test", "classes"];
    match wide {
        true => header.extend(names.iter().map(String::as_str)),
        false => header.push("most of"),
    }
    table.set_header(header);
    for (client, (counts, &test)) in counts.iter().zip(tests).enumerate() {
        let held = counts.iter().filter(|&&n| n > 0).count();
        let total: usize = counts.iter().sum();
        let mut row = [client, total, test, held].map(number).to_vec();
        match wide {
            true => row.extend(counts.iter().copied().map(number)),
            false => row.push(Cell::new(most(counts, names))),
        }
        table.add_row(row);
    }
    table
}

fn number(n: usize) -> Cell {
    Cell::new(n).set_alignment(CellAlignment::Right)
}

/// The four classes of which there is most.
fn most(counts: &[usize], names: &[String]) -> String {
    let mut held: Vec<_> = counts.iter().zip(names).filter(|(n, _)| **n > 0).collect();
    held.sort_by(|a, b| b.0.cmp(a.0));
    let said = held.iter().take(4).map(|(n, name)| format!("{name} {n}"));
    said.collect::<Vec<_>>().join(", ")
}
