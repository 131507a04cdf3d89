//! The runs of a grid, one after another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use fedround::experiment::{Status, warnings};
use fedround_data::Dataset;

use super::ended;
use super::grid::Cell;
use super::permanent_errors::is_permanent;
use super::record::{self, Record};
use crate::catalog::Catalog;
use crate::data::client_names;
use crate::error::CliError;
use crate::run::one_of_several;
use crate::run::{
    Clock, Job, Progress, check_unchanged, has_checkpoint, last_checkpoint, lock_free,
    lock_if_there, open, remove_states,
};
use crate::settings::Settings;
use crate::settings::read_args::ReadArgs;
use crate::terminal::interrupt::{listen, stop_requested};
use crate::terminal::tell;

/// Datasets, each loaded once.
#[derive(Default)]
pub(crate) struct Datasets {
    /// By where they are and how they are read.
    loaded: Vec<((String, ReadArgs), Arc<Dataset>)>,
    quiet: bool,
}

impl Datasets {
    /// None yet; `quiet` ones keep advice to themselves.
    pub fn new(quiet: bool) -> Self {
        Self {
            quiet,
            ..Self::default()
        }
    }

    /// The one that a run needs.
    pub fn load(&mut self, settings: &Settings) -> Result<Arc<Dataset>, CliError> {
        let key = (settings.data.to_string(), settings.reading.clone());
        if let Some((_, data)) = self.loaded.iter().find(|(known, _)| *known == key) {
            return Ok(data.clone());
        }
        let data = settings.load()?;
        client_names::tell_notes(settings, &data);
        self.loaded.push((key, data.clone()));
        Ok(data)
    }

    /// The same, if a run has needed it before.
    fn loaded(&self, settings: &Settings) -> Option<&Dataset> {
        let (name, reading) = (settings.data.to_string(), &settings.reading);
        let mut loaded = self.loaded.iter();
        let found = loaded.find(|((known, read), _)| *known == name && read == reading);
        found.map(|(_, data)| &**data)
    }
}

/// Loads the data, deals it for every seed and compiles every algorithm, so that what cannot run
/// is known before anything does. Gives the data of each run, `None` for one that need not be run. The runs of
/// an earlier call are in the folder `dir`, where there is one.
pub(crate) fn prepare(
    catalog: &Catalog,
    cells: &[Cell],
    records: &[Option<Record>],
    datasets: &mut Datasets,
    dir: Option<&Path>,
) -> Result<Vec<Option<Arc<Dataset>>>, CliError> {
    let (mut compiled, mut said) = (BTreeSet::new(), vec![]);
    let mut hypers = CommandLine::default();
    let mut check = |(cell, record): (&Cell, &Option<Record>)| -> Result<_, CliError> {
        if ended(record) {
            return Ok(None);
        }
        let data = datasets.load(&cell.settings)?;
        // A run with a checkpoint does not need the files that it began with; others do.
        let folder = dir.map(|dir| dir.join(&cell.folder));
        let begun = folder.as_deref().is_some_and(has_checkpoint);
        if compiled.insert((cell.entrant, begun)) {
            let folder = folder.as_deref().filter(|_| begun);
            let job = compile(catalog, &cell.settings, &data, folder)?;
            hypers.add(catalog, &job)?;
            for line in notices(catalog, &job, datasets.quiet)? {
                if !said.contains(&line) {
                    tell!("{line}");
                    said.push(line);
                }
            }
        } else {
            let run = &cell.settings.run;
            run.partition.deal(&data, run.clients, run.dealing_seed())?;
        }
        Ok(Some(data))
    };
    let data = cells.iter().zip(records).map(&mut check);
    let data = data.collect::<Result<_, _>>()?;
    // What ended is compared with what is trained now.
    let all = cells.iter().zip(records);
    for (cell, _) in all.filter(|(_, record)| ended(record)) {
        if let (Some(dir), Some(data)) = (dir, datasets.loaded(&cell.settings)) {
            check_unchanged(&dir.join(&cell.folder), cell.settings.data.name(), data)?;
        }
    }
    let all: BTreeSet<usize> = cells.iter().map(|cell| cell.entrant).collect();
    let compiled = compiled.into_iter().map(|(entrant, _)| entrant);
    hypers.end(compiled.collect::<BTreeSet<usize>>() == all)?;
    Ok(data)
}

/// Compiles a run: to go on from the last checkpoint of a folder, if that is of use, otherwise from its start.
fn compile(
    catalog: &Catalog,
    settings: &Settings,
    data: &Arc<Dataset>,
    folder: Option<&Path>,
) -> Result<Job, CliError> {
    let found = match folder.map(last_checkpoint) {
        Some(Err(error)) if !is_permanent(&error) => return Err(error),
        found => found.and_then(Result::ok).flatten(),
    };
    let archive = found.as_ref().map(|found| &found.archive);
    let job = |archive| Job::to_restore(catalog, settings, data.clone(), archive);
    match job(archive) {
        // The run starts again.
        Err(error) if archive.is_some() && is_permanent(&error) => job(None),
        job => job,
    }
}

/// What is said of a run before it begins.
fn notices(catalog: &Catalog, job: &Job, quiet: bool) -> Result<Vec<String>, CliError> {
    let found = warnings(job.program());
    let found = found.iter().map(ToString::to_string);
    let lines = found.chain(job.warnings());
    let lines = lines.map(|warning| format!("warning: {warning}"));
    let note = one_of_several(catalog, job)?.filter(|_| !quiet);
    let note = note.map(|note| format!("note: {note}"));
    Ok(lines.chain(note).collect())
}

/// Hyper-parameters of the command line, which may belong to several algorithms.
#[derive(Default)]
struct CommandLine {
    /// Names, each with an algorithm that uses it.
    used: BTreeSet<(String, String)>,
    /// The same of those in which it changes nothing, and the flag that gave it.
    dead: BTreeMap<(String, String), &'static str>,
}

impl CommandLine {
    /// Looks at a run, unless runs of the same algorithm have shown that all of them are used.
    fn add(&mut self, catalog: &Catalog, job: &Job) -> Result<(), CliError> {
        let settings = job.settings();
        let of = |name: &String| (name.clone(), settings.spec.clone());
        let given = settings.hypers.iter().filter(|s| s.flag().is_some());
        if given.map(|s| of(&s.name)).all(|s| self.used.contains(&s)) {
            return Ok(());
        }
        let uses = job.uses(catalog)?.told();
        self.used.extend(uses.used.iter().map(of));
        let dead = uses.dead.iter();
        self.dead
            .extend(dead.map(|dead| (of(&dead.name), dead.flag)));
        Ok(())
    }

    /// Fails if there is one that no algorithm uses, where `all` were looked at; of one that some use,
    /// says which do not.
    fn end(self, all: bool) -> Result<(), CliError> {
        for (of, flag) in self.dead {
            if self.used.contains(&of) {
                continue;
            }
            let (name, spec) = of;
            let used = self.used.iter().any(|(used, _)| *used == name);
            if all && !used {
                return Err(CliError::DeadHyper { flag, name, spec });
            }
            tell!("warning: {flag} {name}: `{spec}` does not use this hyper-parameter");
        }
        Ok(())
    }
}

/// Where the runs of a grid go, and what stays of them.
#[derive(Clone, Copy)]
pub(crate) struct Output<'a> {
    /// The folder of their folders.
    pub dir: &'a Path,
    /// Whether to say nothing on the way.
    pub quiet: bool,
    /// Whether a run that ended keeps its clients' states, which can take gigabytes, because it may have to
    /// go on for more rounds.
    pub keep_states: bool,
}

/// Trains whatever has not ended, until Ctrl-C, and reads what came of it.
pub(crate) fn train(
    catalog: &Catalog,
    data: &[Option<Arc<Dataset>>],
    cells: &[Cell],
    records: &mut [Option<Record>],
    output: Output<'_>,
) -> Result<(), CliError> {
    let Output { dir, quiet, .. } = output;
    let all = cells.iter().zip(records).zip(data);
    let left = all.filter_map(|((cell, record), data)| Some((cell, record, data.as_ref()?)));
    let left: Vec<_> = left.collect();
    if left.is_empty() {
        return Ok(());
    }
    listen();
    let runs = left.len();
    let rounds = left.iter().map(|(cell, ..)| cell.settings.rounds).sum();
    let (mut progress, mut before) = (Progress::new(rounds, runs, quiet), 0);
    progress.note(&format!("{runs} runs, into {}", dir.display()));
    for (i, (cell, record, data)) in left.into_iter().enumerate() {
        if stop_requested() {
            break;
        }
        let (seed, rounds) = (cell.settings.run.seed, cell.settings.rounds);
        let title = format!("[{}/{runs}] {}, seed {seed}", i + 1, cell.name);
        progress.start(before, rounds, &title);
        before += rounds;
        let path = dir.join(&cell.folder);
        let status = one(catalog, data, cell, &path, &mut progress)?;
        if status != Status::Interrupted && !output.keep_states {
            remove_states(&path)?;
        }
        *record = Record::read(&path)?;
        if let Some(error) = record.as_ref().and_then(|record| record.error.as_deref()) {
            progress.warn(&format!("{title} failed: {error}"));
        }
    }
    progress.finish();
    Ok(())
}

/// Trains one run, from its last good checkpoint where there is one, otherwise from its start. An error that may pass
/// leaves the checkpoint for the next call. Gives how the run ended.
fn one(
    catalog: &Catalog,
    data: &Arc<Dataset>,
    cell: &Cell,
    dir: &Path,
    progress: &mut Progress,
) -> Result<Status, CliError> {
    let mut clock = Clock::start();
    let starts_again = |error: CliError| {
        if !is_permanent(&error) {
            return Err(error);
        }
        progress.warn(&format!("{} starts again: {error}", dir.display()));
        Ok(())
    };
    // A folder is made once it is known that the algorithm can run.
    let held = lock_if_there(dir)?;
    let mut found = last_checkpoint(dir).or_else(|error| starts_again(error).map(|()| None))?;
    if found.is_some()
        && let Err(error) = check_unchanged(dir, cell.settings.data.name(), data)
    {
        starts_again(error)?;
        found = None;
    }
    let begin = || Job::new(catalog, &cell.settings, data.clone());
    let archive = found.as_ref().map(|found| &found.archive);
    let mut job = match Job::to_restore(catalog, &cell.settings, data.clone(), archive) {
        Err(error) if archive.is_some() => {
            starts_again(error)?;
            found = None;
            begin()?
        }
        job => job?,
    };
    let archive = found.as_ref().map(|found| &found.archive);
    let lock = held.map_or_else(|| lock_free(dir), Ok)?;
    job.keep_clients(dir)?;
    if let Some(Err(error)) = archive.map(|archive| job.restore(archive)) {
        starts_again(error)?;
        found = None;
        job = begin()?;
        job.keep_clients(dir)?;
    }
    if found.is_none() {
        record::clear(dir)?;
    }
    let (folder, before) = open(&job, dir, lock, found.as_ref())?;
    clock.before = before;
    let (summary, _) = job.train(&folder, progress, clock)?;
    Ok(summary.status)
}
