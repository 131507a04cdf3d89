//! Checks of what a caller's program brings: the examples of each client, and the model.

use fedround_data::partition::Split;
use fedround_data::{Column, Dataset, Examples};
use fedround_dsl::Objective;
use fedround_exec::{CompileError, Program};
use fedround_ir::fed::Kind;
use fedround_passes::fed::idle_layers;
use fedround_passes::lowering::Frontend;
use fedround_simulation::RunError;

use super::{ExperimentError, InputError};
use crate::model_source::ModelSource;

/// Fails for an algorithm with a layer that does nothing: such as a rule of aggregation over a base that does not
/// call the hook `aggregate`. A comparison would show it as if it made no difference.
pub(super) fn check_layers(program: &Program) -> Result<(), InputError> {
    let phases = program.phases();
    let modules: Vec<_> = phases.iter().map(|(_, phase)| phase.staged()).collect();
    match idle_layers(&modules).into_iter().next() {
        None => Ok(()),
        Some(idle) => Err(InputError::IdleLayer {
            layer: idle.layer,
            hooks: idle.hooks.into_iter().map(str::to_owned).collect(),
            replaced_by: idle.replaced_by,
        }),
    }
}

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
                return Err(InputError::SplitIndex {
                    client,
                    part,
                    index,
                    examples,
                    of,
                }
                .into());
            }
        }
    }
    Ok(())
}

/// The column of texts, which bundled models look up in a table of vectors.
const TOKENS: &str = "tokens";

/// Fails for a token that a bundled model has no vector for. Models of a caller's own say themselves what they
/// read.
pub(super) fn check_tokens(
    (model, objective): (&ModelSource, &Objective),
    data: &Dataset,
    parts: &[(&'static str, &Examples)],
) -> Result<(), ExperimentError> {
    let bundled = matches!(model, ModelSource::Bundled(_));
    if !bundled || !objective.inputs.iter().any(|input| input == TOKENS) {
        return Ok(());
    }
    let (tokens, of) = match &data.language {
        Some(language) => (language.vocabulary.len(), "word"),
        None => (data.classes, "class"),
    };
    let known = |id: i32| usize::try_from(id).is_ok_and(|id| id < tokens);
    for &(examples, part) in parts {
        let Some(column) = part.column(TOKENS) else {
            continue;
        };
        let mut ids = vec![0; column.features()];
        for index in 0..column.len() {
            column.gather_ids_into(&[index], &mut ids)?;
            if let Some(&found) = ids.iter().find(|id| !known(**id)) {
                let token = InputError::Token {
                    examples,
                    index,
                    found,
                    model: model.name().to_owned(),
                    tokens,
                    of,
                };
                return Err(token.into());
            }
        }
    }
    Ok(())
}

/// Fails for a column of other elements than the data's, or of another shape.
pub(super) fn check_column(
    examples: &'static str,
    own: &Column,
    found: Option<&Column>,
) -> Result<(), InputError> {
    let text = |column: &Column| format!("{} of shape {:?}", column.element(), column.shape());
    let (expected, found) = (text(own), found.map(text));
    match found.as_ref() == Some(&expected) {
        true => Ok(()),
        false => Err(InputError::Column {
            examples,
            column: own.name().to_owned(),
            expected,
            found,
        }),
    }
}

/// Fails for a model whose `forward` cannot be traced, or does not give what its accuracy is counted by: a classifier
/// a number for each class, a language model one for each token at each place.
pub(super) fn check_outputs(
    program: &Program,
    parts: &[(&'static str, &Examples)],
) -> Result<(), ExperimentError> {
    let model = program.model();
    let objective = model.objective();
    let column = |name| {
        let found = model.column(name, Kind::Labels, 1);
        found.map_err(CompileError::Model)
    };
    let mut inputs = vec![model.input(1)];
    for name in &objective.inputs {
        inputs.push(column(name)?);
    }
    let graph = model.apply("forward", &inputs, false);
    let graph = graph.map_err(CompileError::Model)?;
    let Some((_, value)) = graph.outputs.first() else {
        return Ok(());
    };
    let found = graph.type_of(*value).shape.clone();
    let name = model.name().to_owned();
    let target = objective.target;
    if target == "y" {
        let classes = model.task().classes;
        return match found == [1, classes] {
            true => Ok(()),
            false => Err(InputError::Outputs {
                model: name,
                classes,
                found,
            }
            .into()),
        };
    }
    let places = column(&target)?.len();
    let tokens = tokens(parts, &target)?;
    match found[..] {
        [1, at, numbers] if at == places && numbers >= tokens => Ok(()),
        _ => Err(InputError::TokenOutputs {
            model: name,
            column: target,
            places,
            tokens,
            found,
        }
        .into()),
    }
}

/// One more than the largest id in a column of examples.
fn tokens(parts: &[(&'static str, &Examples)], name: &str) -> Result<usize, ExperimentError> {
    let mut largest = 0;
    for column in parts.iter().filter_map(|(_, part)| part.column(name)) {
        let mut ids = vec![0; column.features()];
        for index in 0..column.len() {
            column.gather_ids_into(&[index], &mut ids)?;
            largest = ids.iter().copied().fold(largest, i32::max);
        }
    }
    Ok(usize::try_from(largest).unwrap_or(0) + 1)
}
