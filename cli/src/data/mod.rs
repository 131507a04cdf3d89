//! `fedround data`: what there is, where its files are and what is in them.

mod args;
mod availability;
mod error;
mod fetch;
mod info;
mod partition;
mod preview;

pub(super) use args::DataArgs;
pub(super) use error::DataCommandError;
pub(super) use partition::holdings;

use fedround_data::{DATASETS, Dataset, DatasetInfo, Place};

use crate::error::CliError;
use crate::output::print;
use crate::table::columns;
use args::{DataCommand, Folder, Named};

/// Runs the subcommand.
pub(super) fn data(args: &DataArgs) -> Result<(), CliError> {
    let text = match &args.command {
        DataCommand::List(folder) => list(folder),
        DataCommand::Info(named) => info::info(named)?,
        DataCommand::Fetch(args) => fetch::fetch(args)?,
        DataCommand::Preview(args) => preview::preview(args)?,
        DataCommand::Partition(args) => partition::partition(args)?,
    };
    print(&text)
}

fn list(folder: &Folder) -> String {
    let row = |d: &DatasetInfo| {
        let present = availability::of(d, &folder.data_dir);
        [d.name.to_owned(), present.to_string(), d.doc.to_owned()]
    };
    let dir = folder.data_dir.display();
    format!(
        "Datasets, and their files in {dir}\n{}\nData of your own: images:DIR, csv:FILE, npy:X,Y, npz:FILE, leaf:DIR\n",
        columns(DATASETS.iter().map(row))
    )
}

impl Named {
    fn load(&self) -> Result<Dataset, DataCommandError> {
        let place = self.name.parse::<Place>()?;
        Ok(self.reading.read(&place, Some(&self.folder.data_dir))?)
    }
}
