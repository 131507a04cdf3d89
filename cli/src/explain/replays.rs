//! The section of `explain` on replay: the loops whose steps a GPU records, and why others run operation by
//! operation.

use fedround_exec::Program;
use fedround_simulation::LoopReplay;
use serde::Serialize;

/// A loop, as it stands in JSON.
#[derive(Serialize)]
pub(super) struct Loop {
    /// Names of the compute segments of its body.
    segments: Vec<String>,
    /// `batches`, `repetitions`, `rows`, `examples` or `clients`.
    over: &'static str,
    location: String,
    /// Whether a GPU that records steps replays its steps whole.
    replayed: bool,
    /// Why it does not.
    why: Option<String>,
}

/// The loops of a round.
pub(super) fn loops(program: &Program) -> Vec<Loop> {
    let all = LoopReplay::all(program).into_iter();
    all.map(|found| {
        let segments = found.segments.iter();
        Loop {
            segments: segments.map(|&i| program.segment_name(i)).collect(),
            over: found.over,
            location: found.loc.to_string(),
            replayed: found.plain.is_none(),
            why: found.plain.map(|why| why.to_string()),
        }
    })
    .collect()
}

/// A line for each loop; nothing where there is none.
pub(super) fn replays(program: &Program) -> String {
    let line = |found: &Loop| {
        let what = match found.segments.as_slice() {
            [] => "loop".to_owned(),
            names => names.join(" and "),
        };
        let how = match &found.why {
            None => "a step is replayed whole".to_owned(),
            Some(why) => format!("op by op, because {why}"),
        };
        format!(
            "  {what}, over {} at {}: {how}\n",
            found.over, found.location
        )
    };
    let lines: String = loops(program).iter().map(line).collect();
    match lines.is_empty() {
        true => lines,
        false => format!("\nReplay on GPUs (--graphs)\n{lines}"),
    }
}
