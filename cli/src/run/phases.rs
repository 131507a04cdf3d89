//! The phases of a run, where its algorithm has some.

use fedround_exec::Program;

/// The name of the last phase, which algorithms do not name.
const LAST: &str = "train";

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

/// What to say before a run that ends in an earlier phase than the last, in which an algorithm trains what it
/// is named for.
pub(super) fn unreached(program: &Program, rounds: usize) -> Option<String> {
    let name = program.phase_name(rounds)?;
    let earlier = program.phases().len() - 1;
    let first = (1..).find(|round| program.phase_of(*round).0 == earlier)?;
    Some(format!(
        "this run of {rounds} rounds ends in the phase `{name}`. The last phase, in which the algorithm trains its model, begins in round {first}. Choose --rounds {first} or more, or shorten the earlier phases with --set."
    ))
}
