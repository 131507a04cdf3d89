//! The models in a run folder: the server's, and the clients' own in `clients/K.safetensors` for client
//! `K`.
//!
//! A client's file has the tensors that differ from `model.safetensors`, and those that are not in it
//! because only clients train them. A client without a file uses the server's model as it is. If adapters
//! were trained, files have the weights with the adapters added, and the server's adapters have a file of
//! their own.

use std::fs;
use std::path::PathBuf;

use fedround::experiment::{ClientModels, Keep, Parameters, Report, merged_own, write_model};
use fedround_simulation::Simulation;

use super::folder::{CLIENTS, Folder, LAST_CLIENTS};
use crate::error::CliError;
use crate::files::remove_folder;

/// The file of a client's own tensors, in a run folder.
pub(crate) fn client_file(client: usize) -> String {
    format!("{CLIENTS}/{}", name(client))
}

fn name(client: usize) -> String {
    format!("{client}.safetensors")
}

/// Writes the models that are to be kept: the server's, and `with_clients` the clients' own ones. A
/// tensor that only clients trained is not among the server's.
pub(super) fn write(
    folder: &Folder,
    simulation: &Simulation,
    report: &Report,
    (keep, with_clients): (Keep, bool),
) -> Result<(), CliError> {
    let model = simulation.program().model().model();
    // A run that goes on replaces the models of its earlier end, also if it has none now.
    for earlier in [CLIENTS, LAST_CLIENTS] {
        remove_folder(&folder.dir().join(earlier))?;
    }
    if simulation.personal_models_are_at_parties() {
        return folder.models(model, report, keep, &only_of_clients(simulation, report)?);
    }
    let models = match with_clients {
        true => ClientModels::of(simulation)?,
        false => None,
    };
    let Some(models) = models else {
        let left_out = match simulation.has_personal_models() {
            true => only_of_clients(simulation, report)?,
            false => vec![false; report.parameters.len()],
        };
        return folder.models(model, report, keep, &left_out);
    };
    folder.models(model, report, keep, models.by_clients())?;
    let own = |server: &Parameters, own: Parameters| merged_own(model, server, &own).unwrap_or(own);
    let best = report.best.as_ref().filter(|_| keep.best());
    if let Some(best) = best {
        let mut clients = ClientFolder::new(folder.dir().join(CLIENTS));
        let mut all = best.clients.iter();
        all.try_for_each(|(k, tensors)| {
            clients.write(*k, &own(&best.parameters, tensors.clone()))
        })?;
    }
    let last = match (keep, best) {
        (Keep::Best, Some(_)) => return Ok(()),
        (_, Some(_)) => LAST_CLIENTS,
        (_, None) => CLIENTS,
    };
    let mut clients = ClientFolder::new(folder.dir().join(last));
    models.each(|client, tensors| clients.write(client, &own(&report.parameters, tensors)))
}

/// The tensors that only clients train, as the last evaluation told. If it told nothing, all tensors are taken for
/// such that the server did not change.
fn only_of_clients(simulation: &Simulation, report: &Report) -> Result<Vec<bool>, CliError> {
    let unchanged = simulation.unchanged_parameters()?;
    let told = report.scores.as_ref().map(|scores| &scores.by_clients);
    Ok(match told.filter(|told| told.len() == unchanged.len()) {
        Some(told) => {
            let both = unchanged.iter().zip(told);
            both.map(|(unchanged, told)| *unchanged && *told).collect()
        }
        None => unchanged,
    })
}

/// A new folder of what clients have of their own. Where nobody has anything there is no folder.
struct ClientFolder {
    path: PathBuf,
    made: bool,
}

impl ClientFolder {
    fn new(path: PathBuf) -> Self {
        Self { path, made: false }
    }

    fn write(&mut self, client: usize, tensors: &Parameters) -> Result<(), CliError> {
        if !self.made {
            let made = fs::create_dir(&self.path);
            made.map_err(CliError::io("create the folder", &self.path))?;
            self.made = true;
        }
        let path = self.path.join(name(client));
        Ok(write_model(&path, tensors)?)
    }
}
