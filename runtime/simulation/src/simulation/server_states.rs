//! Takes the states of the server from a checkpoint of another simulation.

use std::collections::{BTreeMap, HashMap};

use fedround_exec::Program;
use fedround_ir::fed::{FedOp, Kind, OpKind};
use fedround_passes::lowering::Frontend;
use fedround_store::{Archive, ArchiveError, StoreError, TensorBytes};

use super::Simulation;
use super::checkpoint::{SERVER, ServerStates, check_version, restored};
use crate::checkpoint_error::CheckpointError;
use crate::round::nodes_names;

/// The states of the server in a checkpoint are not those of the program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerStateError {
    /// The program has none.
    #[error("the algorithm keeps no state on the server")]
    Stateless,
    /// It has others.
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
        /// The program's.
        expected: Vec<Vec<usize>>,
        /// The checkpoint's.
        found: Vec<Vec<usize>>,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The archive is no checkpoint, or one of a later version.
    #[error(transparent)]
    Checkpoint(#[from] Box<CheckpointError>),
}

impl From<ArchiveError> for ServerStateError {
    fn from(error: ArchiveError) -> Self {
        Self::Checkpoint(Box::new(error.into()))
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

impl Simulation {
    /// Starts from the states of the server that another simulation was [saved](Self::save) with, of a program
    /// with states of the same names and shapes. The parameters, the clients' states and the round stay.
    /// Gives the names of the states.
    ///
    /// # Errors
    ///
    /// The states are not those of the program, and nothing changes.
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
            let tensors = restored(SERVER, &tensors, program.device())?;
            states.insert(name, tensors);
        }
        self.state.server = states;
        Ok(expected.into_keys().collect())
    }
}

/// The states of a program's server by name, with the shapes of their tensors; `None` of those that are
/// known only when they are set.
fn states(program: &Program) -> BTreeMap<String, Option<Vec<Vec<usize>>>> {
    let leaves = program.model().parameters().iter();
    let leaves: Vec<Vec<usize>> = leaves.map(|(_, ty)| ty.shape.clone()).collect();
    let mut all = BTreeMap::new();
    for (_, phase) in program.phases() {
        let module = phase.linked();
        // Of a tree, the checkpoint has the nodes that are open.
        all.extend(nodes_names(module).map(|name| (name, None)));
        for op in module.all_ops() {
            let (name, value) = match &op.kind {
                OpKind::Fed(FedOp::ServerState(name, _) | FedOp::ServerStateOr(name)) => {
                    (name, op.results.first())
                }
                OpKind::Fed(FedOp::SetServerState(name)) => (name, op.operands.last()),
                _ => continue,
            };
            let shapes = match value.map(|v| module.type_of(*v).kind) {
                Some(Kind::Params) => Some(leaves.clone()),
                Some(Kind::Scalar | Kind::Index) => Some(vec![vec![1]]),
                _ => None,
            };
            all.insert(name.clone(), shapes);
        }
    }
    all
}
