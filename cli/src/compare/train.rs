//! The runs of a grid, one after another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use fedround_data::partition::Split;
use fedround_data::{Dataset, load};

use super::ended;
use super::grid::Cell;
use super::record::{self, Record};
use crate::Cli;
use crate::assets::warnings;
use crate::error::CliError;
use crate::output::tell;
use crate::run::{DATA_SEED, Folder, Job, Progress, listen};
use crate::settings::Settings;

/// Datasets, each loaded once.
#[derive(Default)]
pub(crate) struct Datasets {
    loaded: BTreeMap<String, Rc<Dataset>>,
    quiet: bool,
}

impl Datasets {
    /// None yet; `quiet` ones keep their notes to themselves.
    pub fn new(quiet: bool) -> Self {
        Self {
            quiet,
            ..Self::default()
        }
    }

    /// The one that a run needs.
    pub fn load(&mut self, settings: &Settings) -> Result<Rc<Dataset>, CliError> {
        if let Some(data) = self.loaded.get(&settings.data) {
            return Ok(data.clone());
        }
        let data = load(&settings.data, settings.data_dir.as_deref(), DATA_SEED)?;
        if !self.quiet {
            data.notes.iter().for_each(|note| tell!("note: {note}"));
        }
        let data = Rc::new(data);
        self.loaded.insert(settings.data.clone(), data.clone());
        Ok(data)
    }
}

/// What a run trains on.
pub(crate) struct Deal {
    data: Rc<Dataset>,
    splits: Rc<Vec<Split>>,
}

/// Loads the data, deals it for every seed and compiles every algorithm, so that what cannot run
/// is known before anything does. `None` for what need not be run.
pub(crate) fn prepare(
    cli: &Cli,
    cells: &[Cell],
    records: &[Option<Record>],
    datasets: &mut Datasets,
) -> Result<Vec<Option<Deal>>, CliError> {
    let mut dealt: BTreeMap<_, Rc<Vec<Split>>> = BTreeMap::new();
    let (mut compiled, mut warned) = (vec![], BTreeSet::new());
    let mut deal = |(cell, record): (&Cell, &Option<Record>)| {
        if ended(record) {
            return Ok(None);
        }
        let settings = &cell.settings;
        let data = datasets.load(settings)?;
        let partition = settings.partition.to_string();
        let key = (
            data.name.clone(),
            partition,
            settings.clients,
            settings.seed,
        );
        let splits = match dealt.get(&key) {
            Some(there) => there.clone(),
            None => {
                let partition = &settings.partition;
                Rc::new(partition.deal(&data, settings.clients, settings.seed)?)
            }
        };
        dealt.insert(key, splits.clone());
        if !compiled.contains(&cell.entrant) {
            let algorithm = cell.algorithm(cli)?;
            let job = Job::new(cli, settings, &*algorithm, &data, &splits)?;
            for warning in warnings(job.program()) {
                if warned.insert(warning.clone()) {
                    tell!("warning: {warning}");
                }
            }
            compiled.push(cell.entrant);
        }
        Ok(Some(Deal { data, splits }))
    };
    cells.iter().zip(records).map(&mut deal).collect()
}

/// Trains whatever has not ended, until Ctrl-C, and reads what came of it.
pub(crate) fn train(
    cli: &Cli,
    deals: &[Option<Deal>],
    cells: &[Cell],
    records: &mut [Option<Record>],
    dir: &Path,
    quiet: bool,
) -> Result<(), CliError> {
    let all = cells.iter().zip(records).zip(deals);
    let left = all.filter_map(|((cell, record), deal)| Some((cell, record, deal.as_ref()?)));
    let left: Vec<_> = left.collect();
    if left.is_empty() {
        return Ok(());
    }
    let (stop, runs) = (listen(), left.len());
    let rounds = left.iter().map(|(cell, ..)| cell.settings.rounds).sum();
    let (mut progress, mut before) = (Progress::new(rounds, runs, quiet), 0);
    progress.note(&format!("{runs} runs, into {}", dir.display()));
    for (i, (cell, record, deal)) in left.into_iter().enumerate() {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let Settings { seed, rounds, .. } = cell.settings;
        let title = format!("[{}/{runs}] {}, seed {seed}", i + 1, cell.name);
        progress.start(before, rounds, &title);
        before += rounds;
        let path = dir.join(&cell.folder);
        one(cli, deal, cell, &path, &mut progress, stop)?;
        *record = Record::read(&path)?;
        if let Some(error) = record.as_ref().and_then(|record| record.error.as_deref()) {
            progress.note(&format!("{title} failed: {error}"));
        }
    }
    progress.finish();
    Ok(())
}

/// Trains one run from its start.
fn one(
    cli: &Cli,
    deal: &Deal,
    cell: &Cell,
    dir: &Path,
    progress: &mut Progress,
    stop: &AtomicBool,
) -> Result<(), CliError> {
    let started = Instant::now();
    let algorithm = cell.algorithm(cli)?;
    let job = Job::new(cli, &cell.settings, &*algorithm, &deal.data, &deal.splits)?;
    record::clear(dir)?;
    let folder = Folder::create(dir, job.config())?;
    job.run(cli, &folder, progress, stop, started)?;
    Ok(())
}
