//! Parts of a model: leaves of its parameters by the first segment of their paths, or by the type
//! of a layer that they are in.

use fedround_ir::Loc;
use fedround_ir::tensor::Val;

use super::error::LowerError;
use super::frontend::Frontend;

/// The leaves of `a`, except those of the named parts, which are taken from `b`. A tensor has no parts.
///
/// # Errors
///
/// [`LowerError::UnknownPart`] for the name of a part that no leaf's path begins with. A type of
/// layer, which begins with a capital, may name no leaf: a model without such layers is one in
/// which nothing is chosen.
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
            let named = parts.iter().find(|name| !is_layer(name));
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
    let paths = frontend.parameters().iter().map(|(path, _)| part(path));
    let paths: Vec<&str> = paths.collect();
    let unknown = |name: &&String| !is_layer(name) && !paths.contains(&name.as_str());
    if let Some(unknown) = parts.iter().find(unknown) {
        return Err(unknown.clone());
    }
    let chosen = paths.iter().zip(frontend.layers()).map(|(path, layers)| {
        let named = |name: &String| name == path || layers.contains(name);
        parts.iter().any(named)
    });
    Ok(chosen.collect())
}

/// Whether a name is that of a type of layer.
pub fn is_layer(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// The names of the parts, in order.
fn known(frontend: &dyn Frontend) -> Vec<String> {
    let paths = frontend.parameters().iter().map(|(path, _)| part(path));
    let mut known: Vec<String> = paths.map(str::to_owned).collect();
    known.dedup();
    known
}

/// `head` of `head.0.weight`.
fn part(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}
