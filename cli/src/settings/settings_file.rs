//! The file of --config, where another algorithm runs than the file's.

use std::path::PathBuf;

use fedround_dsl::{BoxedAlgorithm, Registry};

use super::hypers::{self, Setting};

/// A file that settings come from.
#[derive(Clone, Debug)]
pub(crate) struct SettingsFile {
    pub path: PathBuf,
    /// Its algorithm, if it has one.
    pub spec: Option<String>,
}

impl SettingsFile {
    /// Its algorithm with the defaults, which tells what its hyper-parameters mean; none if it is not known here.
    pub fn algorithm(&self, registry: &Registry) -> Option<BoxedAlgorithm> {
        let spec = self.spec.as_deref()?.trim();
        hypers::algorithm(registry, spec, &[]).ok()
    }

    /// Takes the file's hyper-parameters out of `hypers` that the algorithms that run do not take, as `taken` says of
    /// a name, unless its own is one of these. Gives what to say of it.
    pub fn leave_out(
        &self,
        specs: &[&str],
        hypers: &mut Vec<Setting>,
        taken: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let own = self.spec.as_deref()?.trim();
        if specs.contains(&own) {
            return None;
        }
        let mut left_out = vec![];
        hypers.retain(|setting| {
            let stays = setting.flag().is_some() || taken(&setting.name);
            if !stays {
                left_out.push(setting.name.clone());
            }
            stays
        });
        let (path, names) = (self.path.display(), left_out.join(", "));
        let why = match specs {
            [spec] => format!("`{spec}` lacks them or means something else by them"),
            _ => "no algorithm here has them with the same meaning".to_owned(),
        };
        (!left_out.is_empty())
            .then(|| format!("{path} is of `{own}`; left out of it, because {why}: {names}"))
    }
}
