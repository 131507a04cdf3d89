//! Source texts of algorithms, from which `fedround new` makes copies.

/// Names with the texts of files of this folder.
macro_rules! sources {
    ($($name:literal: $file:literal),* $(,)?) => {
        &[$(($name, include_str!($file))),*]
    };
}

/// The algorithms that are in one file and train an image model on any data: the name on the command line,
/// and the text of the file.
pub const SOURCES: &[(&str, &str)] = sources![
    "fedavg": "fed_avg.rs",
    "fedavgm": "fed_avg_m.rs",
    "fedopt": "fed_opt.rs",
    "fedprox": "fed_prox.rs",
    "scaffold": "scaffold.rs",
    "mimelite": "mime_lite.rs",
    "fednova": "fed_nova.rs",
    "per-fedavg": "per_fed_avg.rs",
    "fedasync": "fed_async.rs",
    "hypcluster": "hyp_cluster.rs",
    "agnostic": "agnostic.rs",
    "krum": "krum.rs",
    "median": "median.rs",
    "trimmed-mean": "trimmed_mean.rs",
    "compressed": "compressed.rs",
    "ef21": "ef21.rs",
    "push-sum": "push_sum.rs",
    "solo": "solo.rs",
];
