//! Warnings about programs that are valid but probably not what the author meant.

use std::collections::BTreeMap;
use std::fmt;

use fedround_ir::Loc;
use fedround_ir::fed::{Kind, Module, OpKind, TreeOp};
use fedround_passes::fed::{Warning as SpecWarning, moved_statistics};
use fedround_passes::lowering::Frontend;
use fedround_passes::lowering::parts::Part;
use fedround_passes::report::{Derivation, Direction, Wire};

use fedround_trace::TracedModel;

/// A warning about code that is valid but probably not what the author meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// A warning about the algorithm, for any model.
    Spec(SpecWarning),
    /// Every client uploads parameters just as it received them.
    ReturnedUnchanged {
        /// The line that uploads them.
        loc: Loc,
    },
    /// The code names a type of layer that the model does not have.
    MissingLayer {
        /// The type, such as `BatchNorm`.
        layer: String,
        /// The model's name.
        model: String,
        /// The line that names the layer.
        loc: Loc,
    },
    /// A step of the server moves the running statistics of a model that has some.
    MovedStatistics {
        /// The model's name.
        model: String,
        /// The op that moves them first.
        loc: Loc,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spec(warning) => warning.fmt(f),
            Self::ReturnedUnchanged { loc } => {
                write!(
                    f,
                    "{loc}: clients give these parameters back as they received them"
                )
            }
            Self::MissingLayer { layer, model, loc } => {
                write!(f, "{loc}: model {model} has no layer `{layer}`")
            }
            Self::MovedStatistics { model, loc } => {
                write!(
                    f,
                    "{loc}: this step of the server also moves the running statistics of {model}; restore them in the next model: `.replace_parts(&[\"Buffer\"], &mean)`, where `mean` is what aggregation gave"
                )
            }
        }
    }
}

/// The warning about parameters that every client uploads just as it received them.
pub(super) fn returned_unchanged(row: &Wire) -> Option<Warning> {
    let up = row.direction == Direction::Up && row.kind == Kind::Params;
    let unchanged = row.derived == Derivation::AsReceived;
    (up && unchanged).then_some(Warning::ReturnedUnchanged { loc: row.loc })
}

/// The warning about a step of the server that moves the running statistics of a model.
pub(super) fn moves_statistics(module: &Module, model: &TracedModel) -> Option<Warning> {
    let has = !model.buffers().is_empty();
    let loc = has.then(|| moved_statistics(module)).flatten()?;
    let model = model.name().to_owned();
    Some(Warning::MovedStatistics { model, loc })
}

/// A warning for each type of layer that the code names and the model does not have. `Buffer` is not among them:
/// code that leaves out buffers is meant for any model, also for one without buffers.
pub(super) fn missing_layers(module: &Module, model: &TracedModel) -> Vec<Warning> {
    let mut names = BTreeMap::new();
    for op in module.all_ops() {
        if let OpKind::Tree(TreeOp::ReplaceParts(parts)) = &op.kind {
            let layers = parts.iter().filter_map(|name| match Part::named(name) {
                Part::Layer(name) => Some((name.to_owned(), op.loc)),
                Part::Segment(_) => None,
            });
            names.extend(layers);
        }
    }
    let has = |name: &String| model.layers().iter().any(|layers| layers.contains(name));
    let missing = names
        .into_iter()
        .filter(|(name, _)| name != "Buffer" && !has(name));
    let warning = |(layer, loc)| Warning::MissingLayer {
        layer,
        model: model.name().to_owned(),
        loc,
    };
    missing.map(warning).collect()
}
