//! The claims of a table for people.

use comfy_table::Table;
use fedround_metrics::paired::CorrectedDifference;

use super::claims::Found;
use super::report::Report;
use crate::compare::probability;
use crate::table::table;

/// A table of the claims, and what its numbers are; nothing where there are none.
pub(super) fn claims(report: &Report, style: &str) -> Option<(Table, String)> {
    let claims = &report.claims;
    if claims.is_empty() {
        return None;
    }
    let settings = report.settings.len() > 1;
    let measures = claims
        .iter()
        .any(|claim| claim.measure != claims[0].measure);
    let row = |claim: &Found| {
        let sign = if claim.less { "<" } else { ">" };
        let [ours, theirs] = [claim.method, claim.than].map(|i| &report.methods[i]);
        // A measure's unit is that of the table above.
        let measure = report.measures[claim.measure].split(',').next();
        let of = |cell: &dyn Fn(&CorrectedDifference) -> String| {
            claim.difference.as_ref().map_or("-".to_owned(), cell)
        };
        let write = |x: f64| claim.unit.write(x, true);
        let mut cells = vec![];
        cells.extend(settings.then(|| report.settings[claim.setting].clone()));
        let star = if claim.headline { " *" } else { "" };
        cells.push(format!("{ours} {sign} {theirs}{star}"));
        cells.extend(measures.then(|| measure.unwrap_or_default().to_owned()));
        cells.extend([
            of(&|d| write(d.difference.mean)),
            of(&|d| format!("{} to {}", write(d.low_holm), write(d.high_holm))),
            of(&|d| probability(d.p_holm)),
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
    let about = format!(
        "Claims: mean differences of runs with the same seed, which have the same clients, initial weights and batches; Student's intervals and p, corrected by Holm's method {}, whichever of them are run. The interval alone decides: on the claim's side of zero it is shown, on the other side contradicted.",
        families(report.family)
    );
    Some((table(style, header, names, claims.iter().map(row)), about))
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
    use super::*;

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
