//! From an algorithm to its graph.

use fedround_ir::fed::{BuildError, Module, VerifyErrors, verify};

use crate::graph::Graph;
use crate::standard::{Standard, missing};
use crate::{Algorithm, Definer, HyperError, validate};

/// Why an algorithm could not be staged.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StageError {
    /// Hyper-parameters out of their ranges.
    #[error("{}", lines(.0))]
    Hyper(Vec<HyperError>),
    /// Misused handles.
    #[error("{}", lines(.0))]
    Build(Vec<BuildError>),
    /// A graph that breaks a rule of the fed dialect.
    #[error(transparent)]
    Verify(#[from] VerifyErrors),
}

fn lines<E: std::error::Error>(errors: &[E]) -> String {
    errors
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Stages an algorithm: checks its hyper-parameters, runs each slot's body once and verifies the
/// graph. The result is not linked yet.
///
/// # Errors
/// [`StageError`], with everything that is wrong at the first stage that finds something.
pub fn stage(alg: &dyn Algorithm) -> Result<Module, StageError> {
    stage_with(alg, |_| {})
}

/// [`stage`] with more layers on top.
pub(crate) fn stage_with(
    alg: &dyn Algorithm,
    more: impl Fn(&mut Definer),
) -> Result<Module, StageError> {
    validate(alg).map_err(StageError::Hyper)?;
    let define = |m: &mut Definer| {
        alg.define(m);
        more(m);
    };
    let mut module = build(define)?;
    let missing = missing(&module);
    if !missing.is_empty() {
        module = build(|m| {
            Standard.define(&missing, m);
            define(m);
        })?;
    }
    verify(&module)?;
    Ok(module)
}

fn build(define: impl FnOnce(&mut Definer)) -> Result<Module, StageError> {
    let graph = Graph::default();
    define(&mut Definer::new(graph.clone()));
    let built = graph.with(std::mem::take).finish();
    built.map_err(StageError::Build)
}
