//! From an algorithm to its graph.

use fedround_ir::fed::{BuildError, Module, VerifyErrors, verify};

use crate::graph::Graph;
use crate::standard::{self, missing};
use crate::turn::{Named, Turn};
use crate::{Algorithm, Definer, HyperError, Objective, validate};

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

/// Stages an algorithm: checks its hyper-parameters, runs each hook's body once and verifies the
/// graph. The result is not linked yet.
///
/// # Errors
/// [`StageError`], with everything that is wrong at the first stage that finds something.
pub fn stage(alg: &dyn Algorithm) -> Result<Module, StageError> {
    Ok(stage_turn(alg, &Objective::default(), &Turn::default(), |_| {})?.0)
}

/// A part of an algorithm's rounds.
#[derive(Clone, Debug)]
pub struct Phase {
    /// Its name, `LAYER.NAME`; nothing for the rounds after the last.
    pub name: Option<String>,
    /// How many rounds it has, if it ends.
    pub rounds: Option<usize>,
    /// Its graph.
    pub module: Module,
}

/// Stages every phase of an algorithm, in order; see [`ServerCx::phase`](crate::ServerCx::phase).
/// The last one, which has no end, is that of [`stage`].
///
/// # Errors
/// As [`stage`].
pub fn phases(alg: &dyn Algorithm) -> Result<Vec<Phase>, StageError> {
    phases_for(alg, &Objective::default())
}

/// As [`phases`], for models of another objective.
///
/// # Errors
/// As [`stage`].
pub fn phases_for(alg: &dyn Algorithm, objective: &Objective) -> Result<Vec<Phase>, StageError> {
    let (last, named) = stage_turn(alg, objective, &Turn::default(), |_| {})?;
    let named = named.phases.into_iter().filter(|(_, rounds)| *rounds > 0);
    let mut all = staged_phases(alg, objective, named)?;
    all.push(Phase {
        name: None,
        rounds: None,
        module: last,
    });
    Ok(all)
}

/// Stages the phases that have no rounds with these hyper-parameters, which [`phases_for`] leaves out. What they set
/// is a state of the algorithm nevertheless.
///
/// # Errors
/// As [`stage`]. Code that no round runs may be wrong with these hyper-parameters.
pub fn left_out_phases(
    alg: &dyn Algorithm,
    objective: &Objective,
) -> Result<Vec<Phase>, StageError> {
    let (_, named) = stage_turn(alg, objective, &Turn::default(), |_| {})?;
    let named = named.phases.into_iter().filter(|(_, rounds)| *rounds == 0);
    staged_phases(alg, objective, named)
}

fn staged_phases(
    alg: &dyn Algorithm,
    objective: &Objective,
    named: impl Iterator<Item = (String, usize)>,
) -> Result<Vec<Phase>, StageError> {
    let phases = named.map(|(name, rounds)| {
        let turn = Turn {
            phase: Some(name.clone()),
            ..Turn::default()
        };
        let (module, _) = stage_turn(alg, objective, &turn, |_| {})?;
        Ok(Phase {
            name: Some(name),
            rounds: Some(rounds),
            module,
        })
    });
    phases.collect()
}

/// A graph under more layers on top, and what it names.
pub(crate) fn stage_turn(
    alg: &dyn Algorithm,
    objective: &Objective,
    turn: &Turn,
    more: impl Fn(&mut Definer),
) -> Result<(Module, Named), StageError> {
    validate(alg).map_err(StageError::Hyper)?;
    let define = |m: &mut Definer| {
        alg.define(m);
        more(m);
    };
    let (mut module, mut named) = build(turn, objective, define)?;
    let missing = missing(&module);
    if !missing.is_empty() {
        (module, named) = build(turn, objective, |m| {
            standard::define(&missing, m);
            define(m);
        })?;
    }
    // What a phase reads, another may have set.
    module.resumes = !named.phases.is_empty();
    verify(&module)?;
    Ok((module, named))
}

fn build(
    turn: &Turn,
    objective: &Objective,
    define: impl FnOnce(&mut Definer),
) -> Result<(Module, Named), StageError> {
    let graph = Graph::of_turn(turn.clone(), objective);
    define(&mut Definer::new(graph.clone()));
    // In other turns, a phase may be declared in a branch that is not taken.
    if turn.phase.is_none() && turn.evaluation.is_none() {
        graph.check_phases();
    }
    let built = graph.with(std::mem::take).finish();
    Ok((built.map_err(StageError::Build)?, graph.named()))
}
