//! The phases of a program, by the names that a run's files have for them.

use fedround_exec::Program;

use crate::run::LAST_PHASE;

/// The rounds of a phase.
pub(crate) struct Mark {
    /// `None` of an algorithm with one phase. The last of several has the name of runs' files.
    pub name: Option<String>,
    /// From 1.
    pub first_round: usize,
    /// `None` of the last phase, which has no end.
    pub last_round: Option<usize>,
}

/// All phases, in order, with the program of each.
pub(crate) fn marks(program: &Program) -> Vec<(Mark, &Program)> {
    let several = program.phase_of(1).1.is_some();
    let (mut all, mut first_round) = (vec![], 1);
    loop {
        let left = program.phase_of(first_round).1;
        let name = program.phase_name(first_round).unwrap_or(LAST_PHASE);
        let mark = Mark {
            name: several.then(|| name.to_owned()),
            first_round,
            last_round: left.map(|left| first_round + left),
        };
        let last = mark.last_round;
        all.push((mark, program.at(first_round)));
        match last {
            Some(last) => first_round = last + 1,
            None => return all,
        }
    }
}
