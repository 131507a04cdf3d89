//! Loads the server's states from a checkpoint of another simulation.

use std::collections::{BTreeMap, HashMap};

use fedround_exec::Program;
use fedround_ir::fed::{Kind, Place};
use fedround_passes::lowering::Frontend;
use fedround_store::{Archive, ArchiveError, StoreError, TensorBytes};

use super::Simulation;
use super::checkpoint::{SERVER, ServerStates, check_version};
use super::saved_tensors::tensors_on_device;
use crate::checkpoint_error::CheckpointError;
use crate::round::nodes_names;

/// The server's states in a checkpoint do not fit the program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerStateError {
    /// The program keeps no state on the server.
    #[error("the algorithm keeps no state on the server")]
    Stateless,
    /// The program has states of other names.
    #[error(
        "the checkpoint does not have the states of the algorithm's server: missing: {}; left over: {}",
        list(missing),
        list(left_over)
    )]
    Names {
        /// States of the program that the checkpoint lacks.
        missing: Vec<String>,
        /// States of the checkpoint that the program lacks.
        left_over: Vec<String>,
    },
    /// A state has tensors of other shapes.
    #[error("the server's state `{name}` expected tensors of shapes {expected:?}, found {found:?}")]
    Shapes {
        /// The state's name.
        name: String,
        /// The shapes in the program.
        expected: Vec<Vec<usize>>,
        /// The shapes in the checkpoint.
        found: Vec<Vec<usize>>,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The archive is not a checkpoint, or a later version of fedround wrote it.
    #[error(transparent)]
    Checkpoint(#[from] Box<CheckpointError>),
}

impl From<ArchiveError> for ServerStateError {
    fn from(error: ArchiveError) -> Self {
        Self::Checkpoint(Box::new(error.into()))
    }
}

/// Names separated by commas.
fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

impl Simulation {
    /// Replaces the server's states by those of another simulation that was [saved](Self::save). Its program has states
    /// of the same names and shapes. The parameters, the clients' states and the round stay. Returns the names of the
    /// states.
    ///
    /// # Errors
    ///
    /// The states do not fit the program. Nothing changes then.
    pub fn load_server_states(
        &mut self,
        archive: &Archive,
    ) -> Result<Vec<String>, ServerStateError> {
        check_version(archive).map_err(Box::new)?;
        let program = self.program();
        let expected = states(program);
        if expected.is_empty() {
            return Err(ServerStateError::Stateless);
        }
        let found: BTreeMap<String, Vec<TensorBytes>> =
            archive.get::<ServerStates>(SERVER)?.into_iter().collect();
        let lacks = |name: &&String| !found.contains_key(*name);
        let missing: Vec<String> = expected.keys().filter(lacks).cloned().collect();
        let unknown = |name: &&String| !expected.contains_key(*name);
        let left_over: Vec<String> = found.keys().filter(unknown).cloned().collect();
        if !missing.is_empty() || !left_over.is_empty() {
            return Err(ServerStateError::Names { missing, left_over });
        }
        let mut states = HashMap::new();
        for (name, tensors) in found {
            if let Some(Some(expected)) = expected.get(&name) {
                let shapes: Vec<Vec<usize>> = tensors.iter().map(|t| t.shape.clone()).collect();
                if shapes != *expected {
                    let (expected, found) = (expected.clone(), shapes);
                    return Err(ServerStateError::Shapes {
                        name,
                        expected,
                        found,
                    });
                }
            }
            let tensors = tensors_on_device(SERVER, &tensors, program.device())?;
            states.insert(name, tensors);
        }
        self.state.server = states;
        Ok(expected.into_keys().collect())
    }
}

/// The server's states in a program, by name, with the shapes of their tensors. `None` if the shapes are known only
/// when the state is set.
fn states(program: &Program) -> BTreeMap<String, Option<Vec<Vec<usize>>>> {
    let leaves = program.model().parameters().iter();
    let leaves: Vec<Vec<usize>> = leaves.map(|(_, ty)| ty.shape.clone()).collect();
    let mut all = BTreeMap::new();
    for (_, phase) in program.phases() {
        let module = phase.linked();
        // Tree noise keeps its open nodes as a state; their number differs between rounds.
        all.extend(nodes_names(module).map(|name| (name, None)));
        for op in module.all_ops() {
            let used = op.state_and_value();
            let Some((state, value)) = used.filter(|(state, _)| state.place == Place::Server)
            else {
                continue;
            };
            let shapes = match module.type_of(value).kind {
                Kind::Params => Some(leaves.clone()),
                Kind::Scalar | Kind::Index => Some(vec![vec![1]]),
                _ => None,
            };
            all.insert(state.name.to_owned(), shapes);
        }
    }
    all
}
