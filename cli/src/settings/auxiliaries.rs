//! Variants of auxiliary networks on the command line.

use fedround::Auxiliaries;

use crate::error::CliError;

/// The choices of `--aux NAME=VARIANT`; of two for one network, the later wins.
pub(crate) fn choices(texts: &[String]) -> Result<Auxiliaries, CliError> {
    let choice = |text: &String| {
        let (name, variant) = text
            .split_once('=')
            .ok_or_else(|| CliError::Variant(text.clone()))?;
        Ok((name.trim().to_owned(), variant.trim().to_owned()))
    };
    texts.iter().map(choice).collect()
}

/// A model's name with its networks', as in `2nn + discriminator (mlp)`.
pub(crate) fn named(model: &str, networks: &Auxiliaries) -> String {
    let more = networks
        .iter()
        .map(|(name, variant)| format!(" + {name} ({variant})"));
    [model.to_owned()].into_iter().chain(more).collect()
}
