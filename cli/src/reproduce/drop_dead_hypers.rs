//! A table lists hyper-parameters for all of its methods. Those that change nothing in a run are removed from it,
//! because a command with them would be refused.

use std::collections::BTreeMap;

use fedround_dsl::Objective;

use crate::catalog::Catalog;
use crate::compare::Cell;
use crate::error::CliError;

/// The runs without hyper-parameters that change nothing.
pub(super) fn without_dead(catalog: &Catalog, mut cells: Vec<Cell>) -> Result<Vec<Cell>, CliError> {
    let mut objectives: BTreeMap<String, Objective> = BTreeMap::new();
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for cell in &mut cells {
        let settings = &mut cell.settings;
        // It is the model's, of which a table has few.
        let objective = match objectives.get(&settings.model) {
            Some(objective) => objective.clone(),
            None => {
                let objective = catalog.objective(settings)?;
                objectives.insert(settings.model.clone(), objective.clone());
                objective
            }
        };
        // Seeds and scales of one method mostly have the same settings.
        let key = format!(
            "{} of {}: {:?}",
            settings.spec, settings.model, settings.hypers
        );
        let unused = match known.get(&key) {
            Some(unused) => unused,
            None => {
                let unused = catalog.refused(&settings.spec, &settings.hypers, &objective)?;
                &*known.entry(key).or_insert(unused)
            }
        };
        settings
            .hypers
            .retain(|hyper| !unused.contains(&hyper.name));
    }
    Ok(cells)
}
