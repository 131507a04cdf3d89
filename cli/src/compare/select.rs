//! `--select`: each algorithm with several values of its hyper-parameters, of which the ones that do
//! best on validation examples are compared.

use fedround::experiment::Status;

use super::entrant::Entrant;
use super::error::CompareError;
use super::known_hypers::KnownHypers;
use super::record::Record;
use super::search::{Search, Strategy};
use super::statistics::Spread;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::settings::hypers::{self, Given, Setting};

/// Every algorithm with the combinations of the values that are tried for it: one that has none of the
/// hyper-parameters stays as it is. The values were given with `flag`.
pub(crate) fn candidates(
    catalog: &Catalog,
    algorithms: Vec<Entrant>,
    (flag, searches): (&'static str, &[Search]),
    strategy: Strategy,
) -> Result<Vec<Entrant>, CliError> {
    let mut used = vec![false; searches.len()];
    let mut all: Vec<Entrant> = vec![];
    let mut known = KnownHypers::default();
    for entrant in algorithms {
        let algorithm = catalog.algorithm(&entrant.spec, &[])?;
        known.add(&entrant.prefix, &*algorithm);
        let mut names = vec![];
        let mut own: Vec<Search> = vec![];
        for (search, used) in searches.iter().zip(&mut used) {
            let of_this = entrant.own(&search.name);
            let name = of_this.unwrap_or(&search.name);
            let field = hypers::lookup(&*algorithm, name);
            if of_this.is_none() && field.is_none() {
                continue;
            }
            *used = true;
            names.push(name.to_owned());
            own.push(match field {
                Some(field) => search.of_kind(field.field.kind)?,
                None => search.clone(),
            });
        }
        for values in strategy.combinations(&own)? {
            let pairs = names.iter().zip(&values);
            let candidate = pairs.fold(entrant.clone(), |base, (name, value)| {
                base.with(flag, name, value)
            });
            candidate.differs_from(&all)?;
            all.push(candidate);
        }
    }
    match used.iter().position(|used| !used) {
        Some(unused) => {
            let name = searches[unused].name.clone();
            Err(CompareError::Hyper {
                flag: Some(flag),
                nearest: known.nearest(&name),
                known: known.listed(),
                name,
            }
            .into())
        }
        None => Ok(all),
    }
}

impl Entrant {
    /// The same algorithm with one more value of a flag, which its name says.
    fn with(&self, flag: &'static str, name: &str, value: &str) -> Self {
        let setting = Setting {
            name: name.to_owned(),
            value: Given::Text {
                text: value.to_owned(),
                flag,
            },
        };
        Self {
            name: format!("{} {name}={value}", self.name),
            hypers: self.hypers.iter().cloned().chain([setting]).collect(),
            ..self.clone()
        }
    }
}

/// For each algorithm, the number of the candidate whose runs have the best mean accuracy on validation examples.
/// `runs` gives the runs of an algorithm by its number. A candidate with a run that failed or is not there is chosen only where all have one.
pub(crate) fn choose<'r>(
    algorithms: &[Entrant],
    runs: impl Fn(usize) -> Vec<Option<&'r Record>>,
) -> Vec<usize> {
    let numbers: Vec<usize> = (0..algorithms.len()).collect();
    let same = |a: &usize, b: &usize| algorithms[*a].candidate_of == algorithms[*b].candidate_of;
    let accuracy = |i: usize| validation_accuracy(&runs(i));
    let best = |candidates: &[usize]| {
        let first = candidates.first().copied()?;
        let better = |best: usize, i: &usize| match accuracy(*i) > accuracy(best) {
            true => *i,
            false => best,
        };
        Some(candidates.iter().fold(first, better))
    };
    numbers.chunk_by(same).filter_map(best).collect()
}

/// The mean over all runs; `None` where one has not ended as it should.
fn validation_accuracy(runs: &[Option<&Record>]) -> Option<f64> {
    let of_run = |run: &Option<&Record>| {
        let complete = run.filter(|run| run.status == Status::Complete);
        complete.and_then(|run| run.validation_accuracy)
    };
    let all: Option<Vec<f64>> = runs.iter().map(of_run).collect();
    Spread::of(all?).map(|spread| spread.mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(specs: &[&str], searches: &[&str]) -> Result<Vec<String>, CliError> {
        let mut entrants: Vec<Entrant> = vec![];
        for text in specs {
            entrants.push(Entrant::new(text, &entrants)?);
        }
        let searches = searches.iter().map(|text| Search::parse(text));
        let searches: Vec<Search> = searches.collect::<Result<_, _>>()?;
        let all = candidates(
            &Catalog::default(),
            entrants,
            ("--select", &searches),
            Strategy::All,
        )?;
        Ok(all.into_iter().map(|candidate| candidate.name).collect())
    }

    #[test]
    fn every_combination_is_tried_by_those_that_have_the_hyper_parameter() {
        let found = tried(
            &["fedavg", "fedprox"],
            &["lr=0.1,0.2", "fedprox.mu=0.01, 1"],
        );
        let expected = [
            "fedavg lr=0.1",
            "fedavg lr=0.2",
            "fedprox lr=0.1 mu=0.01",
            "fedprox lr=0.1 mu=1",
            "fedprox lr=0.2 mu=0.01",
            "fedprox lr=0.2 mu=1",
        ];
        assert_eq!(found.unwrap(), expected);
        assert_eq!(tried(&["fedavg"], &[]).unwrap(), ["fedavg"]);
    }

    #[test]
    fn searches_that_nobody_can_use_are_refused() {
        let error = |searches: &[&str]| {
            let error = tried(&["fedavg"], searches).unwrap_err();
            error.to_string()
        };
        assert!(error(&["mu=1,2"]).contains("`mu`"));
        let alias = error(&["learning_rate=1,2"]);
        assert!(alias.contains("(did you mean `lr`?)"), "{alias}");
        assert!(error(&["lr"]).contains("NAME=VALUE"));
        assert!(error(&["lr=0.1,,0.2"]).contains("NAME=VALUE"));
        // Twice the same value would be one folder for two runs.
        assert!(error(&["lr=0.1,0.1"]).contains("twice"));
    }
}
