//! The clients' own models in a run folder: `clients/K.safetensors` for client `K`.
//!
//! A file has the tensors that differ from `model.safetensors`, and those that are not in it because
//! only clients train them. A client without a file uses the server's model as it is.

use std::fs;
use std::path::Path;

use fedround::experiment::Parameters;
use fedround_simulation::{PersonalModels, Simulation};

use super::folder::{CLIENTS, save_tensors};
use crate::error::CliError;
use crate::files::remove_folder;

/// The file of a client's own tensors, in a run folder.
pub(crate) fn file(client: usize) -> String {
    format!("{CLIENTS}/{client}.safetensors")
}

/// Writes the models of all clients; `by_clients` says which tensors the server has no trained values
/// of.
pub(super) fn write(
    run: &Path,
    simulation: &Simulation,
    models: &PersonalModels,
    (server, by_clients): (&Parameters, &[bool]),
) -> Result<(), CliError> {
    let dir = run.join(CLIENTS);
    // A run that goes on replaces the models of its earlier end.
    remove_folder(&dir)?;
    fs::create_dir(&dir).map_err(CliError::io("create the folder", &dir))?;
    for client in 0..simulation.clients() {
        let Some(own) = simulation.personal_parameters(models, client)? else {
            continue;
        };
        let all = own.iter().zip(server).zip(by_clients);
        let differ = all.filter(|((own, server), by_clients)| {
            **by_clients
                || !own
                    .2
                    .iter()
                    .map(|x| x.to_bits())
                    .eq(server.2.iter().map(|x| x.to_bits()))
        });
        let own: Vec<_> = differ.map(|((own, _), _)| own).collect();
        if !own.is_empty() {
            save_tensors(&run.join(file(client)), &own)?;
        }
    }
    Ok(())
}
