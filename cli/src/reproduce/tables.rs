//! Papers' tables as data: what is run, and what the paper prints.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::Table;

use super::args::Scale;
use super::columns::Measure;
use super::error::ReproduceError;
use crate::settings::includes::lay_over;
use fedround_names::nearest;

/// The text of several files of the folder `tables`.
macro_rules! joined {
    ($($file:literal),+) => {
        concat!($(include_str!(concat!("tables/", $file)), "\n"),+)
    };
}

/// The papers by name, each as the text of its files one after another.
pub(super) const FILES: [(&str, &str); 5] = [
    ("fedaa", joined!("fedaa.toml", "fedaa-captions.toml")),
    ("adfl", joined!("adfl.toml")),
    (
        "lg-fedavg",
        joined!("lg-fedavg.toml", "lg-fedavg-devices.toml"),
    ),
    (
        "adcol",
        joined!(
            "adcol.toml",
            "adcol-costs.toml",
            "adcol-noise.toml",
            "adcol-parties.toml",
            "adcol-settings.toml"
        ),
    ),
    (
        "fedfed",
        joined!(
            "fedfed.toml",
            "fedfed-data.toml",
            "fedfed-clients.toml",
            "fedfed-settings.toml"
        ),
    ),
];

/// A paper, as in its file.
#[derive(Debug, Deserialize)]
pub(super) struct Paper {
    #[serde(skip)]
    pub name: &'static str,
    pub title: String,
    pub runs: Runs,
    /// The method that all numbers are differences from, seed by seed.
    pub difference_from: Option<String>,
    /// The method whose best accuracy, in whole percent, is the target.
    pub target_of: Option<String>,
    /// Whether there are as many clients as the data has domains.
    #[serde(default)]
    pub one_party_a_domain: bool,
    #[serde(flatten)]
    pub common: Common,
    pub table: Vec<Experiment>,
    /// What the paper shows and no table here has.
    #[serde(default)]
    pub absent: Vec<Absent>,
}

/// A table or figure of a paper that is not run here.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Absent {
    pub name: String,
    /// Why, or which command shows it.
    pub why: String,
}

/// What a table has of its own or of its paper.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Common {
    /// Keys of a run's file of settings: the paper's protocol.
    #[serde(default)]
    full: Table,
    /// What the small scale changes in it.
    #[serde(default)]
    small: Table,
    #[serde(default)]
    pub measure: Vec<Measure>,
    #[serde(default)]
    pub method: Vec<Method>,
    /// What the paper says of its method and others; `None` where a table has those of its paper.
    pub claim: Option<Vec<Claim>>,
    /// How the protocol differs from the paper's at any scale.
    #[serde(default)]
    pub notes: Vec<String>,
    #[serde(default)]
    pub small_notes: Vec<String>,
}

/// Numbers of seeds.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Runs {
    pub full: u64,
    pub small: u64,
}

/// A table of a paper: every method in every setting.
#[derive(Debug, Deserialize)]
pub(super) struct Experiment {
    pub name: String,
    pub title: String,
    #[serde(flatten)]
    pub common: Common,
    pub setting: Vec<Setting>,
    /// Clients of a domain, where the paper has one of each; 0 where clients are not of domains.
    #[serde(default = "one")]
    pub parties_a_domain: usize,
}

fn one() -> usize {
    1
}

/// An algorithm with its hyper-parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Method {
    pub name: String,
    pub spec: String,
    #[serde(default)]
    full: Table,
    #[serde(default)]
    small: Table,
}

/// What methods are run under, with the paper's numbers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Setting {
    pub name: String,
    /// Whether the small scale leaves it out.
    #[serde(default)]
    pub full_only: bool,
    /// Clients of a domain, in place of the table's.
    pub parties_a_domain: Option<usize>,
    #[serde(default)]
    full: Table,
    #[serde(default)]
    small: Table,
    /// By the method's name, one for each measure.
    pub paper: BTreeMap<String, Vec<String>>,
}

/// That a method has more of a measure than others.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claim {
    pub method: String,
    /// The methods that it is compared with.
    pub than: Vec<String>,
    /// Those of them that the table is about: they are corrected for their number alone, whatever else the
    /// table compares, and whichever of them are run.
    #[serde(default)]
    pub headline: Vec<String>,
    /// The measure's name.
    pub measure: String,
    /// Whether the claim is that it has less.
    #[serde(default)]
    pub less: bool,
}

/// All papers.
pub(super) fn papers() -> Result<Vec<Paper>, ReproduceError> {
    FILES
        .iter()
        .map(|(name, text)| Paper::read(name, text))
        .collect()
}

impl Paper {
    fn read(name: &'static str, text: &str) -> Result<Self, ReproduceError> {
        let broken = |error: toml::de::Error| ReproduceError::File {
            paper: name.to_owned(),
            message: error.to_string(),
        };
        let paper: Self = toml::from_str(text).map_err(broken)?;
        Ok(Self { name, ..paper })
    }

    /// The paper of that name.
    pub fn find(name: &str) -> Result<Self, ReproduceError> {
        find("paper", papers()?, |paper| paper.name, name)
    }

    /// The table of that name, with what it shares with others.
    pub fn table(&mut self, name: &str) -> Result<Experiment, ReproduceError> {
        let tables = std::mem::take(&mut self.table);
        let mut table = find("table", tables, |table| &table.name, name)?;
        table.inherit(&self.common);
        Ok(table)
    }
}

impl Experiment {
    fn inherit(&mut self, paper: &Common) {
        let own = &mut self.common;
        for (own, shared) in [(&mut own.full, &paper.full), (&mut own.small, &paper.small)] {
            *own = merged([shared, own]);
        }
        if own.measure.is_empty() {
            own.measure.clone_from(&paper.measure);
        }
        if own.method.is_empty() {
            own.method.clone_from(&paper.method);
        }
        if own.claim.is_none() {
            own.claim.clone_from(&paper.claim);
        }
        own.notes.splice(0..0, paper.notes.iter().cloned());
    }

    /// The settings of a run: the setting's over the table's, the method's over both, and the small
    /// scale's over all of the full one's.
    pub fn settings(&self, setting: &Setting, method: &Method, scale: Scale) -> Table {
        let full = merged([&self.common.full, &setting.full, &method.full]);
        match scale {
            Scale::Full => full,
            Scale::Small => merged([&full, &self.common.small, &setting.small, &method.small]),
        }
    }
}

/// Tables laid over each other, the later winning.
fn merged<const N: usize>(tables: [&Table; N]) -> Table {
    let mut all = Table::new();
    for table in tables {
        lay_over(&mut all, table.clone());
    }
    all
}

/// The one of that name.
pub(super) fn find<T>(
    what: &'static str,
    all: Vec<T>,
    name_of: impl for<'t> Fn(&'t T) -> &'t str,
    name: &str,
) -> Result<T, ReproduceError> {
    let names: Vec<String> = all.iter().map(|one| name_of(one).to_owned()).collect();
    let found = all.into_iter().find(|one| name_of(one) == name);
    found.ok_or_else(|| unknown(what, name, &names))
}

/// The error of a name that is none of these.
pub(super) fn unknown(what: &'static str, name: &str, known: &[String]) -> ReproduceError {
    ReproduceError::Unknown {
        what,
        name: name.to_owned(),
        nearest: nearest(name, known.iter().map(String::as_str)).map(str::to_owned),
        known: known.join(", "),
    }
}
