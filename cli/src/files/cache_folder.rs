//! The folder that keeps what the command can make again: timings of convolutions and decoded images.

use std::env;
use std::path::PathBuf;

/// Names the folder, or is `off`.
pub(crate) const VARIABLE: &str = "FEDROUND_CACHE";

/// The folder that `FEDROUND_CACHE` names, or else `fedround` in `$XDG_CACHE_HOME` or `~/.cache`. `None` with
/// `FEDROUND_CACHE=off`.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    match set(VARIABLE) {
        Some(off) if off == "off" => None,
        Some(folder) => Some(folder.into()),
        None => {
            let caches = set("XDG_CACHE_HOME").map(PathBuf::from);
            let caches = caches.or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")));
            caches.map(|caches| caches.join("fedround"))
        }
    }
}
