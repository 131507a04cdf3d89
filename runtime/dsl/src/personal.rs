//! A round that computes the clients' own models and changes nothing else.

use fedround_ir::fed::Module;

use crate::algorithm::call;
use crate::hyper::NoHypers;
use crate::stage::{Phase, phases_for, stage_phase};
use crate::{Algorithm, Objective, StageError};

/// The state that holds a client's model after the round of [`stage_personalized`].
pub const PERSONAL_MODEL: &str = "personalized.model";

/// Stages an algorithm with another round: every client applies `personalize` to the global model and keeps
/// the result as its state [`PERSONAL_MODEL`]. The global model does not change. There is one module for
/// each [phase](crate::ServerCx::phase).
///
/// # Errors
/// As [`stage`](crate::stage()).
pub fn stage_personalized(
    alg: &dyn Algorithm,
    objective: &Objective,
) -> Result<Vec<Phase>, StageError> {
    // Phases are named in the rounds of the algorithm, under which there is another round here.
    let named = phases_for(alg, objective)?;
    let mut staged = vec![];
    for phase in named {
        let mut module = personalized(alg, objective, phase.name.as_deref())?;
        module.resumes = true;
        staged.push(Phase { module, ..phase });
    }
    Ok(staged)
}

fn personalized(
    alg: &dyn Algorithm,
    objective: &Objective,
    phase: Option<&str>,
) -> Result<Module, StageError> {
    let (module, _) = stage_phase(alg, objective, phase, |m| {
        m.layer(&NoHypers("personalized"));
        m.round(|server, w| {
            w.broadcast(&server.everyone()).map(|k, w| {
                k.set_state("model", &call::personalize(k, w.clone()));
                w
            });
            w
        });
    })?;
    Ok(module)
}
