//! A round that computes the clients' own models and changes nothing else.

use fedround_ir::fed::{Hook, Module};

use crate::algorithm::call;
use crate::hyper::NoHypers;
use crate::stage::{Phase, phases_for, stage_turn};
use crate::turn::Turn;
use crate::{Algorithm, Objective, StageError};

/// The state that holds a client's model after the round of [`stage_evaluations`].
pub const PERSONAL_MODEL: &str = "personalized.model";

/// Another round of an algorithm, in which every client keeps the model that it is evaluated on.
#[derive(Clone, Debug)]
pub struct StagedEvaluation {
    /// Its name; without one, the evaluation that every algorithm has.
    pub name: Option<String>,
    /// Its graph in each [phase](crate::ServerCx::phase).
    pub phases: Vec<Phase>,
}

/// Stages an algorithm with another round: `evaluate` makes a model for every client, which keeps it as its
/// state [`PERSONAL_MODEL`]. The global model does not change. The first one has no name; the others are
/// those that the algorithm [names](crate::ServerCx::evaluation). There are none where no layer defines
/// `personalize` or `evaluate`, so that every client is evaluated on the global model.
///
/// # Errors
/// As [`stage`](crate::stage()).
pub fn stage_evaluations(
    alg: &dyn Algorithm,
    objective: &Objective,
) -> Result<Vec<StagedEvaluation>, StageError> {
    // Phases are named in the rounds of the algorithm, under which there is another round here.
    let phases = phases_for(alg, objective)?;
    let mut defined = phases.iter().flat_map(|phase| &phase.module.funcs);
    if !defined.any(|func| matches!(func.hook, Hook::Personalize | Hook::Evaluate)) {
        return Ok(vec![]);
    }
    let mut all = vec![];
    let mut names = vec![None];
    while let Some(name) = names.get(all.len()).cloned() {
        let mut staged = vec![];
        for phase in &phases {
            let (module, named) = evaluation(alg, objective, phase, name.as_deref())?;
            for more in named.into_iter().map(Some) {
                if !names.contains(&more) {
                    names.push(more);
                }
            }
            staged.push(Phase {
                module,
                ..phase.clone()
            });
        }
        all.push(StagedEvaluation {
            name,
            phases: staged,
        });
    }
    Ok(all)
}

/// The graph of an evaluation in a phase, and the evaluations that it names.
fn evaluation(
    alg: &dyn Algorithm,
    objective: &Objective,
    phase: &Phase,
    name: Option<&str>,
) -> Result<(Module, Vec<String>), StageError> {
    let turn = Turn {
        phase: phase.name.clone(),
        evaluation: name.map(str::to_owned),
    };
    let (mut module, named) = stage_turn(alg, objective, &turn, |m| {
        m.layer(&NoHypers("personalized"));
        m.round(|server, w| {
            call::evaluate(server, w.clone()).map(|k, w| {
                k.set_state("model", &w);
            });
            w
        });
    })?;
    module.resumes = true;
    module.evaluates = true;
    Ok((module, named.evaluations))
}
