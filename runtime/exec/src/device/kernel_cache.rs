//! Makes cubecl keep its compiled kernels and its autotuning results on disk, so that the next process need
//! not compile and time kernels again.

use std::sync::Once;

use cubecl::config::cache::CacheConfig;
use cubecl::config::{CubeClRuntimeConfig, RuntimeConfig};

static ONCE: Once = Once::new();

/// Switches on cubecl's kernel cache. cubecl reads its settings once, so this must be called before the first
/// GPU is opened.
///
/// The other settings come from `cubecl.toml` and cubecl's environment variables, as usual. If the
/// application has already set cubecl's configuration, it stays as it is.
pub(super) fn enable_kernel_cache() {
    ONCE.call_once(|| {
        let mut settings = CubeClRuntimeConfig::from_current_dir().override_from_env();
        settings.compilation.cache = true;
        // cubecl's default is the target folder of the Cargo project in whose folder the run was started.
        if let CacheConfig::Target = settings.environment.path {
            settings.environment.path = CacheConfig::Global;
        }
        CubeClRuntimeConfig::try_set(settings);
    });
}
