//! Which loops of the bundled algorithms a GPU replays, as `explain` says it.

use fedround::simulation::LoopReplay;

use crate::snapshots::snapshot;
use crate::text::programs;

#[test]
fn loops_of_every_algorithm() {
    let mut text = String::new();
    for (name, program) in programs() {
        for (phase, program) in program.phases() {
            for found in LoopReplay::all(program) {
                let phase = phase.as_ref().map(|phase| format!(" {phase}"));
                let segments = found.segments.iter().map(|&i| program.segment_name(i));
                let how = match found.plain {
                    None => "replayed whole".to_owned(),
                    Some(why) => format!("op by op: {why}"),
                };
                text += &format!(
                    "{name}{}, {:?} over {}: {how}\n",
                    phase.unwrap_or_default(),
                    segments.collect::<Vec<_>>(),
                    found.over,
                );
            }
        }
    }
    snapshot("plan", "replays", &text);
}
