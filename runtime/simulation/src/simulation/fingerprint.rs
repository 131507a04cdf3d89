//! A short description of everything that a simulation's results depend on besides its state.

use std::sync::OnceLock;

use fedround_data::Examples;
use fedround_exec::Program;
use fedround_exec::device::is_cpu;
use fedround_ir::fed::print_exact;
use fedround_passes::lowering::Frontend;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Simulation;
use crate::checkpoint_error::CheckpointError;
use crate::error::RunError;

/// Facts by name, in order.
#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Fingerprint(Vec<(String, String)>);

/// Checksums that take time. Programs and data do not change, so each is computed once.
#[derive(Default)]
pub(super) struct Digests {
    program: OnceLock<String>,
    examples: OnceLock<String>,
    public: OnceLock<String>,
}

impl Fingerprint {
    pub fn of(simulation: &Simulation) -> Result<Self, CheckpointError> {
        let clients = &simulation.dataset.client_indices;
        let devices = simulation.sites().map(|site| is_cpu(site.program.device()));
        let (cpus, gpus): (Vec<bool>, Vec<bool>) = devices.partition(|on_cpu| *on_cpu);
        let newcomer = simulation.newcomer;
        let facts = [
            ("program", program(simulation)?),
            ("seed", simulation.seed.to_string()),
            ("number of clients", clients.len().to_string()),
            ("data", examples(simulation)),
            ("public examples", public(simulation)),
            ("assignment of examples to clients", dealt(clients)),
            ("augmentation", simulation.augment.to_string()),
            (
                "late client",
                newcomer.map_or("none".to_owned(), |client| client.to_string()),
            ),
            ("precision", simulation.program().precision().to_string()),
            ("faults of clients", format!("{:?}", simulation.faults)),
            (
                "set of devices",
                format!("{} CPU and {} GPU", cpus.len(), gpus.len()),
            ),
        ];
        // Absent where it is off, so that the checkpoints of earlier versions are still read.
        let exact = simulation.program().exact_convolutions();
        let exact = exact.then(|| ("convolutions", "exact".to_owned()));
        let facts = facts.into_iter().chain(exact);
        Ok(Self(
            facts.map(|(name, text)| (name.to_owned(), text)).collect(),
        ))
    }

    /// Fails where a checkpoint's facts differ from these.
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

/// Of the spec's program with its hyper-parameters, the tensor graphs of its steps, and the model's
/// leaves.
fn program(simulation: &Simulation) -> Result<String, RunError> {
    let digest = &simulation.digests.program;
    if let Some(known) = digest.get() {
        return Ok(known.clone());
    }
    let program = simulation.program();
    let mut hasher = hashed(program)?;
    for own in &simulation.home.evaluations {
        hasher.update(own.name.as_deref().unwrap_or_default());
        hasher.update(print_exact(own.program.staged()));
    }
    Ok(digest.get_or_init(|| text(hasher)).clone())
}

/// Of the spec's program with its hyper-parameters, the tensor graphs of its steps, and the model's
/// leaves, as 64 hexadecimal digits.
pub(super) fn graph(simulation: &Simulation) -> Result<String, RunError> {
    Ok(hex(&hashed(simulation.program())?.finalize()))
}

fn hashed(program: &Program) -> Result<Sha256, RunError> {
    let mut hasher = Sha256::new();
    hasher.update(format!("{:?}", program.model().parameters()));
    // Beside adapters that are zeros, this is their base, whose values the graphs' texts leave out.
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

fn dealt(clients: &[Vec<usize>]) -> String {
    let mut hasher = Sha256::new();
    for indices in clients {
        hasher.update((indices.len() as u64).to_le_bytes());
        for index in indices {
            hasher.update((*index as u64).to_le_bytes());
        }
    }
    text(hasher)
}

/// The first 16 hexadecimal digits: enough to tell one's own runs apart, and short enough to read.
fn text(hasher: Sha256) -> String {
    hex(&hasher.finalize()[..8])
}

/// Bytes in lower-case hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
