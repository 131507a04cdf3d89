//! The names that other programs use for algorithms and hyper-parameters. They lead to a suggestion where a name is
//! unknown and no known name is spelt alike.

use fedround_dsl::{HyperError, SpecError};

/// Algorithms, and how to write them.
const SPECS: [(&str, &str); 3] = [
    ("fedadagrad", "fedopt --set rule=adagrad --set beta1=0"),
    ("fedadam", "fedopt --set rule=adam"),
    ("fedyogi", "fedopt --set rule=yogi"),
];

/// Hyper-parameters.
const HYPERS: [(&str, &str); 9] = [
    ("batch_size", "batch"),
    ("client_fraction", "fraction"),
    ("client_lr", "lr"),
    ("learning_rate", "lr"),
    ("local_epochs", "epochs"),
    ("num_epochs", "epochs"),
    ("participation", "fraction"),
    ("proximal_mu", "mu"),
    ("server_learning_rate", "server_lr"),
];

/// Kinds of things that are listed.
const KINDS: [(&str, &str); 4] = [
    ("algorithm", "specs"),
    ("algorithms", "specs"),
    ("network", "auxiliaries"),
    ("networks", "auxiliaries"),
];

fn find(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    let name = name.trim().to_lowercase().replace('-', "_");
    let mut table = table.iter();
    table
        .find(|(alias, _)| *alias == name)
        .map(|(_, ours)| *ours)
}

/// The name of a hyper-parameter that others call so.
pub(crate) fn hyper(name: &str) -> Option<&'static str> {
    find(&HYPERS, name)
}

/// The kind of list that others call so.
pub(crate) fn kind(name: &str) -> Option<&'static str> {
    find(&KINDS, name)
}

/// The error of a spec, with what an unknown algorithm is called here.
pub(crate) fn of_spec(mut error: SpecError) -> SpecError {
    if let SpecError::Unknown {
        name,
        nearest,
        known,
    } = &mut error
        && let Some(ours) = find(&SPECS, name)
        && known
            .iter()
            .any(|known| ours.split(' ').next() == Some(known.as_str()))
    {
        *nearest = Some(ours.to_owned());
    }
    error
}

/// The error of a setting, with what an unknown hyper-parameter is called here.
pub(crate) fn of_hyper(mut error: HyperError) -> HyperError {
    if let HyperError::Unknown {
        field,
        nearest,
        known,
        ..
    } = &mut error
        && let Some(ours) = hyper(field.rsplit('.').next().unwrap_or_default())
        && known.iter().any(|known| known == ours)
    {
        *nearest = Some(ours.to_owned());
    }
    error
}
