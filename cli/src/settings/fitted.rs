//! Settings of a file for another algorithm than the file's.

use super::Settings;
use super::hypers;
use crate::catalog::Catalog;
use crate::error::CliError;
use crate::terminal::tell;

impl Settings {
    /// The same without hyper-parameters of the file that this algorithm lacks, or by which it means something else
    /// than the file's does, as a note says.
    ///
    /// # Errors
    ///
    /// [`CliError::FileHyper`] for any other that cannot be set.
    pub fn fitted(mut self, catalog: &Catalog) -> Result<Self, CliError> {
        let Some(file) = &self.file else {
            return Ok(self);
        };
        let mut algorithm = catalog.algorithm(&self.spec, &[])?;
        let of_file = file.algorithm(&catalog.registry);
        let taken = |name: &str| hypers::carries(of_file.as_ref(), &*algorithm, name);
        let note = file.leave_out(&[self.spec.as_str()], &mut self.hypers, taken);
        if let Some(note) = note {
            tell!("note: {note}");
        }
        for setting in self.hypers.iter().filter(|s| s.flag().is_none()) {
            let set = hypers::apply(&mut *algorithm, setting);
            set.map_err(|source| CliError::FileHyper {
                path: file.path.clone(),
                source: Box::new(source),
            })?;
        }
        Ok(self)
    }
}
