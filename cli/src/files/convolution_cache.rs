//! Keeps the timed convolution algorithms in the user's cache folder, so that a later run need not time
//! them again.

use std::sync::OnceLock;

use fedround_exec::{AutotuneCache, ConvPolicy};

use super::cache_folder::{VARIABLE, cache_folder};
use crate::terminal::tell;

/// A choice of convolution algorithms whose timings are kept in the user's cache folder, or in
/// memory if there is none.
pub(crate) fn in_user_folder(policy: ConvPolicy) -> ConvPolicy {
    static CACHE: OnceLock<AutotuneCache> = OnceLock::new();
    let open = || match cache_folder() {
        None => AutotuneCache::default(),
        Some(folder) => AutotuneCache::at(&folder, |error| {
            tell!(
                "warning: {error}; the fastest convolutions are measured again ({VARIABLE}=DIR chooses another folder, {VARIABLE}=off none)"
            );
        }),
    };
    policy.with_cache(CACHE.get_or_init(open).clone())
}
