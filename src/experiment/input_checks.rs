//! Checks of what a caller's program brings: the examples of each client, and the model.

use fedround_data::Dataset;
use fedround_data::partition::Split;
use fedround_exec::{CompileError, Program};
use fedround_ir::fed::Kind;
use fedround_passes::lowering::Frontend;
use fedround_simulation::RunError;

use super::ExperimentError;

/// Fails for examples that a dataset does not have, and for clients that have none to train on.
pub(super) fn check_splits(splits: &[Split], data: &Dataset) -> Result<(), ExperimentError> {
    if splits.is_empty() {
        return Err(ExperimentError::Zero { name: "clients" });
    }
    for (client, split) in splits.iter().enumerate() {
        if split.train.is_empty() {
            return Err(RunError::NoExamples { client }.into());
        }
        for (part, of, indices, examples) in [
            ("train", "training", &split.train, data.train.len()),
            (
                "validation",
                "training",
                &split.validation,
                data.train.len(),
            ),
            ("test", "test", &split.test, data.test.len()),
        ] {
            if let Some(&index) = indices.iter().find(|index| **index >= examples) {
                return Err(ExperimentError::SplitIndex {
                    client,
                    part,
                    index,
                    examples,
                    of,
                });
            }
        }
    }
    Ok(())
}

/// Fails for a classifier that does not give one number per class, because its accuracy would be counted wrongly,
/// or whose `forward` cannot be traced. Models with another target are not checked.
pub(super) fn check_outputs(program: &Program) -> Result<(), ExperimentError> {
    let model = program.model();
    let objective = model.objective();
    if objective.target != "y" {
        return Ok(());
    }
    let mut inputs = vec![model.input(1)];
    for name in &objective.inputs {
        let column = model.column(name, Kind::Labels, 1);
        inputs.push(column.map_err(CompileError::Model)?);
    }
    let graph = model.apply("forward", &inputs, false);
    let graph = graph.map_err(CompileError::Model)?;
    let expected = [1, model.task().classes];
    match graph
        .outputs
        .first()
        .map(|(_, value)| &graph.type_of(*value).shape)
    {
        Some(found) if found[..] != expected => Err(ExperimentError::Outputs {
            model: model.name().to_owned(),
            classes: model.task().classes,
            found: found.to_vec(),
        }),
        _ => Ok(()),
    }
}
