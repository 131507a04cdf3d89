//! Adapters beside a base model, whose values a run knows before it is compiled, and the whole model that
//! both are.

use std::collections::HashSet;

use burn::tensor::TensorData;
use fedround_ir::tensor::TensorType;
use fedround_models::{Leaf, LowRank, Model, Weights};
use fedround_simulation::initial_values;

use super::{ExperimentError, Parameters};
use crate::model_source::Auxiliaries;

/// The model with adapters beside its linear layers, over the values that a run of this seed and these
/// weights would start from. They do not change: clients train and send the adapters alone.
///
/// # Errors
///
/// The model has no linear layers, or the weights do not fit it.
pub fn adapt(
    base: Box<dyn Model>,
    adapters: LowRank,
    seed: u64,
    weights: Option<&Weights>,
) -> Result<Box<dyn Model>, ExperimentError> {
    let leaves = base.leaves();
    let mut values = initial_values(&leaves, seed)?;
    if let Some(weights) = weights {
        let found = values.iter_mut().zip(weights.fit(&leaves)?.values);
        found.for_each(|(value, found)| *value = found.unwrap_or_else(|| std::mem::take(value)));
    }
    let values = values.into_iter().zip(leaves);
    let values = values.map(|(values, leaf)| TensorData::new(values, leaf.shape));
    Ok(adapters.adapt(base.with_leaves(values.collect()))?)
}

/// The leaves that a file of weights may have values of: those of the whole model.
pub fn loadable(model: &dyn Model, auxiliaries: &Auxiliaries) -> Vec<Leaf> {
    let trained = model.leaves();
    let Some(whole) = model.merged() else {
        return trained;
    };
    let trained: HashSet<&str> = trained.iter().map(|leaf| leaf.name.as_str()).collect();
    // A copy of the model, such as FedFed's judge, has adapters beside a base that is the model's.
    let is_copied = |leaf: &Leaf| {
        let network = leaf.name.split_once('.').map(|(network, _)| network);
        network.is_some_and(|name| auxiliaries.contains_key(name))
            && !trained.contains(leaf.name.as_str())
    };
    let mut leaves = whole.leaves();
    leaves.retain(|leaf| !is_copied(leaf));
    leaves
}

/// The parameters of the whole model: those that were trained, with the products of adapters added to the
/// weights of the base. `None` if the model has no adapters, so that what is trained is whole.
pub fn merged(model: &dyn Model, trained: &Parameters) -> Option<Parameters> {
    let values = trained.iter();
    let values = values.map(|(_, ty, values)| TensorData::new(values.clone(), ty.shape.clone()));
    let whole = model.with_leaves(values.collect()).merged()?.leaves();
    let named = whole.into_iter().map(|leaf| {
        let values = leaf.value().iter::<f32>().collect();
        (leaf.name, TensorType::f32(leaf.shape), values)
    });
    Some(named.collect())
}

/// What a client has of its own of the whole model, if it has `own` of what the server trained.
pub fn merged_own(model: &dyn Model, server: &Parameters, own: &Parameters) -> Option<Parameters> {
    let with = server.iter().map(|leaf| {
        let theirs = own.iter().find(|(name, ..)| *name == leaf.0);
        theirs.unwrap_or(leaf).clone()
    });
    let whole = merged(model, &with.collect())?;
    let names: HashSet<String> = own.iter().map(|leaf| whole_name(&leaf.0)).collect();
    let own = whole.into_iter().filter(|(name, ..)| names.contains(name));
    Some(own.collect())
}

/// The name in the whole model of what a trained tensor is added to, or is.
pub fn whole_name(trained: &str) -> String {
    LowRank::weight_of(trained).unwrap_or_else(|| trained.to_owned())
}
