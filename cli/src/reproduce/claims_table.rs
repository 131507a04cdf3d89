//! The claims of a table for people.

use std::collections::BTreeSet;

use comfy_table::Table;
use fedround_metrics::paired::CorrectedDifference;

use super::claims::Found;
use super::columns::Unit;
use super::layout::{first_narrow, titled};
use super::report::Report;
use crate::compare::probability;
use crate::terminal::table::table;

/// How the claims are laid out: with a table of its own for each setting, and for each measure, or not.
type Split = [bool; 2];

/// The tables of the claims, in the first layout that fits a terminal.
pub(super) fn claims(report: &Report, style: &str) -> Vec<String> {
    let layouts: [Split; 3] = [[false, false], [true, false], [true, true]];
    first_narrow(layouts, style, |split, style| {
        split_by(report, split, style)
    })
}

fn split_by(report: &Report, split: Split, style: &str) -> Vec<String> {
    let claims = &report.claims;
    let measures: BTreeSet<usize> = claims.iter().map(|claim| claim.measure).collect();
    // Whether there are several settings or measures to tell apart.
    let several = [report.settings.len() > 1, measures.len() > 1];
    let own = |claim: &Found| {
        let place = [claim.setting, claim.measure];
        [0, 1].map(|i| (split[i] && several[i]).then_some(place[i]))
    };
    let groups: BTreeSet<_> = claims.iter().map(own).collect();
    let of_group = |group: &[Option<usize>; 2]| {
        let setting = group[0].map(|i| report.settings[i].as_str());
        let measure = group[1].map(|i| measure_name(report, i));
        let names: Vec<&str> = setting.into_iter().chain(measure).collect();
        let title = (!names.is_empty()).then(|| format!("Claims, {}", names.join(": ")));
        let columns = [0, 1].map(|i| several[i] && group[i].is_none());
        let claims = claims.iter().filter(|claim| own(claim) == *group);
        titled(style, title, &table_of(report, claims, columns, style))
    };
    groups.iter().map(of_group).collect()
}

/// A measure without its unit, which is that of the table above.
fn measure_name(report: &Report, measure: usize) -> &str {
    let name = report.measures[measure].split(',').next();
    name.unwrap_or_default()
}

/// A table of some claims, with the columns of settings and of measures if it is `[with_settings, with_measures]`.
fn table_of<'c>(
    report: &Report,
    claims: impl Iterator<Item = &'c Found>,
    [settings, measures]: [bool; 2],
    style: &str,
) -> Table {
    let row = |claim: &Found| {
        let sign = if claim.less { "<" } else { ">" };
        let [ours, theirs] = [claim.method, claim.than].map(|i| &report.methods[i]);
        let of = |cell: &dyn Fn(&CorrectedDifference) -> String| {
            claim.difference.as_ref().map_or("-".to_owned(), cell)
        };
        let write = |x: f64| claim.unit.write(x, true);
        let mut cells = vec![];
        cells.extend(settings.then(|| report.settings[claim.setting].clone()));
        let star = if claim.headline { " *" } else { "" };
        cells.push(format!("{ours} {sign} {theirs}{star}"));
        cells.extend(measures.then(|| measure_name(report, claim.measure).to_owned()));
        cells.extend([
            of(&|d| difference(d, claim.unit, report.seeds.len())),
            of(&|d| format!("{} to {}", write(d.low_holm), write(d.high_holm))),
            of(&|d| d.p_holm.map_or("-".to_owned(), probability)),
            claim.verdict.name().to_owned(),
        ]);
        cells
    };
    let mut header = vec![];
    header.extend(settings.then_some("setting"));
    header.push("claim");
    header.extend(measures.then_some("in"));
    let names = header.len();
    header.extend(["difference", "95 % interval", "p", "verdict"]);
    table(style, header, names, claims.map(row))
}

/// A mean difference, and of how many seeds it is where some have none.
fn difference(found: &CorrectedDifference, unit: Unit, seeds: usize) -> String {
    let (mean, pairs) = (found.difference.mean, found.difference.pairs);
    let mean = unit.write(mean, true);
    match pairs < seeds {
        true => format!("{mean} ({pairs} of {seeds})"),
        false => mean,
    }
}

/// What the numbers of claims are; nothing if there are no claims.
pub(super) fn about_claims(report: &Report) -> Option<String> {
    (!report.claims.is_empty()).then(|| format!(
        "Claims: mean differences of runs with the same seed, which have the same clients, initial weights and batches; Student's intervals and p, corrected by Holm's method {}, whichever of them are run. The interval alone decides: on the claim's side of zero it is shown, on the other side contradicted.{}{}",
        families(report.family),
        without_spread(report),
        of_fewer_seeds(report),
    ))
}

/// What is said where all pairs of a claim differ by the same amount.
fn without_spread(report: &Report) -> &'static str {
    let same = |claim: &Found| claim.difference.is_some_and(|d| d.p_holm.is_none());
    match report.claims.iter().any(same) {
        true => {
            " Claims without p differ by the same amount in all pairs: of rounds and of what is sent, that amount decides; of other measures nothing is said."
        }
        false => "",
    }
}

/// What is said where some seeds are in no pair of a claim.
fn of_fewer_seeds(report: &Report) -> &'static str {
    let seeds = report.seeds.len();
    let fewer = |claim: &Found| claim.difference.is_some_and(|d| d.difference.pairs < seeds);
    match report.claims.iter().any(fewer) {
        true => {
            " A difference with (m of n) is of the m seeds with which both methods have the number: a run that is not complete, or never reaches the accuracy that is to be reached, has none."
        }
        false => "",
    }
}

/// What the claims are corrected for.
fn families([headline, others]: [usize; 2]) -> String {
    let claims = |n: usize, kind: &str| match n {
        1 => format!("one {kind}claim"),
        n => format!("{n} {kind}claims"),
    };
    match (headline, others) {
        (0, n) | (n, 0) => format!("for the {} of the table at this scale", claims(n, "")),
        (headline, others) => format!(
            "for the {} of the table at this scale (*), and apart from these for its {}",
            claims(headline, "headline "),
            claims(others, "other "),
        ),
    }
}

#[cfg(test)]
mod tests {
    use fedround_metrics::paired::{PairedDifference, corrected};

    use super::*;

    #[test]
    fn a_difference_of_fewer_seeds_says_of_how_many() {
        let pairs = [(3.0, 1.0), (4.0, 1.0)];
        let found = corrected(&[PairedDifference::of(&pairs)])[0].unwrap();
        assert_eq!(difference(&found, Unit::Points, 2), "+2.50");
        assert_eq!(difference(&found, Unit::Points, 5), "+2.50 (2 of 5)");
    }

    #[test]
    fn both_families_are_told() {
        assert_eq!(
            families([0, 3]),
            "for the 3 claims of the table at this scale"
        );
        assert_eq!(
            families([1, 0]),
            "for the one claim of the table at this scale"
        );
        assert_eq!(
            families([2, 1]),
            "for the 2 headline claims of the table at this scale (*), and apart from these for its one other claim"
        );
    }
}
