//! The round that makes the clients' own models, and nothing else.

use fedround_ir::fed::{HyperValue, Module};

use crate::algorithm::call;
use crate::hyper_field::unknown_field;
use crate::stage::{Phase, phases_for, stage_phase};
use crate::{Algorithm, Field, Hyper, HyperError, Objective, StageError};

/// The state that holds a client's model after the round of [`stage_personalized`].
pub const PERSONAL_MODEL: &str = "personalized.model";

/// The layer of the round.
struct Personalized;

impl Hyper for Personalized {
    fn name(&self) -> &'static str {
        "personalized"
    }

    fn fields(&self) -> &'static [Field] {
        &[]
    }

    fn get(&self, _: &str) -> Option<HyperValue> {
        None
    }

    fn set_own(&mut self, field: &str, _: HyperValue) -> Result<(), HyperError> {
        Err(unknown_field("personalized", field, &[]))
    }
}

/// Stages an algorithm under another round: every client keeps, as its state [`PERSONAL_MODEL`],
/// what `personalize` makes of the global model; the global model stays what it is. One module for each
/// [phase](crate::ServerCx::phase).
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
        m.layer(&Personalized);
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
