//! The subcommand `fedround data`: lists the datasets, fetches and checks their files, and shows their
//! examples.

mod args;
mod availability;
pub(crate) mod client_names;
mod error;
mod fetch;
mod info;
mod partition;
mod preview;

pub(super) use args::DataArgs;
pub(super) use error::DataCommandError;
pub(super) use partition::holdings;

use fedround_data::{DATASETS, DataLocation, Dataset, DatasetInfo};
use serde::Serialize;

use crate::error::CliError;
use crate::files::json;
use crate::terminal::print;
use crate::terminal::table::columns;
use args::{DataCommand, ListArgs, Named};

pub(super) fn data(args: &DataArgs) -> Result<(), CliError> {
    let text = match &args.command {
        DataCommand::List(args) => list(args)?,
        DataCommand::Info(args) => info::info(args)?,
        DataCommand::Fetch(args) => fetch::fetch(args)?,
        DataCommand::Preview(args) => preview::preview(args)?,
        DataCommand::Partition(args) => partition::partition(args)?,
    };
    print(&text)
}

/// A dataset of the list.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    /// `built in`, `present`, `absent`, or how many of its files are there.
    files: String,
    doc: &'static str,
}

fn list(args: &ListArgs) -> Result<String, CliError> {
    let dir = &args.folder.data_dir;
    let listed = |d: &DatasetInfo| Listed {
        name: d.name,
        files: availability::of(d, dir),
        doc: d.doc,
    };
    let all: Vec<Listed> = DATASETS.iter().map(listed).collect();
    if args.json {
        return json(&all);
    }
    let rows = all.iter().map(|d| [d.name, &d.files, d.doc]);
    Ok(format!(
        "Datasets, and their files in {}\n{}\nData of your own: images:DIR, csv:FILE, parquet:FILE,\n  npy:X,Y, npz:FILE, leaf:DIR\n",
        dir.display(),
        columns(rows)
    ))
}

impl Named {
    fn load(&self) -> Result<Dataset, DataCommandError> {
        let place = self.name.parse::<DataLocation>()?;
        Ok(self.reading.read(&place, Some(&self.folder.data_dir))?)
    }
}
