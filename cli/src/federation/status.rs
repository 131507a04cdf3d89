//! The subcommand `fedround federation status`: the nodes and runs of a SuperLink.

use comfy_table::Table;
use fedround_flower::{Control, Node, RunInfo};
use serde::Serialize;

use super::args::StatusArgs;
use super::error::FederationError;
use super::escape::escaped;
use crate::error::CliError;
use crate::files::json;
use crate::terminal::print;
use crate::terminal::table::{BORDERS, table};

/// Runs that are listed.
const RUNS: u64 = 10;

/// What `--json` prints.
#[derive(Serialize)]
struct Status {
    parties: Vec<PartyRow>,
    runs: Vec<RunRow>,
}

#[derive(Serialize)]
struct PartyRow {
    party: u64,
    status: String,
    name: Option<String>,
}

#[derive(Serialize)]
struct RunRow {
    run: u64,
    status: String,
    outcome: String,
    details: String,
    since: String,
}

pub(crate) fn status(args: &StatusArgs) -> Result<(), CliError> {
    let control = Control::new(&args.link.open_now()?);
    let nodes = control.nodes().map_err(FederationError::from)?;
    let runs = control.runs(RUNS).map_err(FederationError::from)?;
    let status = Status {
        parties: nodes.into_iter().map(party).collect(),
        runs: runs.into_iter().map(run).collect(),
    };
    match args.json {
        true => print(&json(&status)?),
        false => print(&text(&status)),
    }
}

fn party(node: Node) -> PartyRow {
    PartyRow {
        party: node.id.0,
        status: node.status,
        name: node.name,
    }
}

fn run(run: RunInfo) -> RunRow {
    RunRow {
        run: run.id.0,
        status: run.status,
        outcome: run.sub_status,
        details: run.details,
        since: run.pending_at,
    }
}

fn text(status: &Status) -> String {
    let parties = status.parties.iter().map(|row| {
        let name = escaped(row.name.as_deref().unwrap_or_default());
        [row.party.to_string(), row.status.clone(), name]
    });
    let parties: Table = table(BORDERS, ["party", "status", "name"].iter(), 0, parties);
    let runs = status.runs.iter().map(|row| {
        let (status, outcome) = (row.status.clone(), row.outcome.clone());
        let (details, since) = (escaped(&row.details), short(&row.since));
        [row.run.to_string(), status, outcome, since, details]
    });
    let header = ["run", "status", "outcome", "since", "details"];
    let runs: Table = table(BORDERS, header.iter(), 0, runs);
    format!("{parties}\n\n{runs}\n")
}

/// A time without fractions of a second, in which a line can break. A text that is no time stays as it is.
fn short(since: &str) -> String {
    match (since.get(..10), since.get(10..11), since.get(11..19)) {
        (Some(day), Some("T"), Some(time)) if since.ends_with("+00:00") => {
            format!("{day} {time} UTC")
        }
        _ => since.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_fit_a_terminal() {
        let status = Status {
            parties: vec![PartyRow {
                party: u64::MAX,
                status: "unregistered".to_owned(),
                name: Some("the hospital of the second district, in the cellar".to_owned()),
            }],
            runs: vec![RunRow {
                run: u64::MAX,
                status: "finished".to_owned(),
                outcome: "completed".to_owned(),
                details: "Run stopped by user: a party of the federation asked for it".to_owned(),
                since: "2026-11-25T03:49:59.123456+00:00".to_owned(),
            }],
        };
        let text = text(&status);
        let wide: Vec<&str> = text.lines().filter(|l| l.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{wide:#?}");
        assert!(text.contains("18446744073709551615"), "{text}");
    }

    #[test]
    fn times_are_short() {
        let time = short("2026-11-25T03:49:59.123456+00:00");
        assert_eq!(time, "2026-11-25 03:49:59 UTC");
        assert_eq!(short("now"), "now");
    }
}
