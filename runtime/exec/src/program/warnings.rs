//! Warnings about programs that are valid but probably not what was meant.

use std::collections::BTreeMap;

use fedround_ir::fed::{Kind, Module, OpKind, TreeOp};
use fedround_passes::fed::Leaves;
use fedround_passes::lowering::{Frontend, parts};
use fedround_passes::report::{Derivation, Direction, Wire};

use fedround_trace::TracedModel;

/// What is odd about parameters that every client gives back as it got them.
pub(super) fn given_back(row: &Wire) -> Option<String> {
    let up = row.direction == Direction::Up && row.kind == Kind::Params;
    let unchanged = row.derived == Derivation::AsReceived || row.without == Leaves::all();
    let loc = row.loc;
    (up && unchanged)
        .then(|| format!("{loc}: clients give these parameters back as they received them"))
}

/// A warning for each type of layer that the code names and the model does not have. Buffers are
/// left out where a model has some, and are no matter where it has none.
pub(super) fn missing_layers(module: &Module, model: &TracedModel) -> Vec<String> {
    let mut names = BTreeMap::new();
    for op in module.all_ops() {
        if let OpKind::Tree(TreeOp::ReplaceParts(parts)) = &op.kind {
            let layers = parts.iter().filter(|name| parts::is_layer(name));
            names.extend(layers.map(|name| (name.clone(), op.loc)));
        }
    }
    let has = |name: &String| model.layers().iter().any(|layers| layers.contains(name));
    let missing = names
        .into_iter()
        .filter(|(name, _)| name != "Buffer" && !has(name));
    let text = |(name, loc)| format!("{loc}: model {} has no layer `{name}`", model.name());
    missing.map(text).collect()
}
