//! Variants of auxiliary networks: what `--aux` chooses, and what is used.

use std::collections::BTreeMap;

use super::error::CliError;

/// Names of variants by their networks'.
pub(super) type Auxiliaries = BTreeMap<String, String>;

/// The choices of `--aux NAME=VARIANT`; of two for one network, the later wins.
pub(super) fn choices(texts: &[String]) -> Result<Auxiliaries, CliError> {
    let choice = |text: &String| {
        let (name, variant) = text
            .split_once('=')
            .ok_or_else(|| CliError::Variant(text.clone()))?;
        Ok((name.trim().to_owned(), variant.trim().to_owned()))
    };
    texts.iter().map(choice).collect()
}

/// The networks that were put beside a model.
pub(super) fn used(networks: &[(&str, &str)]) -> Auxiliaries {
    let own = |(name, variant): &(&str, &str)| ((*name).to_owned(), (*variant).to_owned());
    networks.iter().map(own).collect()
}

/// Fails where a variant is chosen of a network that is not used.
pub(super) fn check(chosen: &Auxiliaries, used: &Auxiliaries) -> Result<(), CliError> {
    match chosen.keys().find(|name| !used.contains_key(*name)) {
        Some(name) => Err(CliError::UnusedVariant { name: name.clone() }),
        None => Ok(()),
    }
}

/// A model's name with its networks', as in `2nn + discriminator (mlp)`.
pub(super) fn named(model: &str, networks: &Auxiliaries) -> String {
    let more = networks
        .iter()
        .map(|(name, variant)| format!(" + {name} ({variant})"));
    [model.to_owned()].into_iter().chain(more).collect()
}
