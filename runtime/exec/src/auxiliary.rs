//! The auxiliary networks that an algorithm needs.

use std::collections::BTreeSet;

use burn::tensor::Device;
use fedround_dsl::{Algorithm, phases};
use fedround_ir::fed::{OpKind, Region};
use fedround_models::{Assembled, AuxiliaryTask, Model, assemble};

use crate::error::CompileError;

/// Puts the networks beside a model that an algorithm needs: those that give functions which its
/// slots apply and the model lacks.
///
/// # Errors
///
/// The algorithm does not stage, or a network cannot be had.
pub fn assemble_for(
    algorithm: &dyn Algorithm,
    base: Box<dyn Model>,
    task: &AuxiliaryTask,
    device: &Device,
) -> Result<Assembled, CompileError> {
    let mut names = BTreeSet::new();
    for phase in phases(algorithm)? {
        for func in &phase.module.funcs {
            applied(&func.body, &mut names);
        }
    }
    let names: Vec<String> = names.into_iter().collect();
    Ok(assemble(base, &names, task, device)?)
}

/// The functions of the model that some code applies.
fn applied(region: &Region, names: &mut BTreeSet<String>) {
    for op in &region.ops {
        if let OpKind::Apply(name) = &op.kind {
            names.insert(name.clone());
        }
        op.regions.iter().for_each(|inner| applied(inner, names));
    }
}
