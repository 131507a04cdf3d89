//! The fingerprint of a simulation: everything, besides its state, on which its results depend. A checkpoint can only
//! be restored by a simulation with the same fingerprint.

use std::sync::OnceLock;

use fedround_data::Examples;
use fedround_exec::Program;
use fedround_exec::device::is_cpu;
use fedround_ir::fed::print_exact;
use fedround_passes::lowering::Frontend;
use fedround_store::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Simulation;
use crate::checkpoint_error::CheckpointError;
use crate::error::RunError;

/// Names and values of facts, in a fixed order.
#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Fingerprint(Vec<(String, String)>);

/// Checksums that take long to compute. Programs and data do not change, so each is computed once.
#[derive(Default)]
pub(super) struct Digests {
    program: OnceLock<String>,
    examples: OnceLock<String>,
    public: OnceLock<String>,
}

impl Fingerprint {
    pub fn of(simulation: &Simulation) -> Result<Self, CheckpointError> {
        let clients = &simulation.dataset.client_indices;
        let devices = simulation
            .devices()
            .map(|device| is_cpu(device.program.device()));
        let (cpus, gpus): (Vec<bool>, Vec<bool>) = devices.partition(|on_cpu| *on_cpu);
        let late_client = simulation.late_client;
        let facts = [
            ("program", program(simulation)?),
            ("seed", simulation.seed.to_string()),
            ("number of clients", clients.len().to_string()),
            ("data", examples(simulation)),
            ("public examples", public(simulation)),
            ("assignment of examples to clients", assignment(clients)),
            ("augmentation", simulation.augment.to_string()),
            (
                "late client",
                late_client.map_or("none".to_owned(), |client| client.to_string()),
            ),
            ("precision", simulation.program().precision().to_string()),
            ("faults of clients", format!("{:?}", simulation.faults)),
            (
                "set of devices",
                format!("{} CPU and {} GPU", cpus.len(), gpus.len()),
            ),
        ];
        // Only present if it is on, so that checkpoints of earlier versions can still be restored.
        let exact = simulation.program().exact_convolutions();
        let exact = exact.then(|| ("convolutions", "exact".to_owned()));
        let facts = facts.into_iter().chain(exact);
        Ok(Self(
            facts.map(|(name, text)| (name.to_owned(), text)).collect(),
        ))
    }

    /// Fails if a checkpoint's facts differ from these. The error names the first fact that differs.
    pub fn check(&self, found: &Self) -> Result<(), CheckpointError> {
        let text = |facts: &Self, name: &str| {
            let fact = facts.0.iter().find(|(own, _)| own == name);
            fact.map_or("none".to_owned(), |(_, text)| text.clone())
        };
        let names = self.0.iter().chain(&found.0).map(|(name, _)| name);
        let mut others = names.filter(|name| text(self, name) != text(found, name));
        match others.next() {
            None => Ok(()),
            Some(name) => Err(CheckpointError::Other {
                what: name.clone(),
                expected: text(self, name),
                found: text(found, name),
            }),
        }
    }
}

/// A digest of the algorithm's program with its hyper-parameters, the tensor graphs of its steps, the model's leaves,
/// and the programs of evaluations.
fn program(simulation: &Simulation) -> Result<String, RunError> {
    let digest = &simulation.digests.program;
    if let Some(known) = digest.get() {
        return Ok(known.clone());
    }
    let program = simulation.program();
    let mut hasher = hashed(program)?;
    for evaluation in &simulation.main_device.evaluations {
        hasher.update(evaluation.name.as_deref().unwrap_or_default());
        hasher.update(print_exact(evaluation.program.staged()));
    }
    Ok(digest.get_or_init(|| text(hasher)).clone())
}

/// A digest of the algorithm's program with its hyper-parameters, the tensor graphs of its steps, and the model's
/// leaves, as 64 hexadecimal digits.
pub(super) fn graph(simulation: &Simulation) -> Result<String, RunError> {
    Ok(hex(&hashed(simulation.program())?.finalize()))
}

fn hashed(program: &Program) -> Result<Sha256, RunError> {
    let mut hasher = Sha256::new();
    hasher.update(format!("{:?}", program.model().parameters()));
    // A model with adapters: the texts of the graphs do not have the values of the base model.
    let base = program.model().model().merged();
    for leaf in base.iter().flat_map(|base| base.leaves()) {
        hasher.update(&leaf.name);
        hasher.update(leaf.value().as_bytes());
    }
    for (rounds, phase) in program.phases() {
        hasher.update(rounds.unwrap_or_default());
        hasher.update(print_exact(phase.staged()));
        let graphs = phase.exact_tensor_text(phase.batch_size());
        hasher.update(graphs.map_err(RunError::from)?);
    }
    Ok(hasher)
}

fn examples(simulation: &Simulation) -> String {
    let digest = || digest(&simulation.dataset.examples);
    simulation.digests.examples.get_or_init(digest).clone()
}

fn public(simulation: &Simulation) -> String {
    let public = || {
        simulation
            .public
            .as_ref()
            .map_or("none".to_owned(), |public| {
                format!("{} of digest {}", public.len(), digest(public))
            })
    };
    simulation.digests.public.get_or_init(public).clone()
}

fn digest(examples: &Examples) -> String {
    let mut hasher = Sha256::new();
    examples.contents(&mut |bytes| hasher.update(bytes));
    text(hasher)
}

fn assignment(clients: &[Vec<usize>]) -> String {
    let mut hasher = Sha256::new();
    for indices in clients {
        hasher.update((indices.len() as u64).to_le_bytes());
        for index in indices {
            hasher.update((*index as u64).to_le_bytes());
        }
    }
    text(hasher)
}

/// The first 16 hexadecimal digits of a digest: enough to distinguish a user's own runs, and short enough to read.
fn text(hasher: Sha256) -> String {
    hex(&hasher.finalize()[..8])
}
