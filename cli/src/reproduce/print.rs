//! The table for people: of each row, what the paper says and what our runs say.

use std::fmt::Write;

use comfy_table::Table;

use super::claims_table::claims;
use super::report::{Number, Report};
use super::unit::Unit;
use crate::table::{BORDERS, MARKDOWN, table, wrapped};

/// At a terminal.
pub(super) fn text(report: &Report) -> String {
    let lines: String = about(report).map(|line| format!("- {line}\n")).collect();
    format!(
        "{}{}\n{}kept in {}\n",
        wrapped(&format!("{}\n", title(report))),
        tables(report, BORDERS, "\n"),
        wrapped(&lines),
        report.out
    )
}

/// `table.md`.
pub(super) fn markdown(report: &Report) -> String {
    let mut text = format!(
        "# {}\n\n{}\n\n{}\n\n",
        title(report),
        report.paper_title,
        tables(report, MARKDOWN, "\n\n"),
    );
    for line in about(report) {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "- {line}");
    }
    text
}

/// The numbers, and beneath them the claims.
fn tables(report: &Report, style: &str, between: &str) -> String {
    let numbers = numbers(report, style).to_string();
    let claims = claims(report, style).map(|(table, _)| table.to_string());
    let all: Vec<String> = std::iter::once(numbers).chain(claims).collect();
    all.join(between)
}

fn title(report: &Report) -> String {
    let Report {
        paper,
        table,
        title,
        ..
    } = report;
    format!("{paper} {table}, {}: {title}", report.scale.name())
}

/// What the numbers are of, and how far from the paper's.
fn about(report: &Report) -> impl Iterator<Item = String> {
    let over = match report.seeds.len() {
        1 => "Ours: one seed.".to_owned(),
        n => format!("Ours: mean ± standard deviation over {n} seeds."),
    };
    let [complete, planned] = report.complete;
    let missing = (complete < planned).then(|| {
        format!("{complete} of {planned} runs are complete: numbers of fewer seeds say of how many they are.")
    });
    let changed = match report.changed.is_empty() {
        true => "The runs are of the full protocol.".to_owned(),
        false => format!("Not as in the paper: {}.", report.changed.join(", ")),
    };
    let claims = claims(report, MARKDOWN).map(|(_, about)| about);
    let clients = report.partition_seed.map(|seed| {
        format!("All runs have the same clients, those of partition seed {seed}: intervals are about other initial weights, cohorts and batches, not about other clients.")
    });
    let first = std::iter::once(over)
        .chain(missing)
        .chain(clients)
        .chain(claims);
    first.chain([changed]).chain(report.notes.iter().cloned())
}

/// Methods beside each other where there is one measure, or else measures.
fn numbers(report: &Report, style: &str) -> Table {
    let seeds = report.seeds.len();
    let one_measure = report.measures.len() == 1;
    let settings = report.settings.len() > 1;
    let shown = |j: &usize| report.numbers.iter().any(|n| n.method == *j);
    let methods: Vec<usize> = (0..report.methods.len()).filter(shown).collect();
    let mut header: Vec<&str> = vec![];
    header.extend(settings.then_some("setting"));
    if one_measure {
        header.push(&report.measures[0]);
        header.extend(methods.iter().map(|&j| report.methods[j].as_str()));
    } else {
        header.extend(["method", ""]);
        header.extend(report.measures.iter().map(String::as_str));
    }
    let mut lines: Vec<Vec<String>> = vec![];
    for (i, setting) in report.settings.iter().enumerate() {
        let setting = settings.then_some(setting.as_str());
        if one_measure {
            let row = methods.iter().map(|&j| report.at(i, j, 0));
            lines.extend(both(&[setting], &row.collect::<Vec<_>>(), seeds));
            continue;
        }
        for &j in &methods {
            let row = (0..report.measures.len()).map(|k| report.at(i, j, k));
            let names = [setting, Some(report.methods[j].as_str())];
            lines.extend(both(&names, &row.collect::<Vec<_>>(), seeds));
        }
    }
    let columns = match one_measure {
        true => methods.len(),
        false => report.measures.len(),
    };
    let names = header.len() - columns;
    table(style, header, names, lines)
}

/// The paper's line and ours.
fn both(names: &[Option<&str>], row: &[Option<&Number>], seeds: usize) -> [Vec<String>; 2] {
    let names = || names.iter().flatten();
    let first = names().map(|name| (*name).to_owned());
    let paper = row
        .iter()
        .map(|n| n.map_or("-".to_owned(), |n| n.paper.clone()));
    let below = names().map(|_| String::new());
    let ours = row
        .iter()
        .map(|n| n.map_or("-".to_owned(), |n| ours(n, seeds)));
    [
        first.chain(["paper".to_owned()]).chain(paper).collect(),
        below.chain(["ours".to_owned()]).chain(ours).collect(),
    ]
}

/// Our number, with how many of the seeds have it where not all do: a run can be incomplete, or never reach
/// a target.
fn ours(number: &Number, seeds: usize) -> String {
    let Some(spread) = number.ours else {
        return "-".to_owned();
    };
    let write = |x, signed| number.unit.write(x, signed);
    let spreads = matches!(number.unit, Unit::Percent | Unit::Points | Unit::Number);
    let std = spread.std.filter(|std| spreads || *std > 0.0);
    let std = std.map_or_else(String::new, |std| format!(" ± {}", write(std, false)));
    let of = match spread.runs == seeds {
        true => String::new(),
        false => format!(" ({} of {seeds})", spread.runs),
    };
    let signed = number.unit == Unit::Points;
    format!("{}{std}{of}", write(spread.mean, signed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Spread;

    #[test]
    fn numbers_read_as_in_papers() {
        let number = |unit, values: &[f64], runs| Number {
            setting: 0,
            method: 0,
            measure: 0,
            paper: String::new(),
            ours: Spread::of(values.iter().copied()),
            runs,
            unit,
        };
        let text = |unit, values: &[f64]| ours(&number(unit, values, values.len()), values.len());
        assert_eq!(text(Unit::Percent, &[1.0, 2.0]), "1.50 ± 0.71");
        assert_eq!(text(Unit::Points, &[1.0]), "+1.00");
        assert_eq!(text(Unit::Points, &[-1.0, -1.0]), "-1.00 ± 0.00");
        assert_eq!(text(Unit::Rounds, &[10.0, 10.0]), "10");
        assert_eq!(text(Unit::Rounds, &[10.0, 12.0]), "11 ± 1");
        assert_eq!(text(Unit::Count, &[28_411_249_720.0]), "2.84e10");
        assert_eq!(text(Unit::Count, &[0.0]), "0");
        assert_eq!(text(Unit::Percent, &[]), "-");
        assert_eq!(ours(&number(Unit::Rounds, &[9.0], 3), 3), "9 (1 of 3)");
        // Two of the three runs have not ended.
        assert_eq!(ours(&number(Unit::Rounds, &[9.0], 1), 3), "9 (1 of 3)");
    }
}
