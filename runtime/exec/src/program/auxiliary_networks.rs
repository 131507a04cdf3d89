//! Adds the auxiliary networks that an algorithm needs to a model.

use std::collections::BTreeSet;

use burn::tensor::Device;
use fedround_dsl::{Algorithm, phases};
use fedround_ir::fed::{ArithOp, ExternalOp, FedOp, HyperValue, Module, Op, OpKind};
use fedround_models::{Assembled, AuxiliaryTask, Model, assemble};

use super::error::CompileError;

/// Puts the networks beside a model that an algorithm needs: those that give functions which its
/// hooks apply and the model lacks. Where it labels rows by places in a rotating cohort, networks that
/// tell clients apart have an output for each of those.
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
    let (mut names, mut task) = (BTreeSet::new(), task.clone());
    for phase in phases(algorithm)? {
        let all: Vec<&Op> = phase.module.all_ops().collect();
        names.extend(all.iter().filter_map(|op| match &op.kind {
            OpKind::External(ExternalOp::Apply(name)) => Some(name.clone()),
            _ => None,
        }));
        let places = places(&phase.module, &all);
        task.clients = places.map_or(task.clients, |places| places.min(task.clients));
    }
    let names: Vec<String> = names.into_iter().collect();
    Ok(assemble(base, &names, &task, device)?)
}

/// How many places a cohort has where rows are labelled by them; `None` where none are, or where that
/// depends on how many clients there are.
fn places(module: &Module, all: &[&Op]) -> Option<usize> {
    let find = |is: &dyn Fn(&Op) -> bool| all.iter().find(|op| is(op));
    find(&|op| op.kind == OpKind::Fed(FedOp::Positions))?;
    let cohort = find(&|op| op.kind == OpKind::Fed(FedOp::Rotating))?;
    let size = find(&|op| op.results.first() == cohort.operands.first())?;
    match size.kind {
        OpKind::Arith(ArithOp::IndexConst(n)) => Some(n),
        OpKind::Fed(FedOp::Hyper(index)) => match module.hypers.get(index)?.value {
            HyperValue::Int(n) => Some(n),
            _ => None,
        },
        _ => None,
    }
}
