//! Keeps the timed convolution algorithms in the user's cache folder, so that a later run need not time
//! them again.

use std::env;
use std::path::PathBuf;
use std::sync::OnceLock;

use fedround_exec::{AutotuneCache, ConvPolicy};

use crate::terminal::tell;

/// Names the folder, or is `off`.
const VARIABLE: &str = "FEDROUND_CACHE";

/// A choice of convolution algorithms whose timings are kept in the user's folder: the one that
/// `FEDROUND_CACHE` names, or else `fedround` in `$XDG_CACHE_HOME` or `~/.cache`. With
/// `FEDROUND_CACHE=off` they are kept in memory.
pub(crate) fn in_user_folder(policy: ConvPolicy) -> ConvPolicy {
    static CACHE: OnceLock<AutotuneCache> = OnceLock::new();
    let open = || match folder() {
        None => AutotuneCache::default(),
        Some(folder) => AutotuneCache::at(&folder, |error| {
            tell!(
                "warning: {error}; the fastest convolutions are measured again ({VARIABLE}=DIR chooses another folder, {VARIABLE}=off none)"
            );
        }),
    };
    policy.with_cache(CACHE.get_or_init(open).clone())
}

fn folder() -> Option<PathBuf> {
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
