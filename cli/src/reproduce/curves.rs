//! Files that show whether runs have reached a plateau: those of a comparison, and a plot for each setting.

use std::path::Path;

use super::plan::Plan;
use crate::compare::{
    COMPARISON, Cell, Comparison, Quantity, Record, draw_curves, mean_curve, runs_of, write_curves,
};
use crate::error::CliError;
use crate::files::{json, write_text};
use crate::run::slug;

/// Writes `comparison.json`, of which `fedround report` makes a page, `curves.csv`, and the accuracy over rounds of the
/// methods of each setting.
pub(super) fn write(
    plan: &Plan,
    cells: &[Cell],
    records: &[Option<Record>],
    dir: &Path,
) -> Result<(), CliError> {
    let entrants = plan.entrants.iter();
    let entrants: Vec<_> = entrants
        .map(|entrant| (plan.title(entrant), &entrant.settings))
        .collect();
    let found = Comparison::of_entrants(&entrants, &plan.seeds, cells, records, dir);
    if let Some(comparison) = found {
        write_text(&dir.join(COMPARISON), &json(&comparison)?)?;
    }
    write_curves(dir, cells, records)?;
    let of = Quantity::Accuracy;
    for (i, setting) in plan.table.setting.iter().enumerate() {
        let own = plan.entrants.iter().enumerate();
        let own = own.filter(|(_, entrant)| entrant.setting == i);
        let own: Vec<_> = own.collect();
        let runs = own.iter().flat_map(|(i, _)| runs_of(*i, cells, records));
        let label = of.label(runs.flatten().map(|run| run.accuracy_of));
        let curves: Vec<_> = own
            .into_iter()
            .map(|(number, entrant)| {
                let method = &plan.table.common.method[entrant.method];
                let runs = runs_of(number, cells, records);
                (method.name.as_str(), mean_curve(&runs, of))
            })
            .collect();
        let name = match plan.table.setting.len() {
            1 => "accuracy.svg".to_owned(),
            _ => format!("accuracy-{}.svg", slug(&setting.name)),
        };
        if curves.iter().any(|(_, points)| !points.is_empty()) {
            draw_curves(&dir.join(name), &curves, None, label)?;
        }
    }
    Ok(())
}
