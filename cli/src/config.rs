//! The subcommand `fedround config`: prints the settings of a run as `config.toml`.

use std::collections::BTreeSet;
use std::path::Path;

use fedround_dsl::Hyper;

use crate::args::ConfigArgs;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::files::json;
use crate::settings::Settings;
use crate::settings::dead_hypers::{NOT_USED, full_name, unused};
use crate::settings::hypers;
use crate::terminal::print;

/// Prints the settings of a command line as a file.
pub(crate) fn config(catalog: &Catalog, args: &ConfigArgs) -> Result<(), CliError> {
    let spec = args.spec.as_deref();
    let settings = Settings::resolve(&args.settings, &args.tests, spec, args.seed)?;
    let settings = settings.fitted(catalog)?;
    let algorithm = catalog.algorithm(&settings.spec, &settings.hypers)?;
    let config = settings.config(&*algorithm);
    match args.json {
        true => {
            let mut config = serde_json::to_value(&config)?;
            // What a file does not have is not here either.
            if let Some(settings) = config.as_object_mut() {
                settings.retain(|_, value| !value.is_null());
            }
            print(&json(&config)?)
        }
        false => {
            let text = config.text(Path::new("-"))?;
            // Without the data, or with a model that does not fit, there are no marks.
            let compiled = catalog.compile_run(&settings);
            let unused = compiled.and_then(|compiled| {
                let given = (&*settings.spec, &*settings.hypers);
                let unused = unused(&catalog.registry, given, &compiled.objective())?;
                Ok(short_names(&*compiled.algorithm, &unused))
            });
            print(&marked(&text, &unused.unwrap_or_default()))
        }
    }
}

/// The names in a file of hyper-parameters that are called `LAYER.NAME` in `unused`.
fn short_names(algorithm: &dyn Hyper, unused: &BTreeSet<String>) -> BTreeSet<String> {
    let named = hypers::named(algorithm).into_iter();
    let own = named.filter(|(name, _)| {
        let field = hypers::lookup(algorithm, name);
        field.is_some_and(|field| unused.contains(&full_name(&field)))
    });
    own.map(|(name, _)| name).collect()
}

/// A file's text with a comment beside each hyper-parameter that changes nothing.
fn marked(text: &str, unused: &BTreeSet<String>) -> String {
    let mut in_hypers = false;
    let line = |line: &str| {
        if line.starts_with('[') {
            in_hypers = line == "[hyper]";
        }
        let name = line
            .split_once(" = ")
            .map(|(name, _)| name.trim_matches('"'));
        match name.filter(|name| in_hypers && unused.contains(*name)) {
            Some(_) => format!("{line} # {NOT_USED} changes nothing here\n"),
            None => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_comments_beside_hyper_parameters() {
        let text =
            "rounds = 3\nlr = 1\n\n[aux]\nlr = 1\n\n[hyper]\nlr = 0.1\n\"fedavg.mu\" = 1.0\n";
        let unused = ["lr", "fedavg.mu"].map(str::to_owned).into();
        let found = marked(text, &unused);
        assert_eq!(found.matches('#').count(), 2, "{found}");
        for line in [
            "\nlr = 0.1 # not used: changes nothing here\n",
            "\"fedavg.mu\" = 1.0 # not used",
        ] {
            assert!(found.contains(line), "{found}");
        }
        assert_eq!(found.parse::<toml::Table>().unwrap(), text.parse().unwrap());
    }
}
