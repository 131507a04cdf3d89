//! How much crosses in each phase of an algorithm.

use serde::Serialize;

use super::observations::Round;
use super::section::section;
use super::subject::Subject;
use crate::explain::marks;
use crate::terminal::{bytes, percent};

/// What crossed in a phase of the algorithm.
#[derive(Debug, Serialize)]
pub(super) struct Phase {
    /// `null` of an algorithm with one phase.
    pub name: Option<String>,
    pub first_round: usize,
    /// `null` of the last phase, which has no end.
    pub last_round: Option<usize>,
    /// Those that the run had.
    pub rounds: usize,
    pub bytes_up: u64,
    pub bytes_down: u64,
    /// Between clients.
    pub bytes_across: u64,
    /// The bytes of the last phase in all directions.
    pub of_last: f64,
}

/// The traffic of each phase, whether the run reached it or not.
pub(super) fn phases(subject: &Subject<'_>) -> Vec<Phase> {
    let named = marks(subject.run.simulation().program());
    let mut all: Vec<Phase> = vec![];
    for (i, (mark, _)) in named.into_iter().enumerate() {
        let rounds = subject.observations.rounds.iter();
        let own: Vec<&Round> = rounds.filter(|r| r.phase == i + 1).collect();
        all.push(Phase {
            name: mark.name,
            first_round: mark.first_round,
            last_round: mark.last_round,
            rounds: own.len(),
            bytes_up: own.iter().map(|r| r.bytes_up).sum(),
            bytes_down: own.iter().map(|r| r.bytes_down).sum(),
            bytes_across: own.iter().map(|r| r.bytes_across).sum(),
            of_last: f64::NAN,
        });
    }
    let total = |p: &Phase| (p.bytes_up + p.bytes_down + p.bytes_across) as f64;
    let last = all.last().map_or(f64::NAN, total);
    for phase in &mut all {
        phase.of_last = total(phase) / last;
    }
    all
}

/// The same for people.
pub(super) fn traffic(phases: &[Phase]) -> String {
    let across = phases.iter().any(|p| p.bytes_across > 0);
    let rows = phases.iter().map(|p| {
        let name = p.name.as_deref().unwrap_or("all rounds");
        let (up, down) = (bytes(p.bytes_up), bytes(p.bytes_down));
        let mut row = vec![name.to_owned(), p.rounds.to_string(), up, down];
        row.extend(across.then(|| bytes(p.bytes_across)));
        row.push(percent(p.of_last));
        row
    });
    let heads = ["traffic", "rounds", "up", "down"].into_iter();
    let heads = heads.chain(across.then_some("between clients"));
    let heads: Vec<&str> = heads.chain(["of the last phase's"]).collect();
    section(&heads, rows)
}
