//! The algorithms of a comparison, and which hyper-parameters each of them gets.

use fedround_dsl::{BoxedAlgorithm, Hyper};

use super::error::CompareError;
use super::known_hypers::KnownHypers;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::run::slug;
use crate::settings::hypers::{self, Setting};
use crate::settings::settings_file::SettingsFile;

/// An algorithm of the comparison, or one with values that are tried for it.
#[derive(Clone)]
pub(crate) struct Entrant {
    pub name: String,
    /// The name of the algorithm that it is a candidate for: its own where no values are tried.
    pub candidate_of: String,
    /// What the name of a hyper-parameter begins with, before a dot, where it is this algorithm's alone.
    pub prefix: String,
    pub spec: String,
    pub hypers: Vec<Setting>,
}

impl Entrant {
    /// Reads `SPEC` or `NAME=SPEC`; names differ from `others`, as their folders must.
    pub fn new(text: &str, others: &[Self]) -> Result<Self, CompareError> {
        let (name, spec) = text.split_once('=').unwrap_or((text, text));
        let (name, spec) = (name.trim().to_owned(), spec.trim().to_owned());
        if slug(&name).is_empty() {
            let text = text.to_owned();
            return Err(CompareError::Name { text });
        }
        let this = Self {
            candidate_of: name.clone(),
            prefix: name.clone(),
            name,
            spec,
            hypers: vec![],
        };
        this.differs_from(others)?;
        Ok(this)
    }

    /// Fails where another one has the same name, or one whose folder has.
    pub fn differs_from(&self, others: &[Self]) -> Result<(), CompareError> {
        let mut others = others.iter().map(|other| slug(&other.name));
        match others.any(|other| other == slug(&self.name)) {
            true => Err(CompareError::Twice {
                name: self.name.clone(),
            }),
            false => Ok(()),
        }
    }

    /// What a hyper-parameter is called after the entrant's prefix.
    pub fn own<'s>(&self, setting: &'s str) -> Option<&'s str> {
        setting.strip_prefix(&self.prefix)?.strip_prefix('.')
    }
}

/// The algorithms of entrants with their defaults.
pub(super) fn with_defaults(
    catalog: &Catalog,
    entrants: &[Entrant],
) -> Result<Vec<BoxedAlgorithm>, CliError> {
    let all = entrants.iter();
    all.map(|entrant| catalog.algorithm(&entrant.spec, &[]))
        .collect()
}

/// Whether an algorithm takes a setting for all that have it. One of a file must mean the same as in the file's own
/// algorithm, `of_file`.
fn takes(algorithm: &dyn Hyper, setting: &Setting, of_file: Option<&BoxedAlgorithm>) -> bool {
    match setting.flag() {
        Some(_) => hypers::has(algorithm, &setting.name),
        None => hypers::carries(of_file, algorithm, &setting.name),
    }
}

/// Takes hyper-parameters of a file out of `settings` that no algorithm has with the meaning that they have in the
/// file's own, `of_file`, if the file is of another one. Gives what to say of it, and of those that only some take.
pub(super) fn of_another(
    catalog: &Catalog,
    (file, of_file): (&SettingsFile, Option<&BoxedAlgorithm>),
    algorithms: &[Entrant],
    settings: &mut Vec<Setting>,
) -> Result<Vec<String>, CliError> {
    let defaults = with_defaults(catalog, algorithms)?;
    let specs: Vec<&str> = algorithms.iter().map(|e| e.spec.as_str()).collect();
    let taken = |name: &str| {
        let mut all = algorithms.iter().zip(&defaults);
        all.any(|(entrant, algorithm)| match entrant.own(name) {
            Some(own) => hypers::has(&**algorithm, own),
            None => hypers::carries(of_file, &**algorithm, name),
        })
    };
    let left_out = file.leave_out(&specs, settings, taken);
    // What another one takes is not left out of the file, but this one keeps its default.
    let all = algorithms.iter().zip(&defaults);
    let kept = all.filter_map(|(entrant, algorithm)| {
        let other = settings.iter().filter(|setting| {
            let has = hypers::has(&**algorithm, &setting.name);
            has && !takes(&**algorithm, setting, of_file)
        });
        let other: Vec<&str> = other.map(|setting| setting.name.as_str()).collect();
        (!other.is_empty()).then(|| keeps_default(entrant, file, &other.join(", ")))
    });
    Ok(left_out.into_iter().chain(kept).collect())
}

/// What to say of hyper-parameters that an entrant does not take from a file.
fn keeps_default(entrant: &Entrant, file: &SettingsFile, names: &str) -> String {
    let (name, path) = (&entrant.name, file.path.display());
    format!(
        "`{name}` does not take these from {path}, because it means something else by them: {names}"
    )
}

/// Gives each entrant its settings: those of all first, so that its own ones win. Settings of a file are for its own
/// algorithm, `of_file`.
pub(super) fn deal(
    catalog: &Catalog,
    algorithms: &mut [Entrant],
    settings: &[Setting],
    of_file: Option<&BoxedAlgorithm>,
) -> Result<(), CliError> {
    let is_own = |setting: &Setting, algorithms: &[Entrant]| {
        let mut entrants = algorithms.iter();
        entrants.any(|entrant| entrant.own(&setting.name).is_some())
    };
    let (own, shared): (Vec<&Setting>, Vec<&Setting>) = settings
        .iter()
        .partition(|setting| is_own(setting, algorithms));
    let defaults = with_defaults(catalog, algorithms)?;
    for setting in shared {
        let entrants = algorithms.iter_mut().zip(&defaults);
        let mut having = entrants
            .filter(|(_, algorithm)| takes(&***algorithm, setting, of_file))
            .peekable();
        if having.peek().is_none() {
            drop(having);
            return Err(unknown(setting, algorithms, &defaults).into());
        }
        having.for_each(|(entrant, _)| entrant.hypers.push(setting.clone()));
    }
    for setting in own {
        for entrant in &mut *algorithms {
            let name = entrant.own(&setting.name).map(str::to_owned);
            let value = setting.value.clone();
            entrant
                .hypers
                .extend(name.map(|name| Setting { name, value }));
        }
    }
    Ok(())
}

/// The error of a hyper-parameter that no algorithm has.
fn unknown(setting: &Setting, algorithms: &[Entrant], defaults: &[BoxedAlgorithm]) -> CompareError {
    let mut known = KnownHypers::default();
    for (entrant, algorithm) in algorithms.iter().zip(defaults) {
        known.add(&entrant.prefix, &**algorithm);
    }
    CompareError::Hyper {
        flag: None,
        name: setting.name.clone(),
        nearest: known.nearest(&setting.name),
        known: known.listed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dealt(specs: &[&str], set: &[&str]) -> Result<Vec<Entrant>, CliError> {
        let mut algorithms = vec![];
        for text in specs {
            algorithms.push(Entrant::new(text, &algorithms)?);
        }
        let set: Vec<String> = set.iter().map(ToString::to_string).collect();
        deal(
            &Catalog::default(),
            &mut algorithms,
            &hypers::assignments(&set)?,
            None,
        )?;
        Ok(algorithms)
    }

    fn names(entrant: &Entrant) -> Vec<&str> {
        entrant.hypers.iter().map(|s| s.name.as_str()).collect()
    }

    #[test]
    fn a_setting_goes_to_those_that_have_it_or_to_the_one_it_names() {
        let specs = ["fedavg", "fedprox", "fedavgm(fedprox)"];
        let set = ["fedprox.lr=0.2", "lr=0.1", "mu=1", "fedavg.batch=5"];
        let entrants = dealt(&specs, &set).unwrap();
        // `fedavg` names the first entrant here, not the layer that all of them have.
        assert_eq!(names(&entrants[0]), ["lr", "batch"]);
        // The own one comes last and so wins.
        assert_eq!(names(&entrants[1]), ["lr", "mu", "lr"]);
        assert_eq!(names(&entrants[2]), ["lr", "mu"]);
        let layer = dealt(&["fedprox"], &["fedavg.batch=5"]).unwrap();
        assert_eq!(names(&layer[0]), ["fedavg.batch"]);
        let own = dealt(&specs, &["fedavgm(fedprox).mu=2"]).unwrap();
        assert_eq!(names(&own[2]), ["mu"]);
    }

    #[test]
    fn one_spec_may_come_twice_under_two_names() {
        let entrants = dealt(&["a=fedprox", "b=fedprox"], &["b.mu=1"]).unwrap();
        assert_eq!(
            (entrants[0].hypers.len(), names(&entrants[1])),
            (0, vec!["mu"])
        );
        let error = dealt(&["fedprox", "fedprox"], &[]).err().unwrap();
        assert!(error.to_string().contains("`fedprox` twice"), "{error}");
        assert!(dealt(&["=fedprox"], &[]).is_err());
    }

    #[test]
    fn an_unknown_one_has_the_nearest_of_all() {
        let error = |set: &str| {
            dealt(&["fedavg", "fedprox"], &[set])
                .err()
                .unwrap()
                .to_string()
        };
        let text = error("epoch=1");
        assert!(text.contains("did you mean `epochs`"), "{text}");
        let text = error("fedprx.mu=1");
        assert!(text.contains("did you mean `fedprox.mu`"), "{text}");
    }
}
