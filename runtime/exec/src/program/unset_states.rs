//! Checks of states that a phase or an evaluation reads, and that only other rounds set.

use fedround_dsl::{Algorithm, StageError, left_out_phases};
use fedround_ir::fed::{Module, VerifyErrors, never_set};

use super::{CompileError, Program};

impl Program {
    /// Checks that the code of some round sets every state that this program reads: of a phase, or of the rounds
    /// before an evaluation. A phase that has no rounds with these hyper-parameters counts, too.
    ///
    /// # Errors
    ///
    /// A state that nothing sets, at the line that reads it.
    pub fn check_states(
        &self,
        rounds: &Program,
        algorithm: &dyn Algorithm,
    ) -> Result<(), CompileError> {
        let phases = rounds.phases().into_iter();
        let mut code: Vec<&Module> = phases.map(|(_, phase)| &phase.staged).collect();
        if self.unset_states(&code).is_ok() {
            return Ok(());
        }
        // Where code that does not run is wrong, it may be meant to set anything.
        let Ok(left_out) = left_out_phases(algorithm, &self.model.objective()) else {
            return Ok(());
        };
        code.extend(left_out.iter().map(|phase| &phase.module));
        let checked = self.unset_states(&code);
        Ok(checked.map_err(StageError::Verify)?)
    }

    fn unset_states(&self, code: &[&Module]) -> Result<(), VerifyErrors> {
        let phases = self.phases().into_iter().map(|(_, phase)| &phase.linked);
        let mut resumed = phases.filter(|linked| linked.resumes);
        resumed.try_for_each(|linked| never_set(linked, code))
    }
}
