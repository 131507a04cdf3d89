//! Adds to a model the auxiliary networks that an algorithm needs, such as a generator or a discriminator.

use std::collections::BTreeSet;

use burn::tensor::Device;
use fedround_dsl::{Algorithm, phases};
use fedround_ir::fed::{ExternalOp, FedOp, Module, Op, OpKind};
use fedround_models::{Assembled, AuxiliaryTask, Model, assemble};

use super::error::CompileError;

/// Adds auxiliary networks to the model `base`: those that define the functions which the algorithm's hooks
/// apply and the model lacks.
///
/// A network that classifies rows by their client has one output for each client. If the algorithm labels
/// rows by the client's position in a rotating cohort, one output for each position is enough.
///
/// # Errors
///
/// The algorithm does not stage, or no auxiliary network has a function that it applies.
pub fn assemble_for(
    algorithm: &dyn Algorithm,
    base: Box<dyn Model>,
    task: &AuxiliaryTask,
    device: &Device,
) -> Result<Assembled, CompileError> {
    let (mut names, mut task) = (BTreeSet::new(), task.clone());
    for phase in phases(algorithm)? {
        let ops: Vec<&Op> = phase.module.all_ops().collect();
        names.extend(ops.iter().filter_map(|op| match &op.kind {
            OpKind::External(ExternalOp::Apply(name)) => Some(name.clone()),
            _ => None,
        }));
        let size = labelled_cohort_size(&phase.module, &ops);
        task.clients = size.map_or(task.clients, |size| size.min(task.clients));
    }
    let names: Vec<String> = names.into_iter().collect();
    Ok(assemble(base, &names, &task, device)?)
}

/// The size of the rotating cohort whose rows are labelled by position. `None` if no rows are, or if the size
/// depends on the number of clients.
fn labelled_cohort_size(module: &Module, ops: &[&Op]) -> Option<usize> {
    let find = |is: &dyn Fn(&Op) -> bool| ops.iter().find(|op| is(op));
    find(&|op| op.kind == OpKind::Fed(FedOp::Positions))?;
    let cohort = find(&|op| op.kind == OpKind::Fed(FedOp::Rotating))?;
    module.known(*cohort.operands.first()?)?.count()
}
