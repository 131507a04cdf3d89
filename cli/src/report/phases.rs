//! Where phases begin, in charts of one or of several algorithms.

use std::collections::BTreeMap;

use super::charts::Group;
use crate::compare::Record;
use crate::plot::PhaseMark;

/// The marks of a run's phases; none where its algorithm has no phases.
pub(super) fn of_run(run: &Record) -> Vec<PhaseMark> {
    let rounds = run.lines.iter();
    PhaseMark::of(rounds.map(|line| (line.round, line.phase.as_deref())))
}

/// The marks of all algorithms' phases but the first ones, which begin where the axis does. A name is that of the
/// phase, after those of the algorithms that have it if others with phases do not.
pub(super) fn of_groups(groups: &[Group]) -> Vec<PhaseMark> {
    let mut owners: BTreeMap<(usize, String), Vec<&str>> = BTreeMap::new();
    let mut all = 0;
    for group in groups {
        let marks = group.runs.first().map(of_run).unwrap_or_default();
        all += usize::from(!marks.is_empty());
        for mark in marks.into_iter().filter(|mark| mark.after > 0) {
            let own = owners.entry((mark.after, mark.name)).or_default();
            own.push(&group.name);
        }
    }
    let mark = |((after, name), owners): ((usize, String), Vec<&str>)| PhaseMark {
        after,
        name: match owners[..] {
            _ if owners.len() == all => name,
            [one] => format!("{one}: {name}"),
            _ => format!("{} algorithms: {name}", owners.len()),
        },
    };
    owners.into_iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Line;

    fn group(name: &str, phases: &[&str]) -> Group {
        let line = |(i, phase): (usize, &&str)| Line {
            round: i + 1,
            phase: Some((*phase).to_owned()),
            ..Line::default()
        };
        Group {
            name: name.to_owned(),
            runs: vec![Record::of_lines(
                phases.iter().enumerate().map(line).collect(),
            )],
        }
    }

    #[test]
    fn phases_of_several_algorithms_say_whose_they_are() {
        let names = |groups: &[Group]| -> Vec<(usize, String)> {
            let marks = of_groups(groups).into_iter();
            marks.map(|mark| (mark.after, mark.name)).collect()
        };
        let (a, b) = (
            group("a", &["distill", "train", "train"]),
            group("b", &["distill", "distill", "train"]),
        );
        let without = Group {
            name: "c".to_owned(),
            runs: vec![Record::of_lines(vec![Line::default()])],
        };
        let expected = [(1, "a: train".to_owned()), (2, "b: train".to_owned())];
        assert_eq!(names(&[a, b, without]), expected);
        let alike = ["a", "b"].map(|name| group(name, &["distill", "train"]));
        assert_eq!(names(&alike), [(1, "train".to_owned())]);
    }
}
