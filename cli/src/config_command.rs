//! The subcommand `fedround config`: prints the settings of a run as `config.toml`.

use std::path::Path;

use crate::args::ConfigArgs;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::files::json;
use crate::settings::Settings;
use crate::terminal::print;

/// Prints the settings of a command line as a file.
pub(crate) fn config(catalog: &Catalog, args: &ConfigArgs) -> Result<(), CliError> {
    let spec = args.spec.as_deref();
    let settings = Settings::resolve(&args.settings, &args.tests, spec, args.seed)?;
    let algorithm = catalog.algorithm(&settings.spec, &settings.hypers)?;
    let config = settings.config(&*algorithm);
    match args.json {
        true => {
            let mut config = serde_json::to_value(&config)?;
            // What a file does not have is not here either.
            if let Some(settings) = config.as_object_mut() {
                settings.retain(|_, value| !value.is_null());
            }
            print(&json(&config)?)
        }
        false => print(&config.text(Path::new("-"))?),
    }
}
