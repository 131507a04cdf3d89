//! The phases of a run, where its algorithm has some.

use fedround::experiment::Report;
use fedround_exec::Program;
use fedround_models::{BASE, Leaf};
use fedround_simulation::Simulation;

use crate::plot::PhaseMark;

/// The name of the last phase, which algorithms do not name.
pub(crate) const LAST: &str = "train";

/// The phase of a round; `None` of an algorithm without phases. The first phase may have ended early, after
/// round `goal`.
pub(super) fn phase(program: &Program, round: usize, goal: Option<usize>) -> Option<String> {
    let left_out = goal.filter(|goal| round > *goal);
    let left_out = left_out
        .and_then(|goal| program.phase_of(goal).1)
        .unwrap_or(0);
    let round = round + left_out;
    let several = program.phases().len() > 1;
    several.then(|| program.phase_name(round).unwrap_or(LAST).to_owned())
}

/// Where the phases of a run began.
pub(super) fn phase_marks(program: &Program, report: &Report) -> Vec<PhaseMark> {
    let named = |number| (number, phase(program, number, report.goal_round));
    let rounds = report.history.iter().map(|round| named(round.number));
    let rounds: Vec<(usize, Option<String>)> = rounds.collect();
    PhaseMark::of(rounds.iter().map(|(round, name)| (*round, name.as_deref())))
}

/// What to say before a run that ends in an earlier phase than the last, in which an algorithm trains what it
/// is named for.
pub(super) fn unreached(program: &Program, rounds: usize) -> Option<String> {
    let name = program.phase_name(rounds)?;
    let first = first_of_last(program)?;
    Some(format!(
        "this run of {rounds} rounds ends in the phase `{name}`. The last phase, in which the algorithm trains its model, begins in round {first}. Choose --rounds {first} or more, or shorten the earlier phases with --set."
    ))
}

/// The first round of the last phase, if a run did not reach it in so many rounds and its model is as it was
/// at the start: the earlier phases trained something else. The first phase may have ended early, after round
/// `goal`.
pub(super) fn not_begun(
    simulation: &Simulation,
    rounds: usize,
    goal: Option<usize>,
) -> Option<usize> {
    let program = simulation.program();
    if phase(program, rounds, goal)? == LAST {
        return None;
    }
    let leaves = program.model().model().leaves();
    let is_base = |leaf: &Leaf| leaf.modules.iter().any(|module| module == BASE);
    let assembled = leaves.iter().any(is_base);
    let unchanged = simulation.unchanged_parameters().ok()?;
    let mut own = leaves.iter().zip(unchanged);
    own.all(|(leaf, unchanged)| unchanged || (assembled && !is_base(leaf)))
        .then(|| first_of_last(program))?
}

/// The first round of the last phase.
fn first_of_last(program: &Program) -> Option<usize> {
    let earlier = program.phases().len() - 1;
    (1..).find(|round| program.phase_of(*round).0 == earlier)
}
