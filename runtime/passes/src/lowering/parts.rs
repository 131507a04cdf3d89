//! Parts of a model: leaves of its parameters by the first segment of their paths, or by the type
//! of a layer that they are in.

use fedround_ir::Loc;
use fedround_ir::tensor::Val;

use super::error::LowerError;
use super::frontend::Frontend;

/// What a name of a part stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// The leaves whose paths begin with this segment, such as `head`. Every model that is asked for them has
    /// some.
    Segment(&'a str),
    /// The leaves of all layers of a type, such as `BatchNorm`; a model may have none. `Buffer` stands for
    /// running statistics, `Model` for the model without its auxiliary networks.
    Layer(&'a str),
}

impl<'a> Part<'a> {
    /// Types of layers are written as Rust's types are, with a capital; fields, which are the segments of
    /// paths, without.
    pub fn named(name: &'a str) -> Self {
        match name.starts_with(char::is_uppercase) {
            true => Self::Layer(name),
            false => Self::Segment(name),
        }
    }
}

/// The leaves of `a`, except those of the named parts, which are taken from `b`. A tensor has no parts.
///
/// # Errors
///
/// [`LowerError::UnknownPart`] for a [`Part::Segment`] that no leaf's path begins with.
pub(super) fn merge(
    frontend: &dyn Frontend,
    parts: &[String],
    a: &[Val],
    b: &[Val],
    loc: Loc,
) -> Result<Vec<Val>, LowerError> {
    let taken = match a.len() == frontend.parameters().len() {
        true => leaves(frontend, parts),
        false => {
            let segment = |name: &&String| matches!(Part::named(name), Part::Segment(_));
            let named = parts.iter().find(segment);
            named.map_or_else(|| Ok(vec![false; a.len()]), |part| Err(part.clone()))
        }
    };
    let taken = taken.map_err(|part| LowerError::UnknownPart {
        part,
        known: known(frontend),
        loc,
    })?;
    let choose = |(taken, (a, b)): (bool, (&Val, &Val))| if taken { *b } else { *a };
    Ok(taken.into_iter().zip(a.iter().zip(b)).map(choose).collect())
}

/// For each leaf, whether it belongs to one of the parts.
///
/// # Errors
///
/// The first part that the model does not have.
pub fn leaves(frontend: &dyn Frontend, parts: &[String]) -> Result<Vec<bool>, String> {
    let paths = frontend.parameters().iter().map(|(path, _)| segment(path));
    let paths: Vec<&str> = paths.collect();
    let unknown = |name: &&String| match Part::named(name) {
        Part::Segment(name) => !paths.contains(&name),
        Part::Layer(_) => false,
    };
    if let Some(unknown) = parts.iter().find(unknown) {
        return Err(unknown.clone());
    }
    let chosen = paths.iter().zip(frontend.layers()).map(|(path, layers)| {
        parts.iter().any(|name| match Part::named(name) {
            Part::Segment(name) => name == *path,
            Part::Layer(name) => layers.iter().any(|layer| layer == name),
        })
    });
    Ok(chosen.collect())
}

/// The names of the parts, in order.
fn known(frontend: &dyn Frontend) -> Vec<String> {
    let paths = frontend.parameters().iter().map(|(path, _)| segment(path));
    let mut known: Vec<String> = paths.map(str::to_owned).collect();
    known.dedup();
    known
}

/// `head` of `head.0.weight`.
fn segment(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}
