//! The files of the server's models in a run folder.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use fedround::experiment::{Keep, Parameters, Report, merged, whole_name};
use fedround_ir::tensor::TensorType;
use fedround_models::{Layout, Model, NamedValues, to_safetensors};

use super::folder::{ADAPTERS, Folder, LAST, MODEL};
use crate::error::CliError;
use crate::files::remove_file;

impl Folder {
    /// Writes the models that are to be kept, the last one of a run without any evaluation, without the
    /// tensors that are `left_out`.
    pub fn models(
        &self,
        model: &dyn Model,
        report: &Report,
        keep: Keep,
        left_out: &[bool],
    ) -> Result<(), CliError> {
        let last = &report.parameters;
        let kept = match (keep, &report.best) {
            (Keep::Last, _) | (_, None) => last,
            (Keep::Best | Keep::Both, Some(best)) => &best.parameters,
        };
        if self.whole(model, MODEL, kept, left_out)? {
            self.model(ADAPTERS, kept, left_out)?;
        }
        if keep == Keep::Both && report.best.is_some() {
            self.whole(model, LAST, last, left_out)?;
        }
        Ok(())
    }

    /// Writes the whole model of what was trained. Whether that has adapters.
    fn whole(
        &self,
        model: &dyn Model,
        file: &'static str,
        trained: &Parameters,
        left_out: &[bool],
    ) -> Result<bool, CliError> {
        let Some(whole) = merged(model, trained) else {
            self.model(file, trained, left_out)?;
            return Ok(false);
        };
        let names = trained.iter().zip(left_out).filter(|(_, out)| **out);
        let names: HashSet<String> = names.map(|(leaf, _)| whole_name(&leaf.0)).collect();
        let left_out: Vec<bool> = whole.iter().map(|leaf| names.contains(&leaf.0)).collect();
        self.model(file, &whole, &left_out)?;
        Ok(true)
    }

    /// Writes the tensors that are not left out. Of none there is no file, also if an earlier end of the run had one.
    fn model(
        &self,
        file: &'static str,
        leaves: &Parameters,
        left_out: &[bool],
    ) -> Result<(), CliError> {
        let kept = leaves
            .iter()
            .zip(left_out)
            .filter(|(_, left_out)| !**left_out);
        let kept: Vec<_> = kept.map(|(leaf, _)| leaf).collect();
        match kept.is_empty() {
            true => remove_file(&self.dir().join(file)),
            false => self.write(file, &tensor_bytes(&self.dir().join(file), &kept)?),
        }
    }
}

fn tensor_bytes(
    path: &Path,
    leaves: &[&(String, TensorType, Vec<f32>)],
) -> Result<Vec<u8>, CliError> {
    let tensors = leaves.iter().map(|(name, ty, values)| NamedValues {
        name,
        shape: &ty.shape,
        values,
    });
    let bytes = to_safetensors(&tensors.collect::<Vec<_>>(), Layout::Fedround);
    let bytes = bytes.map_err(io::Error::other);
    bytes.map_err(CliError::io("write", path))
}
