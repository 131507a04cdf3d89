//! The paper's numbers and ours, in as many tables as it takes to fit a terminal.

use comfy_table::Table;

use super::columns::Unit;
use super::layout::{first_narrow, titled};
use super::report::{Number, Report};
use crate::terminal::table::table;

/// How the numbers are laid out.
#[derive(Clone, Copy)]
enum Layout {
    /// One table. Methods are beside each other if there is one measure, or else measures are; the paper's
    /// number stands above ours.
    Whole,
    /// The same with a table for each setting.
    PerSetting,
    /// A table for each setting, with one row for each number: the paper's number stands beside ours.
    Rows,
}

/// The tables of the numbers, in the first layout that fits a terminal.
pub(super) fn numbers(report: &Report, style: &str) -> Vec<String> {
    let layouts = [Layout::Whole, Layout::PerSetting, Layout::Rows];
    first_narrow(layouts, style, |layout, style| {
        laid_out(report, layout, style)
    })
}

fn laid_out(report: &Report, layout: Layout, style: &str) -> Vec<String> {
    let all: Vec<usize> = (0..report.settings.len()).collect();
    let several = all.len() > 1;
    if let Layout::Whole = layout {
        let table = beside(report, &all, several, style);
        return vec![table.to_string()];
    }
    let of_setting = |&i: &usize| {
        let setting = several.then(|| report.settings[i].clone());
        if let Layout::PerSetting = layout {
            let table = beside(report, &[i], false, style);
            return Some(titled(style, setting, &table));
        }
        let measure = one_measure(report).map(str::to_owned);
        let title: Vec<String> = setting.into_iter().chain(measure).collect();
        let title = (!title.is_empty()).then(|| title.join(": "));
        Some(titled(style, title, &rows(report, i, style)?))
    };
    all.iter().filter_map(of_setting).collect()
}

/// The measure, if there is only one.
fn one_measure(report: &Report) -> Option<&str> {
    match &*report.measures {
        [measure] => Some(measure),
        _ => None,
    }
}

/// The methods that have numbers: not the one that all numbers are differences from.
fn methods(report: &Report) -> Vec<usize> {
    let shown = |j: &usize| report.numbers.iter().any(|n| n.method == *j);
    (0..report.methods.len()).filter(shown).collect()
}

/// One table of some settings, with their names if `named`.
fn beside(report: &Report, settings: &[usize], named: bool, style: &str) -> Table {
    let seeds = report.seeds.len();
    let one_measure = one_measure(report);
    let methods = methods(report);
    let mut header: Vec<&str> = vec![];
    header.extend(named.then_some("setting"));
    if let Some(measure) = one_measure {
        header.push(measure);
        header.extend(methods.iter().map(|&j| report.methods[j].as_str()));
    } else {
        header.extend(["method", ""]);
        header.extend(report.measures.iter().map(String::as_str));
    }
    let mut lines: Vec<Vec<String>> = vec![];
    for &i in settings {
        let setting = named.then(|| report.settings[i].as_str());
        if one_measure.is_some() {
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
        Some(_) => methods.len(),
        None => report.measures.len(),
    };
    let names = header.len() - columns;
    table(style, header, names, lines)
}

/// A row for each number of a setting that the paper has or we have; nothing if there is none.
fn rows(report: &Report, setting: usize, style: &str) -> Option<Table> {
    let seeds = report.seeds.len();
    let several = one_measure(report).is_none();
    let mut lines: Vec<Vec<String>> = vec![];
    for j in methods(report) {
        let mut name = report.methods[j].as_str();
        for (k, measure) in report.measures.iter().enumerate() {
            let Some(number) = report.at(setting, j, k) else {
                continue;
            };
            let pair = [number.paper.clone(), ours(number, seeds)];
            if pair.iter().all(|number| number == "-") {
                continue;
            }
            let measure = several.then(|| measure.clone());
            lines.push(
                std::iter::once(std::mem::take(&mut name).to_owned())
                    .chain(measure)
                    .chain(pair)
                    .collect(),
            );
        }
    }
    let mut header = vec!["method"];
    header.extend(several.then_some("measure"));
    let names = header.len();
    header.extend(["paper", "ours"]);
    (!lines.is_empty()).then(|| table(style, header, names, lines))
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
