//! The runs of a comparison: every combination of algorithms, their hyper-parameters and seeds.

use std::path::{Path, PathBuf};

use fedround::experiment;
use fedround_dsl::BoxedAlgorithm;

use super::args::CompareArgs;
use super::conflicts;
use super::entrant::{Entrant, deal, of_another};
use super::error::CompareError;
use super::record::{self, Record, Same};
use super::rungs::Halving;
use super::search::{Search, Strategy};
use super::select::candidates;
use crate::catalog::Catalog;
use crate::error::{CliError, at_least_one};
use crate::run::{CheckpointEvery, slug};
use crate::settings::Settings;
use crate::settings::config::Config;
use crate::terminal::tell;

/// Every algorithm with every seed.
pub(super) struct Grid {
    /// What all runs have in common; its spec and seed are those of the first.
    pub shared: Settings,
    pub algorithms: Vec<Entrant>,
    pub seeds: Vec<u64>,
    /// Whether only the best candidates are trained for all rounds.
    pub halving: Option<Halving>,
}

/// One run.
pub(crate) struct Cell {
    /// The number of what it is a run of; runs of one differ in their seeds.
    pub entrant: usize,
    /// The name of that.
    pub name: String,
    pub settings: Settings,
    /// The name of its folder.
    pub folder: PathBuf,
}

impl Grid {
    /// Reads the command line, and checks the algorithms and their hyper-parameters.
    pub fn new(catalog: &Catalog, args: &CompareArgs) -> Result<Self, CliError> {
        let mut algorithms = vec![];
        for text in &args.specs {
            algorithms.push(Entrant::new(text, &algorithms)?);
        }
        let first = algorithms.first().map(|first| first.spec.as_str());
        let given = args.settings.of_experiments();
        let mut shared = Settings::resolve(&given, &args.tests, first, Some(args.seed))?;
        let mut given = std::mem::take(&mut shared.hypers);
        let file = shared.file.as_ref();
        let of_file = file.and_then(|file| file.algorithm(&catalog.registry));
        if let Some(file) = file {
            let file = (file, of_file.as_ref());
            let notes = of_another(catalog, file, &algorithms, &mut given)?;
            notes.iter().for_each(|note| tell!("note: {note}"));
        }
        deal(catalog, &mut algorithms, &given, of_file.as_ref())?;
        let searches = args.select.iter().map(|text| Search::parse(text));
        let searches: Vec<Search> = searches.collect::<Result<_, _>>()?;
        if !searches.is_empty() && shared.run.validation.is_none() {
            return Err(CompareError::SelectOnNothing.into());
        }
        let flagged = (args.select_flag, searches.as_slice());
        conflicts::check(catalog, &algorithms, &given, flagged)?;
        let strategy = match args.random {
            None => Strategy::All,
            Some(count) => Strategy::Random {
                count: at_least_one("combinations of --random", count)?,
                seed: args.seed,
            },
        };
        let algorithms = candidates(catalog, algorithms, flagged, strategy)?;
        for entrant in &algorithms {
            catalog.algorithm(&entrant.spec, &entrant.hypers)?;
        }
        let last = args.seed.saturating_add(args.seeds).min(i64::MAX as u64);
        let seeds: Vec<u64> = (args.seed..last).collect();
        at_least_one("seeds", seeds.len())?;
        // A run must reach the round in which a late client joins.
        let min_rounds = shared.run.late_client.map_or(1, |late| late.after + 1);
        let new = |keep_one_in| {
            Halving::new(
                keep_one_in,
                shared.rounds,
                min_rounds,
                shared.run.eval_every,
            )
        };
        let halving = args.halving.map(new).transpose()?;
        if halving.is_some() && shared.checkpoint == CheckpointEvery::Off {
            return Err(CompareError::HalvingWithoutCheckpoints.into());
        }
        Ok(Self {
            shared,
            algorithms,
            seeds,
            halving,
        })
    }

    /// The runs in their order.
    pub fn cells(&self) -> Vec<Cell> {
        let entrants = self.algorithms.iter().map(|entrant| {
            let settings = Settings {
                spec: entrant.spec.clone(),
                hypers: entrant.hypers.clone(),
                // It is the comparison's, not the run's.
                target: None,
                ..self.shared.clone()
            };
            (entrant.name.clone(), settings)
        });
        Cell::all(&entrants.collect::<Vec<_>>(), &self.seeds)
    }
}

impl Cell {
    /// The runs of entrants, of which each has a name and settings, in their order: seed by seed, so that an early end
    /// leaves whole comparisons.
    pub fn all(entrants: &[(String, Settings)], seeds: &[u64]) -> Vec<Self> {
        let of_seed = |&seed: &u64| {
            let numbered = entrants.iter().enumerate();
            numbered.map(move |(i, (name, settings))| Self {
                entrant: i,
                name: name.clone(),
                settings: Settings {
                    run: experiment::Settings {
                        seed,
                        ..settings.run.clone()
                    },
                    ..settings.clone()
                },
                folder: format!("{}-seed{seed}", slug(name)).into(),
            })
        };
        seeds.iter().flat_map(of_seed).collect()
    }

    /// The algorithm with its hyper-parameters.
    pub fn algorithm(&self, catalog: &Catalog) -> Result<BoxedAlgorithm, CliError> {
        catalog.algorithm(&self.settings.spec, &self.settings.hypers)
    }

    /// Its file of settings.
    pub fn config(&self, catalog: &Catalog) -> Result<Config, CliError> {
        Ok(self.settings.config(&*self.algorithm(catalog)?))
    }

    /// What an earlier call left of it in a folder of runs, where it may have been trained for `fewer_rounds`.
    pub fn earlier(
        &self,
        catalog: &Catalog,
        out: &Path,
        fewer_rounds: bool,
    ) -> Result<Option<Record>, CliError> {
        let dir = out.join(&self.folder);
        record::check(&dir, &self.config(catalog)?, Same::Run, fewer_rounds)?;
        Record::read(&dir)
    }
}
