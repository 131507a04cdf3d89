//! Values of one hyper-parameter that come from two places of a command line.

use fedround_dsl::Hyper;

use super::entrant::{Entrant, with_defaults};
use super::error::CompareError;
use super::search::Search;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::settings::hypers::{self, Setting};

/// What a name means to one algorithm.
struct Meaning {
    /// The layer and its field.
    field: (&'static str, &'static str),
    /// Whether the name begins with that of the algorithm, as in `fedprox.mu`.
    own: bool,
}

impl Meaning {
    fn of(name: &str, entrant: &Entrant, algorithm: &dyn Hyper) -> Option<Self> {
        let own = entrant.own(name);
        let field = hypers::lookup(algorithm, own.unwrap_or(name))?;
        Some(Self {
            field: (field.layer, field.field.name),
            own: own.is_some(),
        })
    }
}

/// Fails where `searches`, which were given with `flag`, try a hyper-parameter twice, or one that has a value
/// of `--set`.
pub(crate) fn check(
    catalog: &Catalog,
    algorithms: &[Entrant],
    settings: &[Setting],
    (flag, searches): (&'static str, &[Search]),
) -> Result<(), CliError> {
    let built = with_defaults(catalog, algorithms)?;
    let meaning = |name: &str| -> Vec<Option<Meaning>> {
        let all = algorithms.iter().zip(&built);
        all.map(|(e, algorithm)| Meaning::of(name, e, &**algorithm))
            .collect()
    };
    // A setting that begins with the name of an algorithm is for that one alone.
    let is_own = |name: &str| algorithms.iter().any(|e| e.own(name).is_some());
    for (i, search) in searches.iter().enumerate() {
        let name = &search.name;
        let tried = meaning(name);
        for other in &searches[..i] {
            let others = meaning(&other.name);
            let mut both = tried.iter().zip(&others);
            if both.any(|both| matches!(both, (Some(a), Some(b)) if a.field == b.field)) {
                let (name, other) = (name.clone(), other.name.clone());
                return Err(CompareError::SelectTwice { flag, name, other }.into());
            }
        }
        for setting in settings.iter().filter(|s| s.flag().is_some()) {
            let of_one = is_own(&setting.name);
            // Values for one of several algorithms win over a value for all of them.
            let wins = |search: &Meaning| search.own && !of_one && algorithms.len() > 1;
            let set = meaning(&setting.name);
            let mut both = tried.iter().zip(&set);
            if both.any(|both| match both {
                (Some(a), Some(b)) => a.field == b.field && b.own == of_one && !wins(a),
                _ => false,
            }) {
                let (name, set) = (name.clone(), setting.name.clone());
                return Err(CompareError::SelectAndSet { flag, name, set }.into());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(specs: &[&str], set: &[&str], searches: &[&str]) -> Result<(), String> {
        let mut entrants: Vec<Entrant> = vec![];
        for text in specs {
            entrants.push(Entrant::new(text, &entrants).unwrap());
        }
        let set: Vec<String> = set.iter().map(ToString::to_string).collect();
        let set = hypers::assignments(&set).unwrap();
        let searches = searches.iter().map(|text| Search::parse(text).unwrap());
        let searches: Vec<Search> = searches.collect();
        let found = check(
            &Catalog::default(),
            &entrants,
            &set,
            ("--select", &searches),
        );
        found.map_err(|error| error.to_string())
    }

    #[test]
    fn a_hyper_parameter_gets_its_values_from_one_place() {
        let two = ["fedavg", "fedprox"];
        let fine: [(&[&str], &[&str]); 5] = [
            (&["lr=1"], &["mu=0,1"]),
            (&["lr=1"], &["fedprox.lr=0.1,1"]),
            (&["fedavg.lr=1"], &["fedprox.lr=0.1,1"]),
            (&[], &["lr=0.1,1", "fedprox.mu=0,1"]),
            (&[], &["fedavg.lr=0.1,1", "mu=1,2"]),
        ];
        for (set, searches) in fine {
            assert_eq!(checked(&two, set, searches), Ok(()), "{set:?} {searches:?}");
        }
        let wrong: [(&[&str], &[&str], &str); 5] = [
            (&[], &["lr=0.1", "lr=0.2"], "--select lr=.. is there twice"),
            (
                &[],
                &["lr=0.1", "fedprox.lr=0.2"],
                "--select lr=.. and --select fedprox.lr=..",
            ),
            (&["lr=1"], &["lr=0.1,1"], "--set lr=.. and --select lr=.."),
            (
                &["fedprox.lr=1"],
                &["lr=0.1,1"],
                "--set fedprox.lr=.. and --select lr=..",
            ),
            (
                &["fedprox.lr=1"],
                &["fedprox.lr=0.1,1"],
                "--set fedprox.lr=..",
            ),
        ];
        for (set, searches, said) in wrong {
            let error = checked(&two, set, searches).unwrap_err();
            assert!(error.contains(said), "{set:?} {searches:?}: {error}");
        }
        // One algorithm's own name says nothing more.
        let error = checked(&["fedprox"], &["lr=1"], &["fedprox.lr=0.1,1"]);
        assert!(error.is_err());
    }
}
