//! `--select`: every method with several values of its hyper-parameters, of which the table has the ones that do best on
//! validation examples.

use super::plan::{Entrant, Plan};
use crate::catalog::Catalog;
use crate::compare::{
    self, Cell, Record, Search, Strategy, candidates, check_conflicts, choose, runs_of,
};
use crate::error::CliError;
use crate::settings::Settings;

impl Plan {
    /// Has every method in every setting run with each combination of the values.
    pub fn try_values(&mut self, catalog: &Catalog, searches: &[String]) -> Result<(), CliError> {
        let searches = searches.iter().map(|text| Search::parse(text));
        let searches: Vec<Search> = searches.collect::<Result<_, _>>()?;
        if searches.is_empty() {
            return Ok(());
        }
        let (compared, flagged) = (self.compared(), ("--select", searches.as_slice()));
        check_conflicts(catalog, &compared, &[], flagged)?;
        let entrants = candidates(catalog, compared, flagged, Strategy::All)?;
        let mut tried = vec![];
        for found in entrants {
            catalog.algorithm(&found.spec, &found.hypers)?;
            let base = self.entrants.iter();
            let base = base.filter(|base| self.name(base) == found.candidate_of);
            tried.extend(base.map(|base| Entrant {
                settings: Settings {
                    hypers: found.hypers.clone(),
                    ..base.settings.clone()
                },
                full: base.full.clone(),
                candidate: Some(found.name.clone()),
                ..*base
            }));
        }
        self.entrants = tried;
        Ok(())
    }

    /// Leaves one candidate of every method in every setting: the best on validation examples. Cells and records are
    /// of the plan as it was, and then of what is left.
    pub fn choose(&mut self, cells: &mut Vec<Cell>, records: &mut Vec<Option<Record>>) {
        if self
            .entrants
            .iter()
            .all(|entrant| entrant.candidate.is_none())
        {
            return;
        }
        let chosen = choose(&self.compared(), |i| runs_of(i, cells, records));
        let place = |entrant: usize| chosen.iter().position(|&left| left == entrant);
        let pairs = cells.drain(..).zip(records.drain(..));
        let left: Vec<(Cell, Option<Record>)> = pairs
            .filter_map(|(cell, record)| {
                let entrant = place(cell.entrant)?;
                Some((Cell { entrant, ..cell }, record))
            })
            .collect();
        (*cells, *records) = left.into_iter().unzip();
        let mut number = 0..;
        self.entrants
            .retain(|_| number.next().is_some_and(|i| chosen.contains(&i)));
    }

    /// The entrants as those of a comparison; candidates of one method in one setting are of one name.
    fn compared(&self) -> Vec<compare::Entrant> {
        let of = |entrant: &Entrant| compare::Entrant {
            name: self.title(entrant),
            candidate_of: self.name(entrant),
            // In all settings of the table.
            prefix: self.table.common.method[entrant.method].name.clone(),
            spec: entrant.settings.spec.clone(),
            hypers: entrant.settings.hypers.clone(),
        };
        self.entrants.iter().map(of).collect()
    }
}
