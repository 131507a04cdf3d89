//! The subcommand `fedround federation status`: the nodes and runs of a SuperLink.

use comfy_table::Table;
use fedround_flower::{Control, Node, RunInfo};
use serde::Serialize;

use super::args::StatusArgs;
use super::error::FederationError;
use crate::error::CliError;
use crate::files::json;
use crate::table::{BORDERS, table};
use crate::terminal::print;

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

/// Runs the subcommand.
pub(crate) fn status(args: &StatusArgs) -> Result<(), CliError> {
    let control = Control::new(&args.link.open()?);
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
        let name = row.name.clone().unwrap_or_default();
        [row.party.to_string(), row.status.clone(), name]
    });
    let parties: Table = table(BORDERS, ["party", "status", "name"].iter(), 0, parties);
    let runs = status.runs.iter().map(|row| {
        let (status, outcome) = (row.status.clone(), row.outcome.clone());
        let (details, since) = (row.details.clone(), row.since.clone());
        [row.run.to_string(), status, outcome, since, details]
    });
    let header = ["run", "status", "outcome", "since", "details"];
    let runs: Table = table(BORDERS, header.iter(), 0, runs);
    format!("{parties}\n\n{runs}\n")
}
