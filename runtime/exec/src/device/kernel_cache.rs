//! Keeps compiled kernels on disk, and which of several kernels is the fastest for a shape, so that the
//! next process need not compile and time them again.

use std::sync::Once;

use cubecl::config::cache::CacheConfig;
use cubecl::config::{CubeClRuntimeConfig, RuntimeConfig};

static ONCE: Once = Once::new();

/// Has cubecl keep kernels, before the first GPU is opened: it reads its settings once. They are those
/// of a `cubecl.toml` and of cubecl's variables, as ever, but for two that differ from its defaults.
/// An application that has set its own before keeps them.
pub(super) fn keep_kernels() {
    ONCE.call_once(|| {
        let mut settings = CubeClRuntimeConfig::from_current_dir().override_from_env();
        settings.compilation.cache = true;
        // The default is a folder of the Cargo project in which a run happens to be started.
        if let CacheConfig::Target = settings.environment.path {
            settings.environment.path = CacheConfig::Global;
        }
        CubeClRuntimeConfig::try_set(settings);
    });
}
