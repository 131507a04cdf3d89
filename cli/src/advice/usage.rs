//! Advice on errors of the command line itself.

use std::error::Error;
use std::num::ParseIntError;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use fedround_dsl::Registry;

use super::aliases;

/// The error of a command line. If an unknown switch is the name of a hyper-parameter, as in `--lr 0.1`, its
/// tip says what to write instead. Of a negative number where a count or a seed is expected, it says the range.
pub(crate) fn of_usage(mut error: clap::Error, registry: &Registry) -> clap::Error {
    if let Some(tip) = negative(&error) {
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    if let Some(tip) = hyper_switch(&error, registry) {
        // clap's own would be a similar switch, or to pass it as a value. One that only is longer may be meant:
        // `--target` for `--target-column`.
        if !is_longer(&error) {
            error.remove(ContextKind::SuggestedArg);
        }
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

/// What a switch takes that was given a negative whole number, and does not take it.
fn negative(error: &clap::Error) -> Option<String> {
    // Other values may be negative, or be no numbers.
    let is_count = error.source()?.is::<ParseIntError>();
    if error.kind() != ErrorKind::ValueValidation || !is_count {
        return None;
    }
    let number: i128 = context(error, ContextKind::InvalidValue)?.parse().ok()?;
    // Behind it stands the name of its value.
    let switch = context(error, ContextKind::InvalidArg)?;
    let switch = switch.split_whitespace().next()?;
    (number < 0).then(|| format!("{switch} takes a whole number that is not negative"))
}

/// A text that clap keeps of an error.
fn context(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        _ => None,
    }
}

/// Whether the similar switch that clap suggests begins with the unknown one.
fn is_longer(error: &clap::Error) -> bool {
    let given = context(error, ContextKind::InvalidArg);
    given
        .zip(context(error, ContextKind::SuggestedArg))
        .is_some_and(|(given, similar)| similar.starts_with(&format!("{given}-")))
}

/// What to write instead of an unknown switch that is the name of a hyper-parameter.
fn hyper_switch(error: &clap::Error, registry: &Registry) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let name = context(error, ContextKind::InvalidArg)?
        .strip_prefix("--")?
        .split('=')
        .next()?
        .replace('-', "_");
    let known = |name: &&str| {
        let mut fields = registry.entries().iter().flat_map(|entry| entry.fields);
        fields.any(|field| field.name == *name)
    };
    let meant = [Some(name.as_str()), aliases::hyper(&name)];
    let name = meant.into_iter().flatten().find(known)?;
    Some(format!(
        "`{name}` is a hyper-parameter of algorithms: --set {name}=VALUE"
    ))
}
