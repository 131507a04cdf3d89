//! The runs of one call: those of a table that its flags choose.

use std::path::{Path, PathBuf};

use fedround::experiment::ExperimentError;
use fedround_data::DataError;
use toml::Table;

use super::args::{ReproduceArgs, Scale};
use super::error::ReproduceError;
use super::few_tests::few_tests;
use super::tables::{Experiment, Method, Paper, Setting, unknown};
use crate::catalog::Catalog;
use crate::compare::{Cell, Datasets};
use crate::error::CliError;
use crate::run::{SettingArgs, TestArgs};
use crate::settings::Settings;
use crate::settings::config::Config;
use crate::settings::hypers;
use crate::terminal::tell;

/// A table with its runs.
pub(super) struct Plan {
    pub paper: Paper,
    pub table: Experiment,
    pub scale: Scale,
    pub seeds: Vec<u64>,
    /// What is run: methods in settings.
    pub entrants: Vec<Entrant>,
    /// The data's domains, where each is a client's.
    pub parties: Vec<String>,
    /// What there is to know about the data.
    pub data_notes: Vec<String>,
}

/// A method in a setting, by their numbers in the table.
pub(super) struct Entrant {
    pub setting: usize,
    pub method: usize,
    /// The settings of all its runs, but for the seed.
    pub settings: Settings,
    /// What they are at full scale.
    pub full: Settings,
    /// What it is called as one of several with other values of hyper-parameters.
    pub candidate: Option<String>,
}

impl Plan {
    /// Reads the command line, and checks everything but the data.
    pub fn new(
        catalog: &Catalog,
        mut paper: Paper,
        table: &str,
        args: &ReproduceArgs,
    ) -> Result<Self, CliError> {
        let table = paper.table(table)?;
        let (scale, flags, tests) = (args.scale, args.flags(), args.tests());
        let needed = [&paper.difference_from, &paper.target_of];
        let needed = needed.into_iter().flatten().cloned().collect();
        let wanted = wanted(&table, &args.only, needed)?;
        let mut entrants = vec![];
        for (i, setting) in table.setting.iter().enumerate() {
            if setting.full_only && scale == Scale::Small {
                continue;
            }
            for (j, method) in table.common.method.iter().enumerate() {
                if !wanted(setting, method) {
                    continue;
                }
                let settings = |scale, flags, tests| {
                    let file = table.settings(setting, method, scale);
                    settings(catalog, (paper.name, file), &method.spec, flags, tests)
                };
                entrants.push(Entrant {
                    setting: i,
                    method: j,
                    settings: settings(scale, &flags, &tests)?,
                    full: settings(Scale::Full, &SettingArgs::default(), &TestArgs::default())?,
                    candidate: None,
                });
            }
        }
        let runs = match scale {
            Scale::Small => paper.runs.small,
            Scale::Full => paper.runs.full,
        };
        let last = args.first_seed + args.seeds.unwrap_or(runs);
        let mut plan = Self {
            seeds: (args.first_seed..last).collect(),
            paper,
            table,
            scale,
            entrants,
            parties: vec![],
            data_notes: vec![],
        };
        plan.try_values(catalog, &args.select)?;
        Ok(plan)
    }

    /// Loads the data; what needs data that is missing is an error, or left out.
    pub fn load(&mut self, datasets: &mut Datasets, skip: bool) -> Result<(), CliError> {
        let mut left = vec![];
        for mut entrant in std::mem::take(&mut self.entrants) {
            let data = match datasets.load(&entrant.settings) {
                Ok(data) => data,
                Err(error) if skip && is_missing(&error) => {
                    let name = self.name(&entrant);
                    tell!("note: {name} is left out: {error}");
                    continue;
                }
                Err(error) => return Err(error),
            };
            if let Some(parties) = self.parties_a_domain(&entrant) {
                self.parties.clone_from(&data.group_names);
                entrant.settings.run.clients = self.parties.len() * parties;
            }
            let few = few_tests(&data, self.parties_a_domain(&entrant).is_some());
            for note in data.notes.iter().cloned().chain(few) {
                if !self.data_notes.contains(&note) {
                    self.data_notes.push(note);
                }
            }
            left.push(entrant);
        }
        self.entrants = left;
        match self.entrants.is_empty() {
            true => Err(ReproduceError::Nothing.into()),
            false => Ok(()),
        }
    }

    /// Takes in what the data says, where it can be loaded.
    pub fn load_if_there(&mut self, datasets: &mut Datasets) {
        for i in 0..self.entrants.len() {
            let Some(parties) = self.parties_a_domain(&self.entrants[i]) else {
                continue;
            };
            let entrant = &mut self.entrants[i];
            if let Ok(data) = datasets.load(&entrant.settings) {
                entrant.settings.run.clients = data.group_names.len() * parties;
            }
        }
    }

    /// How many clients a domain has, where clients are of domains.
    fn parties_a_domain(&self, entrant: &Entrant) -> Option<usize> {
        let own = self.table.setting[entrant.setting].parties_a_domain;
        let parties = own.unwrap_or(self.table.parties_a_domain);
        (self.paper.one_party_a_domain && parties > 0).then_some(parties)
    }

    /// The runs in their order.
    pub fn cells(&self) -> Vec<Cell> {
        let entrants = self.entrants.iter();
        let entrants = entrants.map(|entrant| (self.title(entrant), entrant.settings.clone()));
        Cell::all(&entrants.collect::<Vec<_>>(), &self.seeds)
    }

    /// What a method in a setting is called.
    pub fn name(&self, entrant: &Entrant) -> String {
        let method = &self.table.common.method[entrant.method].name;
        match self.table.setting.len() {
            1 => method.clone(),
            _ => format!("{}, {method}", self.table.setting[entrant.setting].name),
        }
    }

    /// The same with the values that are tried.
    pub fn title(&self, entrant: &Entrant) -> String {
        let candidate = entrant.candidate.clone();
        candidate.unwrap_or_else(|| self.name(entrant))
    }

    /// The folder where none is named.
    pub fn folder(&self) -> PathBuf {
        let name = format!(
            "{}-{}-{}",
            self.paper.name,
            self.table.name,
            self.scale.name()
        );
        Path::new("runs").join(name)
    }

    /// The number of a method in a setting among those that are run.
    pub fn entrant(&self, setting: usize, method: usize) -> Option<usize> {
        let mut entrants = self.entrants.iter();
        entrants.position(|e| (e.setting, e.method) == (setting, method))
    }
}

/// A file's settings, of which a method has only the hyper-parameters that are its own, under flags.
fn settings(
    catalog: &Catalog,
    (paper, file): (&str, Table),
    spec: &str,
    flags: &SettingArgs,
    tests: &TestArgs,
) -> Result<Settings, CliError> {
    let mut config = Config::of(Path::new(&format!("tables/{paper}.toml")), file)?;
    let algorithm = catalog.algorithm(spec, &[])?;
    config
        .hyper
        .retain(|name, _| hypers::has(&*algorithm, name));
    Settings::over(config, flags, tests, Some(spec), None)
}

/// Whether `--only` has a method in a setting: names of settings leave other settings out, names of
/// methods other methods but the `needed` ones, which others are measured by.
fn wanted<'a>(
    table: &Experiment,
    only: &'a [String],
    needed: Vec<String>,
) -> Result<impl Fn(&Setting, &Method) -> bool + use<'a>, CliError> {
    let settings = table.setting.iter().map(|setting| setting.name.clone());
    let methods = table.common.method.iter().map(|method| method.name.clone());
    let (settings, methods): (Vec<_>, Vec<_>) = (settings.collect(), methods.collect());
    let known = [settings.clone(), methods.clone()].concat();
    if let Some(name) = only.iter().find(|name| !known.contains(name)) {
        return Err(unknown("setting or method", name, &known).into());
    }
    let some_setting = only.iter().any(|name| settings.contains(name));
    let some_method = only.iter().any(|name| methods.contains(name));
    Ok(move |setting: &Setting, method: &Method| {
        (!some_setting || only.contains(&setting.name))
            && (!some_method || only.contains(&method.name) || needed.contains(&method.name))
    })
}

/// Whether an error says that files are not there.
fn is_missing(error: &CliError) -> bool {
    let CliError::Experiment { source, .. } = error else {
        return false;
    };
    matches!(
        **source,
        ExperimentError::Data(DataError::Missing { .. } | DataError::NoDirectory { .. })
    )
}
