//! Names of files by which folders are told apart.

/// The settings of a run.
pub(crate) const CONFIG: &str = "config.toml";

/// The results of several runs, in the folder that theirs are in.
pub(crate) const COMPARISON: &str = "comparison.json";

/// Says that the clients of the run are at parties.
pub(crate) const FEDERATION: &str = "federation.txt";
