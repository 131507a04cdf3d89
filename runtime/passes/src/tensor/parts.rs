//! Parts of a model: the leaves of its parameters by the first segment of their paths.

use fedround_ir::Loc;
use fedround_ir::tensor::{TensorType, Val};

use super::LowerError;

/// The leaves of `a`, those of the named parts taken from `b`.
///
/// # Errors
///
/// [`LowerError::UnknownPart`] for a name that no leaf's path begins with.
pub(super) fn merge(
    leaves: &[(String, TensorType)],
    parts: &[String],
    a: &[Val],
    b: &[Val],
    loc: Loc,
) -> Result<Vec<Val>, LowerError> {
    let of: Vec<&str> = leaves.iter().map(|(path, _)| part(path)).collect();
    if let Some(unknown) = parts.iter().find(|name| !of.contains(&name.as_str())) {
        let mut known: Vec<String> = of.iter().map(|name| (*name).to_owned()).collect();
        known.dedup();
        let part = unknown.clone();
        return Err(LowerError::UnknownPart { part, known, loc });
    }
    let choose = |(name, (a, b)): (&&str, (&Val, &Val))| {
        let taken = parts.iter().any(|part| part == name);
        if taken { *b } else { *a }
    };
    Ok(of.iter().zip(a.iter().zip(b)).map(choose).collect())
}

/// `head` of `head.0.weight`.
fn part(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}
