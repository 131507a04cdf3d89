//! Every table fits a terminal of 80 columns.

use fedround_metrics::paired::{PairedDifference, corrected_in};

use super::{arguments, tables};
use crate::catalog::Catalog;
use crate::compare::Spread;
use crate::reproduce::plan::Plan;
use crate::reproduce::print;
use crate::reproduce::report::Report;
use crate::reproduce::tables::Paper;
use crate::terminal::table::is_narrow;

/// Numbers as long as they come: a spread of some of the seeds, and claims with intervals.
fn with_long_numbers(mut report: Report) -> Report {
    report.seeds = vec![1, 2, 3];
    for number in &mut report.numbers {
        number.ours = Spread::of([0.0, 100.0]);
        number.runs = 2;
    }
    for claim in &mut report.claims {
        claim.difference =
            corrected_in(&[PairedDifference::of(&[(100.0, 0.0), (0.0, 99.0)])], 1)[0];
    }
    report
}

/// Every table with numbers in all of its cells, and without any.
#[test]
fn every_table_fits_a_terminal() {
    let catalog = Catalog::default();
    for (paper, table) in tables() {
        let args = arguments("paper table --scale full --seeds 1");
        let found = Paper::find(paper.name).unwrap();
        let plan = Plan::new(&catalog, found, &table.name, &args).unwrap();
        let (cells, out) = (plan.cells(), std::path::Path::new("out"));
        let records = vec![None; cells.len()];
        let report = || Report::new(&catalog, &plan, &cells, &records, out).unwrap();
        for report in [report(), with_long_numbers(report())] {
            let text = print::text(&report);
            let wide: Vec<&str> = text.lines().filter(|line| !is_narrow(line)).collect();
            assert!(wide.is_empty(), "{} {}: {text}", paper.name, table.name);
            let rows = |line: &&str| line.starts_with('|');
            let markdown = print::markdown(&report);
            let columns = |line: &str| line.matches('|').count();
            // A table's rows have the columns of its header, and a line of dashes follows the header.
            for block in markdown
                .split("\n\n")
                .filter(|block| block.starts_with('|'))
            {
                let rows: Vec<&str> = block.lines().filter(rows).collect();
                assert!(rows[1].starts_with("|--"), "{block}");
                let same = rows.iter().all(|row| columns(row) == columns(rows[0]));
                assert!(same && rows.len() > 2, "{block}");
            }
            for number in &report.numbers {
                assert!(markdown.contains(&number.paper), "{markdown}");
            }
        }
    }
}
