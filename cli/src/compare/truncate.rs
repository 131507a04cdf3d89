//! Truncates the record of a run that went on to what it was after fewer rounds.

use fedround::experiment::Status;
use fedround_metrics::progress::best;

use super::line::Line;
use super::record::Record;

impl Record {
    /// The run as one that was to end after so many rounds: with the results that a comparison tells of it. It stays
    /// as it is if it has no more rounds, was not evaluated after these, or was stopped and is to go on.
    pub fn at(&self, rounds: usize) -> Self {
        let is_last = |line: &&Line| line.round == rounds && line.is_evaluated();
        let Some(last) = self.lines.iter().find(is_last) else {
            return self.clone();
        };
        if self.rounds <= rounds || self.status == Status::Interrupted {
            return self.clone();
        }
        let lines = self.lines.iter().filter(|line| line.round <= rounds);
        let lines: Vec<Line> = lines.cloned().collect();
        let sum = |bytes: fn(&Line) -> u64| lines.iter().map(bytes).sum::<u64>();
        let tested = lines.iter().filter_map(|line| line.test_accuracy);
        let chosen = chosen(&lines);
        let cut = Self {
            // What came later has not happened.
            status: Status::Complete,
            error: None,
            rounds,
            accuracy: last.accuracy,
            accuracy_of: last.accuracy_of.unwrap_or(self.accuracy_of),
            test_accuracy: last.test_accuracy,
            best_test_accuracy: tested.reduce(f64::max),
            validation_accuracy: chosen.and_then(|line| line.validation_accuracy),
            chosen_test_accuracy: chosen.and_then(|line| line.accuracy),
            local_accuracy: last.local_accuracy,
            seconds: lines.iter().map(|line| line.seconds).sum(),
            bytes_up: sum(|line| line.bytes_up),
            bytes_down: sum(|line| line.bytes_down),
            bytes_across: sum(|line| line.bytes_across),
            lines: lines.clone(),
            ..self.clone()
        };
        let best = best(&cut.curve());
        Self {
            best_accuracy: best.map(|point| point.value),
            best_round: best.map(|point| point.round),
            ..cut
        }
    }
}

/// The round whose model is chosen on validation examples: the first of the best. Models of another kind begin anew,
/// as in the run itself.
fn chosen(lines: &[Line]) -> Option<&Line> {
    let validated = lines
        .iter()
        .filter(|line| line.validation_accuracy.is_some());
    validated.reduce(|best, line| {
        let same = best.accuracy_of == line.accuracy_of;
        match same && best.validation_accuracy >= line.validation_accuracy {
            true => best,
            false => line,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::statistics::tests::run;
    use super::*;
    use crate::run::Models;

    #[test]
    fn a_longer_run_is_what_it_was() {
        let whole = run(Status::Failed, &[0.2, 0.9, 0.6]);
        let cut = whole.at(4);
        assert_eq!((cut.status, cut.rounds), (Status::Complete, 4));
        assert_eq!((cut.accuracy, cut.best_round), (Some(0.9), Some(4)));
        assert_eq!((cut.bytes_up, cut.bytes_down), (16, 24));
        let first = whole.at(2);
        assert_eq!(
            (first.best_accuracy, first.best_test_accuracy),
            (Some(0.2), Some(0.2))
        );
        assert_eq!(first.lines.len(), 2);
        // It was not evaluated then, or has no later rounds.
        for rounds in [3, 6, 8] {
            let same = whole.at(rounds);
            assert_eq!((same.status, same.rounds), (Status::Failed, 6), "{rounds}");
        }
        // One that was stopped has not come to its end.
        let stopped = run(Status::Interrupted, &[0.2, 0.9, 0.6]).at(4);
        assert_eq!((stopped.status, stopped.rounds), (Status::Interrupted, 6));
    }

    #[test]
    fn the_model_is_chosen_on_validation_examples_until_then() {
        let line = |(round, validation, accuracy, of): (usize, f64, f64, Models)| Line {
            round,
            accuracy: Some(accuracy),
            accuracy_of: Some(of),
            validation_accuracy: Some(validation),
            ..Line::default()
        };
        let lines = [
            (1, 0.9, 0.8, Models::Server),
            (2, 0.5, 0.4, Models::Clients),
            (3, 0.5, 0.3, Models::Clients),
            (4, 0.7, 0.6, Models::Clients),
        ];
        let whole = Record {
            rounds: 4,
            ..Record::of_lines(lines.map(line).to_vec())
        };
        let chosen = |rounds| {
            let cut = whole.at(rounds);
            (cut.validation_accuracy, cut.chosen_test_accuracy)
        };
        assert_eq!(chosen(1), (Some(0.9), Some(0.8)));
        // Of equal ones the first, and only of the models that are trained then.
        assert_eq!(chosen(3), (Some(0.5), Some(0.4)));
    }
}
