//! The bundled algorithms that a new crate can start from: those in one file, which train an image model
//! on any data.

/// Names with the texts of their files.
macro_rules! copies {
    ($($name:literal: $file:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../algorithms/src/", $file)))),*]
    };
}

/// Names on the command line, and the files.
pub(super) const COPIES: &[(&str, &str)] = copies![
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
